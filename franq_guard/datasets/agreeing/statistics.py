"""Counts the contents of a claim set, as in the data set tables of arXiv 2505.21072."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from franq_guard.datasets.agreeing.agreement import ANSWERS, Question, votes
from franq_guard.datasets.claim_set import ClaimSet


@dataclass(frozen=True, slots=True)
class Counted:
    """Questions, answers and claims of a set, and how often each label was given.

    ``labels``: for faithfulness and for factuality, the number of claims with each label; of
    several sources the majority counts. ``not_judged``: claims whose only judgement is an error.
    """

    questions: int
    answers: int
    claims: int
    labels: Mapping[Question, Mapping[str, int]]
    not_judged: int

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready values."""
        return asdict(self)


def counted(claims: ClaimSet, sources: Sequence[str]) -> Counted:
    """The counts of a set, using the labels of ``sources`` (or kinds such as ``person``)."""
    answers, said = claims.answers(), claims.judgements()
    failed = {(s.answer, s.claim) for s in said if s.error}
    judged = {(s.answer, s.claim) for s in said if not s.error}
    return Counted(
        questions=len({trace.question for trace in answers}),
        answers=len(answers),
        claims=sum(c.not_a_claim is None for t in answers for c in t.claims or ()),
        labels={q: _shares(votes(said, sources, q).values(), ANSWERS[q]) for q in ANSWERS},
        not_judged=len(failed - judged),
    )


def _shares(given: Any, labels: Sequence[str]) -> dict[str, int]:
    count = Counter(given)
    return {label: count[label] for label in labels}
