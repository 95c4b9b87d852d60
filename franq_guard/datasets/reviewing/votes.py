"""Shows claims to people one by one and stores their votes, which they can withdraw."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from franq_guard.datasets.claim_set import (
    CHOSEN,
    SAMPLED,
    ClaimJudgement,
    ClaimSet,
    Factuality,
    Faithfulness,
)
from franq_guard.datasets.reviewing.order import Key, order
from franq_guard.records import Claim, Passage, Span, Trace

FindEvidence = Callable[[Sequence[Passage], str], Sequence[tuple[int, int, int]]]
"""Function from passages and a claim to relevant ranges: (passage, start, end)."""


@dataclass(frozen=True, slots=True)
class Card:
    """One claim as a person sees it.

    ``spans``: where the answer states it; ``evidence``: (passage, start, end) of stretches that
    bear on it; ``judge``: what judges say, empty where the review is blind and the reviewer has not
    voted.
    """

    answer: str
    claim: int
    question: str
    text: str
    full: str
    spans: tuple[Span, ...]
    claim_text: str
    passages: tuple[Mapping[str, str], ...]
    evidence: tuple[tuple[int, int, int], ...]
    judge: tuple[Mapping[str, Any], ...]
    vote: Mapping[str, Any] | None
    sampled: bool

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready values."""
        return asdict(self)


class Review:
    """The claims of a set in the order that people should see them. Thread-safe.

    Args:
        claims: the set; votes are kept in it, source ``person:NAME``.
        blind: hide a judge's labels until the reviewer has voted on the claim.
        evidence: finds what to mark in the passages; if it fails, nothing is marked.
    """

    def __init__(
        self,
        claims: ClaimSet,
        *,
        blind: bool = True,
        evidence: FindEvidence | None = None,
    ) -> None:
        self._claims, self._blind, self._evidence = claims, blind, evidence
        self._answers = {trace.id or "": trace for trace in claims.answers()}
        said = claims.judgements()
        self._items = order(list(self._answers.values()), said)
        self._sampled = {item.key: item.sampled for item in self._items}
        self._judges: dict[Key, list[ClaimJudgement]] = {}
        self._votes: dict[str, dict[Key, ClaimJudgement]] = {}
        self._lock = threading.Lock()
        for judgement in said:
            self._hear(judgement)

    def next(self, reviewer: str) -> Card | None:
        """The first claim that the reviewer has not voted on; None when all are done."""
        with self._lock:
            done = self._votes.get(_source(reviewer), {})
            key = next((item.key for item in self._items if item.key not in done), None)
        return None if key is None else self.card(reviewer, key)

    def card(self, reviewer: str, key: Key) -> Card:
        """One claim for the reviewer.

        Raises:
            ValueError: if there is no such claim.
        """
        if key not in self._sampled:
            raise ValueError(f"there is no claim {key[1]} in an answer {key[0]!r}")
        trace = self._answers[key[0]]
        claim = (trace.claims or ())[key[1]]
        with self._lock:
            vote = self._votes.get(_source(reviewer), {}).get(key)
            judges = [] if self._blind and vote is None else self._judges.get(key, [])
        return Card(
            answer=key[0],
            claim=key[1],
            question=trace.question,
            text=trace.generation.text,
            full=claim.in_full,
            spans=claim.spans,
            claim_text=claim.text,
            passages=tuple({"title": p.title, "text": p.text} for p in trace.passages),
            evidence=self._marked(trace, claim),
            judge=tuple(judgement.to_dict() for judgement in judges),
            vote=None if vote is None else vote.to_dict(),
            sampled=self._sampled[key],
        )

    def vote(
        self,
        reviewer: str,
        key: Key,
        *,
        faithfulness: Faithfulness | None,
        factuality: Factuality | None,
    ) -> None:
        """Store a vote; it is on disk when this returns, and replaces an earlier one.

        Raises:
            ValueError: for an unknown claim or label, or a vote that says nothing.
        """
        if key not in self._sampled:
            raise ValueError(f"there is no claim {key[1]} in an answer {key[0]!r}")
        version = SAMPLED if self._sampled[key] else CHOSEN
        said = ClaimJudgement(*key, _source(reviewer), faithfulness, factuality, version=version)
        if said.empty:
            raise ValueError("a vote must say something about faithfulness or factuality")
        with self._lock:
            self._claims.add(said)
            self._hear(said)

    def undo(self, reviewer: str) -> Key | None:
        """Withdraw the reviewer's last vote and return its claim; None if there is no vote."""
        with self._lock:
            votes = self._votes.get(_source(reviewer), {})
            if not votes:
                return None
            key = next(reversed(votes))
            self._claims.add(ClaimJudgement(*key, _source(reviewer)))
            del votes[key]
            return key

    def progress(self, reviewer: str) -> dict[str, int]:
        """Numbers of claims: voted on by the reviewer, voted on by anybody, and all."""
        with self._lock:
            mine = self._votes.get(_source(reviewer), {})
            anybody = {key for votes in self._votes.values() for key in votes}
            return {"mine": len(mine), "anybody": len(anybody), "claims": len(self._items)}

    def _hear(self, said: ClaimJudgement) -> None:
        key = (said.answer, said.claim)
        if said.kind == "person":
            votes = self._votes.setdefault(said.source, {})
            votes.pop(key, None)  # the last vote stands last
            votes[key] = said
        elif not said.error:
            self._judges.setdefault(key, []).append(said)

    def _marked(self, trace: Trace, claim: Claim) -> tuple[tuple[int, int, int], ...]:
        if self._evidence is None:
            return ()
        try:
            return tuple(self._evidence(trace.passages, claim.in_full))
        except Exception:  # marks are optional: the claim can be judged without them
            return ()


def _source(reviewer: str) -> str:
    name = " ".join(reviewer.split())
    if not name:
        raise ValueError("no reviewer is given: a reviewer needs a name")
    return f"person:{name}"
