"""The page on which people check claims: ``app`` answers, ``page.html`` shows."""

from franq_guard.serve.review.app import review_app

__all__ = ["review_app"]
