"""Splits an answer into claims, finds their words and tokens, and removes claims from a text."""

from franq_guard.claims.alignment import ALIGNED, Alignment, align
from franq_guard.claims.base import ClaimSplitter
from franq_guard.claims.llm import FallbackReport, LLMSplitter
from franq_guard.claims.removal import remove_claims
from franq_guard.claims.repeats import first_statements
from franq_guard.claims.rules.splitter import RuleSplitter
from franq_guard.claims.spans import token_indices

__all__ = [
    "ALIGNED",
    "Alignment",
    "ClaimSplitter",
    "FallbackReport",
    "LLMSplitter",
    "RuleSplitter",
    "align",
    "first_statements",
    "remove_claims",
    "token_indices",
]
