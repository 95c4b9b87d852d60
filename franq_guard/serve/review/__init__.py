"""The web page on which people check claims: ``app`` is the server, ``page.html`` the page."""

from franq_guard.serve.review.app import review_app

__all__ = ["review_app"]
