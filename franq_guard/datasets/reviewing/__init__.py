"""Review of claims by people: ``order`` of the claims, ``votes`` on them, ``table`` as CSV."""

from franq_guard.datasets.reviewing.votes import Card, Review

__all__ = ["Card", "Review"]
