"""Serves the review of a claim set to browsers on this machine."""

from __future__ import annotations

import hmac
from importlib.resources import files
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from franq_guard.datasets.claim_set import Factuality, Faithfulness
from franq_guard.datasets.reviewing import Card, Review

_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",  # the address contains the token
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
}


class Vote(BaseModel):
    """A person's vote on a claim, as the page sends it."""

    answer: str = Field(min_length=1, max_length=500)
    claim: int = Field(ge=0)
    faithfulness: Faithfulness | None = None
    factuality: Factuality | None = None


def review_app(review: Review, token: str) -> FastAPI:
    """Build the application; the address of every request must contain ``token``.

    Args:
        review: the review; votes are written to disk before the reply is sent.
        token: a secret; everyone who knows it can vote.
    """
    app = FastAPI(title="franq dataset review", openapi_url=None)
    app.state.review, app.state.token = review, token
    app.include_router(_routes)
    return app


def _check_token(request: Request, token: Annotated[str, Query()] = "") -> None:
    if not hmac.compare_digest(token.encode(), request.app.state.token.encode()):
        raise HTTPException(401, "open the address that `franq dataset review` printed")


def _reviewer_name(reviewer: Annotated[str, Query(max_length=100)] = "") -> str:
    if not reviewer.strip():
        raise HTTPException(422, "a reviewer needs a name: the parameter `reviewer` is empty")
    return reviewer


def _review_of(request: Request) -> Review:
    return cast("Review", request.app.state.review)


Reviewer = Annotated[str, Depends(_reviewer_name)]
Reviewed = Annotated[Review, Depends(_review_of)]
_routes = APIRouter(dependencies=[Depends(_check_token)])


@_routes.get("/")
def page() -> HTMLResponse:
    """The page itself."""
    text = (files("franq_guard.serve.review") / "page.html").read_text(encoding="utf-8")
    return HTMLResponse(text, headers=_HEADERS)


@_routes.get("/next")
def next_claim(reviewer: Reviewer, review: Reviewed) -> dict[str, Any]:
    """The first claim that the reviewer has not voted on."""
    return _state(review, reviewer, review.next(reviewer))


@_routes.post("/vote")
def vote(reviewer: Reviewer, review: Reviewed, ballot: Vote) -> dict[str, Any]:
    """Store a vote; reply with the judges' labels of the claim, and the next claim."""
    key = (ballot.answer, ballot.claim)
    try:
        review.vote(reviewer, key, faithfulness=ballot.faithfulness, factuality=ballot.factuality)
    except ValueError as error:
        raise HTTPException(422, str(error)) from None
    voted = review.card(reviewer, key).to_dict()
    return {"voted": voted, **_state(review, reviewer, review.next(reviewer))}


@_routes.post("/undo")
def undo(reviewer: Reviewer, review: Reviewed) -> dict[str, Any]:
    """Take the last vote back and show its claim again."""
    key = review.undo(reviewer)
    card = review.next(reviewer) if key is None else review.card(reviewer, key)
    return _state(review, reviewer, card)


def _state(review: Review, reviewer: str, card: Card | None) -> dict[str, Any]:
    card_fields = None if card is None else card.to_dict()
    return {"card": card_fields, "progress": review.progress(reviewer)}
