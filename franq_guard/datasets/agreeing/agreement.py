"""How well two sources of labels agree: accuracy, Cohen's kappa, confusion matrix."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from franq_guard.datasets.claim_set import ClaimJudgement, Factuality, Faithfulness

Question = Literal["faithfulness", "factuality"]
"""The question about a claim that a label answers."""

ANSWERS: Mapping[Question, tuple[str, ...]] = {
    "faithfulness": get_args(Faithfulness),
    "factuality": get_args(Factuality),
}
Votes = Mapping[tuple[str, int], str]
"""The label of each claim; the key is the answer's id and the claim's index."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two sources compared on the ``n`` claims that both labelled.

    ``confusion[i][j]``: claims that the reference gave ``labels[i]`` and the other ``labels[j]``.
    ``accuracy`` and ``kappa`` are NaN without claims. ``kappa`` is also NaN if both gave the same
    single label to all claims, because agreement beyond chance is then undefined.
    """

    question: Question
    labels: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]

    @property
    def n(self) -> int:
        """Claims that both labelled."""
        return sum(map(sum, self.confusion))

    @property
    def accuracy(self) -> float:
        """Share of the claims with the same label."""
        same = sum(self.confusion[i][i] for i in range(len(self.labels)))
        return same / self.n if self.n else math.nan

    @property
    def kappa(self) -> float:
        """Cohen's kappa (1960): (p - c) / (1 - c), c the agreement expected by chance."""
        if not self.n:
            return math.nan
        rows = [sum(row) for row in self.confusion]
        columns = [sum(column) for column in zip(*self.confusion, strict=True)]
        chance = sum(a * b for a, b in zip(rows, columns, strict=True)) / self.n**2
        return (self.accuracy - chance) / (1 - chance) if chance < 1 else math.nan

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready values; what is not a number is null."""
        numbers = {"accuracy": self.accuracy, "kappa": self.kappa}
        return {
            "question": self.question,
            "n": self.n,
            **{k: None if math.isnan(v) else v for k, v in numbers.items()},
            "labels": list(self.labels),
            "confusion": [list(row) for row in self.confusion],
        }


def votes(
    judgements: Iterable[ClaimJudgement], sources: Sequence[str], question: Question
) -> dict[tuple[str, int], str]:
    """The majority label of every claim among ``sources``; ties are left out.

    Args:
        judgements: of a claim set.
        sources: kinds (``person``) or whole sources (``judge:NAME``).
        question: which label: faithfulness or factuality.
    """
    votes: dict[tuple[str, int], Counter[str]] = {}
    for said in judgements:
        label = getattr(said, question)
        if label is not None and (said.source in sources or said.kind in sources):
            votes.setdefault((said.answer, said.claim), Counter())[label] += 1
    return {claim: label for claim, count in votes.items() if (label := _most(count))}


def agreement(reference: Votes, other: Votes, question: Question) -> Agreement:
    """The agreement of ``other`` with ``reference`` on the claims that both labelled."""
    labels = ANSWERS[question]
    pairs = Counter((reference[c], other[c]) for c in reference.keys() & other.keys())
    confusion = tuple(tuple(pairs[a, b] for b in labels) for a in labels)
    return Agreement(question, labels, confusion)


def _most(count: Counter[str]) -> str | None:
    first, *others = count.most_common(2)
    return None if others and others[0][1] == first[1] else first[0]
