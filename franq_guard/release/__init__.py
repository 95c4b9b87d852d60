"""Kept for the names around ``on_claim=``; they live in :mod:`franq_guard.streaming`."""

from franq_guard.streaming import FactualityError, OnClaim, OnReport, Release, Released

__all__ = ["FactualityError", "OnClaim", "OnReport", "Release", "Released"]
