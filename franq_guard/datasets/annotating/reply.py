"""Parses a judge's reply and rejects it if its quote is not in the passages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

from franq_guard.claims.llm_reply import objects
from franq_guard.datasets.annotating.request import shown_text
from franq_guard.datasets.claim_set import Factuality, Faithfulness
from franq_guard.datasets.refusals import refuses
from franq_guard.records import Passage

_SHORTEST_QUOTE = 2  # words: a single word would be found in nearly every passage


class NotJudgedError(ValueError):
    """The reply cannot be parsed or its quote is wrong; the message says why."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A parsed reply. ``passage`` is the index of the passage that contains ``quote``."""

    faithfulness: Faithfulness | None
    factuality: Factuality
    quote: str | None = None
    passage: int | None = None


def read_judgement(reply: str, passages: Sequence[Passage]) -> Reading:
    """Faithfulness and factuality; "faithful" and "unfaithful-contra" need a quote from a passage.

    Raises:
        NotJudgedError: no JSON, contradictory replies, an unknown label, a quote not in a passage.
    """
    said = _one(reply, "faithfulness")
    faithfulness = cast("Faithfulness", _label(said, "faithfulness", get_args(Faithfulness)))
    factuality = cast("Factuality", _label(said, "factuality", get_args(Factuality)))
    if faithfulness == "unfaithful-neutral":
        return Reading(faithfulness, factuality)
    quote, passage = _quoted(said, passages)
    return Reading(faithfulness, factuality, quote, passage)


def read_search(reply: str, found: Sequence[Passage]) -> Reading:
    """Factuality from the passages a search found; "true" and "false" need a quote from one.

    Raises:
        NotJudgedError: as in :func:`read_judgement`.
    """
    said = _one(reply, "factuality")
    factuality = cast("Factuality", _label(said, "factuality", get_args(Factuality)))
    if factuality == "unverifiable":
        return Reading(None, factuality)
    quote, passage = _quoted(said, found)
    return Reading(None, factuality, quote, passage)


def _one(reply: str, key: str) -> Mapping[str, Any]:
    replies = list(objects(reply, [key]))
    if not replies:
        if refuses(reply):
            raise NotJudgedError("the judge declined to answer")
        raise NotJudgedError(f"no JSON with {key!r} in the reply: {' '.join(reply.split())[:80]!r}")
    if len({str(sorted(map(str, r.items()))) for r in replies}) > 1:
        raise NotJudgedError("the reply holds several different judgements")
    return replies[0]


def _label(said: Mapping[str, Any], key: str, allowed: Sequence[str]) -> str:
    value = re.sub(r"[\s_]+", "-", str(said.get(key, "")).strip().lower())
    if value not in allowed:
        raise NotJudgedError(f"{key} is {said.get(key)!r}, not one of {', '.join(allowed)}")
    return value


def _quoted(said: Mapping[str, Any], passages: Sequence[Passage]) -> tuple[str, int]:
    """The quote, and the index of the passage that contains it (white space may differ)."""
    quote = str(said.get("quote") or "").strip().strip("\"'\u201c\u201d\u2018\u2019").strip()
    words = quote.split()
    if len(words) < _SHORTEST_QUOTE:
        raise NotJudgedError(f"a quote of {_SHORTEST_QUOTE} words or more is needed: {quote!r}")
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    for index, passage in enumerate(passages):
        if found := pattern.search(shown_text(passage)):
            return found[0], index
    raise NotJudgedError(f"the quote stands in no passage: {quote[:80]!r}")
