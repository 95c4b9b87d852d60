"""Calibration on pairs held back from training: blend weights and temperature."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from franq_bench.data.pairs import SOURCES, Example, Question
from franq_bench.training.generate import generated
from franq_guard.faithfulness.small.blend import INPUTS, Blend, Floats
from franq_guard.faithfulness.small.model import SmallFaithfulness

_GENERIC_SETS: Final = frozenset(
    {
        "mnli-dev", "snli-dev", "snli-test", "cad-nli", "conjnli", "conjnli-adversarial-auto",
        "scitail-dev", "med", "help-and-auto", "breaking-nli", "commitment-bank", "fracas",
    }
)  # fmt: skip
#: Kind of source -> (pairs kept of each data set, weight of a set beside a grounded-text set).
_KINDS: Final = {
    "grounded": (150, 1.0),
    "summedits": (12, 1.0),  # of each domain: long documents, slow to read
    "generated": (50, 0.3),
    "generic": (30, 0.1),
}


def held_back(
    examples: Sequence[Example], questions: Sequence[Question], *, seed: int
) -> list[Example]:
    """Return the calibration pairs: so many of each data set as `_KINDS` says, drawn by `seed`."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    made = generated([q for q in questions if q.fold == "calibration"], count=1800, seed=seed)
    rows = [e for e in examples if e.fold == "calibration" and e.dataset in SOURCES] + made
    rng.shuffle(rows)
    taken: Counter[str] = Counter()
    kept = []
    for row in rows:
        taken[row.dataset] += 1
        if taken[row.dataset] <= _KINDS[kind(row.dataset)][0]:
            kept.append(row)
    return kept


def kind(dataset: str) -> str:
    """Return the key of `_KINDS` a data set belongs to."""
    if dataset in _GENERIC_SETS:
        return "generic"
    start = dataset.split("-")[0]
    return start if start in _KINDS else "grounded"


def fit(model: SmallFaithfulness, examples: Sequence[Example]) -> Blend:
    """Fit the blend of `model`, whose own blend must be `plain`, on held-back examples."""
    rows, owners = model.pieces([e.premise for e in examples], [e.hypothesis for e in examples])
    labels = np.array([e.label == 0 for e in examples])
    weights, intercept = fit_rows(rows, owners, labels, [e.dataset for e in examples])
    short = [e for e in examples if e.label < 3 and len(e.premise) < 1000]
    return Blend(weights, intercept, _temperature(model, short))


def fit_rows(
    rows: Floats,
    owners: NDArray[np.intp],
    labels: NDArray[np.bool_],
    datasets: Sequence[str],
    *,
    strength: float = 0.03,
) -> tuple[tuple[float, ...], float]:
    """Return weights and intercept of a logistic regression on the blend's inputs.

    Of an unsupported claim of several sentences the least supported one carries the label; of a
    supported claim every sentence does. The penalty is strong, because a weight has to suit data
    sets that are not among these; a second fit without penalty on the resulting score alone undoes
    the shrinking of the probabilities towards the middle.

    Args:
        rows: inputs (m, len(INPUTS)), see `SmallFaithfulness.pieces`.
        owners: the pair of each row (m,).
        labels: true where the pair is supported (n,).
        datasets: of each pair.
        strength: inverse of the L2 penalty on standardised inputs; 0.03 by cross-validation.
    """
    from sklearn.linear_model import LogisticRegression

    keep = _telling(rows, owners, labels)
    rows, owners = rows[keep], owners[keep]
    shares = _shares([datasets[owner] for owner in owners])
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    first = LogisticRegression(C=strength, max_iter=3000)
    first.fit((rows - mean) / scale, labels[owners], sample_weight=shares)
    slope = first.coef_[0] / scale
    score = (rows - mean) @ slope
    second = LogisticRegression(C=1e6, max_iter=3000)
    second.fit(score[:, None], labels[owners], sample_weight=shares)
    slope = slope * second.coef_[0, 0]
    intercept = float(second.intercept_[0] - slope @ mean)
    return tuple(round(float(w), 6) for w in slope), round(intercept, 6)


def _shares(datasets: Sequence[str]) -> Floats:
    """Weigh rows so that a set counts by the root of its size: small sets are heard, too."""
    size = Counter(datasets)
    found = [_KINDS[kind(d)][1] * (100 / size[d]) ** 0.5 for d in datasets]
    return np.array(found, dtype=np.float64)


def _telling(rows: Floats, owners: NDArray[np.intp], labels: NDArray[np.bool_]) -> NDArray[np.intp]:
    margin = rows[:, INPUTS.index("margin")]
    lowest: dict[int, int] = {}
    for index, owner in enumerate(owners.tolist()):
        if owner not in lowest or margin[index] < margin[lowest[owner]]:
            lowest[owner] = index
    chosen = set(lowest.values())
    kept = [i for i, owner in enumerate(owners.tolist()) if labels[owner] or i in chosen]
    return np.array(kept, dtype=np.intp)


def _temperature(model: SmallFaithfulness, examples: Sequence[Example]) -> float:
    """Return the temperature of the least negative log-likelihood of the three classes."""
    classes = model.nli([e.premise for e in examples], [e.hypothesis for e in examples])
    logits = np.log(np.clip(classes, 1e-9, 1))
    labels = np.array([e.label for e in examples])
    grid = np.geomspace(0.5, 4, 60)
    losses = []
    for temperature in grid:
        grown = np.exp(logits / temperature)
        right = grown[np.arange(len(labels)), labels] / grown.sum(axis=1)
        losses.append(-np.log(right).mean())
    return round(float(grid[int(np.argmin(losses))]), 4)
