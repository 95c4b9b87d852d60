"""Checks an answer while it is being written, and releases its text as it is checked."""

from franq_guard.streaming.asynchronous import AsyncClaimStream
from franq_guard.streaming.release import FactualityError, OnClaim, OnReport, Release, Released
from franq_guard.streaming.stream import ClaimStream

__all__ = [
    "AsyncClaimStream",
    "ClaimStream",
    "FactualityError",
    "OnClaim",
    "OnReport",
    "Release",
    "Released",
]
