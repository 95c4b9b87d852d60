"""Quality of a faithfulness model on labelled pairs, data set by data set, beside two baselines.

Reads any JSONL file of the nli or claims schema (`premise`, `hypothesis`, `label`, or `reference`,
`claim`, `label` with `label_kind` "faithfulness"). Entailment and supported are the positive class.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from franq_bench.data.pairs import SUPPORTED, Example, examples
from franq_bench.data.seen import seen
from franq_guard.faithfulness.small.features import word_overlap
from franq_guard.franq import FloatArray
from franq_guard.metrics.measures import auroc, ece

#: The sets over which the macro row averages: claims against real passages.
GROUNDED: Final = (
    "refchecker-nq", "begin-wow", "begin-tc", "begin-cmu", "q2-wow", "summedits", "wice",
    "healthver", "climate-fever", "fm2", "factcheck-gpt-stance",
)  # fmt: skip
THRESHOLD: Final = 0.5


class Scorer(Protocol):
    """What is measured: P(faithful) of each pair."""

    def score(self, contexts: Sequence[str], claims: Sequence[str]) -> Sequence[float]:
        """Return P(faithful) in [0, 1] for each pair."""


class WordOverlap:
    """Baseline: the share of the claim's content words that occur in the passage."""

    def score(self, contexts: Sequence[str], claims: Sequence[str]) -> list[float]:
        """Return the share for each pair."""
        return [word_overlap(claim, text) for text, claim in zip(contexts, claims, strict=True)]


class Cosine:
    """Baseline: cosine of the untrained MiniLM's mean-pooled embeddings, below 0 as 0."""

    def __init__(self) -> None:
        from franq_guard.faithfulness.small.minilm import Embedder

        self._embed = Embedder()

    def score(self, contexts: Sequence[str], claims: Sequence[str]) -> list[float]:
        """Return the similarity of each pair."""
        distinct = list(dict.fromkeys([*contexts, *claims]))
        place = {text: i for i, text in enumerate(distinct)}
        vectors = self._embed(distinct)
        left = vectors[[place[t] for t in contexts]]
        right = vectors[[place[t] for t in claims]]
        return [float(x) for x in np.clip((left * right).sum(axis=1), 0, 1)]


def run(
    files: Sequence[Path],
    model: Scorer,
    *,
    limit: int | None = None,
    seed: int = 0,
    held_out: bool = False,
) -> list[dict[str, Any]]:
    """Measure `model` and the baselines on every data set found in `files`.

    Args:
        files: JSONL or JSONL.GZ.
        model: what is measured.
        limit: at most this many pairs of a data set, drawn by `seed`.
        seed: of the draw.
        held_out: only pairs whose premise the shipped model was neither trained nor fitted on.

    Returns:
        One row per data set: `dataset, n, positive, auroc, balanced_accuracy, ece` and
        `overlap_auroc, overlap_balanced_accuracy, cosine_auroc, cosine_balanced_accuracy`. AUROC
        is NaN where a set has one class. Last the row "macro" over the grounded-text sets present
        (over all sets where none is), and before it "pooled", all pairs together.
    """
    pairs = examples(files)
    kept = [pair for pair in pairs if not (held_out and seen(pair.premise))]
    if pairs and not kept:
        raise ValueError("the small model was trained on the texts of all pairs: --no-held-out")
    return measure(draw(kept, limit=limit, seed=seed), model)


def measure(drawn: Mapping[str, Sequence[Example]], model: Scorer) -> list[dict[str, Any]]:
    """Return `run`'s rows for pairs already read and drawn, by data set."""
    if not drawn:
        raise ValueError("no labelled pairs in the files given")
    pairs = [e for rows in drawn.values() for e in rows]
    contexts, claims = [e.premise for e in pairs], [e.hypothesis for e in pairs]
    scores = {"": model, "overlap_": WordOverlap(), "cosine_": Cosine()}
    found = {prefix: np.array(scorer.score(contexts, claims)) for prefix, scorer in scores.items()}
    labels = np.array([e.label == SUPPORTED for e in pairs], dtype=float)
    rows, start = [], 0
    for name, members in drawn.items():
        part = slice(start, start + len(members))
        rows.append(_row(name, labels[part], {p: s[part] for p, s in found.items()}))
        start = part.stop
    return [*rows, _row("pooled", labels, found), _macro(rows)]


def draw(pairs: Sequence[Example], *, limit: int | None, seed: int) -> dict[str, list[Example]]:
    """Return the pairs by data set (the SummEdits domains as one), at most `limit` of each."""
    found: dict[str, list[Example]] = {}
    for pair in pairs:
        found.setdefault(group(pair.dataset), []).append(pair)
    if limit is not None:
        rng = random.Random(seed)  # noqa: S311 - no secret
        found = {n: rng.sample(m, min(limit, len(m))) for n, m in found.items()}
    return found


def group(dataset: str) -> str:
    """Return the row a data set is counted in."""
    if dataset.startswith("summedits-"):
        return "summedits"
    return "xsum" if dataset in {"aggrefact-xsum", "xsum-halluc"} else dataset


def balanced_accuracy(labels: FloatArray, scores: FloatArray) -> float:
    """Return the mean of the two classes' accuracies at `THRESHOLD`; NaN where one is missing."""
    called = scores > THRESHOLD
    sides = [called[labels == 1], ~called[labels == 0]]
    return float(np.mean([s.mean() for s in sides])) if all(len(s) for s in sides) else float("nan")


def _row(name: str, labels: FloatArray, scores: dict[str, FloatArray]) -> dict[str, Any]:
    row: dict[str, Any] = {"dataset": name, "n": len(labels), "positive": float(labels.mean())}
    for prefix, values in scores.items():
        row[f"{prefix}auroc"] = auroc(labels, values)
        row[f"{prefix}balanced_accuracy"] = balanced_accuracy(labels, values)
    row["ece"] = ece(labels, scores[""])
    return row


def _macro(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    chosen = [row for row in rows if row["dataset"] in GROUNDED] or list(rows)
    macro: dict[str, Any] = {"dataset": "macro", "n": sum(row["n"] for row in chosen)}
    for key in chosen[0]:
        if key not in macro:
            values = np.array([row[key] for row in chosen])
            known = values[~np.isnan(values)]
            macro[key] = float(known.mean()) if len(known) else float("nan")
    return macro


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table."""
    keys = ("auroc", "overlap_auroc", "cosine_auroc", "balanced_accuracy", "ece")
    head = "| data set | n | AUROC | word overlap | cosine | balanced accuracy | ECE |"
    lines = [head, "| --- |" + " ---: |" * 6]
    for row in rows:
        values = " | ".join(f"{row[key]:.3f}" for key in keys)
        lines.append(f"| {row['dataset']} | {row['n']} | {values} |")
    return "\n".join(lines)
