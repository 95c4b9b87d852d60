"""Kept for one promised name: ``trace_of`` lives in :mod:`franq_guard.rows`."""

from franq_guard.rows import trace_of

__all__ = ["trace_of"]
