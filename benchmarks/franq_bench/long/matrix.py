"""Makes the score matrix from claims and their statistics: the split and all raw scores."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from franq_bench.data.labelled_answers import LabelledAnswer, LabelledClaim
from franq_bench.fits.long_form import LOGARITHMS, LOWEST
from franq_bench.long.statistics import NAMES
from franq_bench.tables.scores import GOLD, Score, Split
from franq_guard.datasets.questions import digest
from franq_guard.uncertainty.methods import compute, confidence, find, log_confidence
from franq_guard.uncertainty.statistics import Statistics

__all__ = ["as_score", "claim_id", "score_rows", "splits"]


def splits(answers: Sequence[LabelledAnswer], *, train_share: float, seed: int) -> list[Split]:
    """Whether each answer belongs to the training or the test part, in order.

    Drawn per question within each data set, so that all claims of an answer, and all models'
    answers to a question, are in the same part.

    Raises:
        ValueError: if ``train_share`` is not in [0, 1).
    """
    if not 0 <= train_share < 1:
        raise ValueError(f"the training share must be at least 0 and below 1, not {train_share}")
    asked: dict[str, set[str]] = {}
    for answer in answers:
        asked.setdefault(answer.dataset, set()).add(answer.trace.question)
    train = {
        (name, question)
        for name, questions in asked.items()
        for question in sorted(questions, key=lambda q: digest(seed, q))[
            : round(train_share * len(questions))
        ]
    }
    return ["train" if (a.dataset, a.trace.question) in train else "test" for a in answers]


def claim_id(answer: LabelledAnswer, number: int) -> str:
    """The id of a claim's row: its answer's, then its number there."""
    return f"{answer.id}/{number}"


def score_rows(
    answer: LabelledAnswer,
    statistics: Statistics,
    split: Split,
    logarithms: Collection[str] = LOGARITHMS,
) -> list[Score]:
    """One row per claim of an answer.

    Scores are higher for claims more likely true: log-probabilities for ``logarithms``, a
    confidence in [0, 1] for other methods whose scale has one, else the negative uncertainty; None
    where there was nothing to measure. Gold faithfulness goes along where it is not the target.
    """
    found = compute(NAMES, statistics, level="claim")
    return [
        Score(
            id=claim_id(answer, i),
            dataset=answer.dataset,
            split=split,
            is_true=labelled.is_true,
            scores={
                name: as_score(name, float(values[i]), logarithms) for name, values in found.items()
            }
            | (_gold(labelled) if answer.target == "factuality" else {}),
            group=answer.id,
        )
        for i, labelled in enumerate(answer.claims)
    ]


def _gold(claim: LabelledClaim) -> dict[str, float | None]:
    return {} if claim.is_faithful is None else {GOLD: float(claim.is_faithful)}


def as_score(
    name: str, uncertainty: float, logarithms: Collection[str] = LOGARITHMS
) -> float | None:
    """A method's uncertainty as a score, see :func:`score_rows`; None for NaN."""
    if math.isnan(uncertainty):
        return None
    if name in logarithms:
        return max(log_confidence(name, uncertainty), LOWEST)
    if find(name).has_scale:
        return confidence(name, uncertainty)
    return max(-uncertainty, LOWEST)
