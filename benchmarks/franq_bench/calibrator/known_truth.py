"""Claims labelled true or false by people, with passages that state, contradict or omit them.

FM2 (statements from a game, with the sentences that decide them), Factcheck-GPT (claims of ChatGPT,
with search results) and CREAK (statements about the subject of an article, with the passages that
BM25 finds). CREAK statements are used only if BM25 finds a passage of their own article, because
other passages say nothing about them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from franq_bench.data.folds import Fold, Folds
from franq_guard.datasets.jsonl import json_rows
from franq_guard.datasets.passage_pool import read_passages
from franq_guard.datasets.search import Bm25
from franq_guard.faithfulness.base import PassageScorer

SHOWN: Final = 3
SOURCES: Final = (
    "FM2: Apache 2.0",
    "Factcheck-GPT: Apache 2.0",
    "CREAK: MIT, over Wikipedia passages: CC BY-SA",
)


@dataclass(frozen=True, slots=True)
class Known:
    """A claim whose truth is known, and P(faithful) of it given its passages."""

    source: str
    is_true: bool
    p_faithful: float


@dataclass(frozen=True, slots=True)
class _Statement:
    source: str
    is_true: bool
    claim: str
    passages: tuple[str, ...]


def known_truth(
    folder: Path, fold: Fold, model: PassageScorer, *, limit: int, seed: int
) -> list[Known]:
    """At most ``limit`` claims of each source in a fold, scored by ``model``."""
    folds = Folds.read(folder)
    found: list[_Statement] = []
    for source in (_fm2, _factcheck_gpt, _creak):
        drawn = list(source(folder, folds, fold))
        random.Random(seed).shuffle(drawn)  # noqa: S311 - no secret
        found += drawn[:limit]
    scores = model.score_passages([s.passages for s in found], [s.claim for s in found])
    return [Known(s.source, s.is_true, p) for s, p in zip(found, scores, strict=True)]


def _fm2(folder: Path, folds: Folds, fold: Fold) -> Iterator[_Statement]:
    for row in json_rows(folder / "nli_evidence.jsonl.gz"):
        if row["dataset"] == "fm2" and folds.of(row) == fold:
            yield _Statement(
                "fm2", row["label"] == "entailment", row["hypothesis"], (row["premise"],)
            )


def _factcheck_gpt(folder: Path, folds: Folds, fold: Fold) -> Iterator[_Statement]:
    for row in json_rows(folder / "claims_factcheck_gpt.jsonl.gz"):
        texts = tuple(p["text"] for p in row["passages"][:SHOWN] if p["text"].strip())
        if texts and folds.of(row) == fold:
            yield _Statement("factcheck-gpt", row["label"] == "true", row["claim"], texts)


def _creak(folder: Path, folds: Folds, fold: Fold) -> Iterator[_Statement]:
    pool = read_passages(folder / "wiki_passages.jsonl.gz")
    search = Bm25([f"{p.title}\n{p.text}" for p in pool], k=SHOWN)
    for row in json_rows(folder / "claims_closed_book.jsonl.gz"):
        if row["dataset"] != "creak" or folds.of(row) != fold:
            continue
        shown = [pool[i] for i, _ in search.best(row["claim"])]
        if _about(row, [p.title for p in shown]):
            texts = tuple(f"{p.title}: {p.text}" for p in shown)
            yield _Statement("creak", row["label"] == "true", row["claim"], texts)


def _about(row: dict[str, Any], titles: Sequence[str]) -> bool:
    entity = (row.get("entity") or "").lower()
    return bool(entity) and any(title.lower() == entity for title in titles)
