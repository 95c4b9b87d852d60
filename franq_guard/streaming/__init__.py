"""Claims of an answer that is still being written, and how a checked answer leaves."""

from franq_guard.streaming.release import FactualityError, OnClaim, OnReport, Release, Released
from franq_guard.streaming.stream import ClaimStream

__all__ = ["ClaimStream", "FactualityError", "OnClaim", "OnReport", "Release", "Released"]
