"""People check claims: ``order``: which first; ``votes``: what they say; ``table``: as CSV."""

from franq_guard.datasets.reviewing.votes import Card, Review

__all__ = ["Card", "Review"]
