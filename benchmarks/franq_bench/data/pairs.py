"""Rows of the documented JSONL schemas to labelled pairs, their licences, and the split.

A pair belongs to the fold of its premise, so no document is on both sides of the split. Only the
sources named in `SOURCES` may be trained on: permissive or share-alike by the data's own list.
Every other set is read for evaluation alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from franq_guard.datasets.jsonl import json_rows

Fold = Literal["train", "calibration", "test"]

#: Data set -> (licence, pairs drawn per epoch as a multiple of its rows, at most this many).
SOURCES: Final[Mapping[str, tuple[str, float, int]]] = {
    "mnli-dev": ("MNLI: OANC and others; MIT", 0.7, 12000),
    "snli-dev": ("CC BY-SA 4.0", 0.5, 4000),
    "snli-test": ("CC BY-SA 4.0", 0.5, 3000),
    "cad-nli": ("Apache 2.0", 0.5, 3500),
    "conjnli": ("MIT", 1.0, 400),
    "conjnli-adversarial-auto": ("MIT", 0.1, 1200),
    "scitail-dev": ("Apache 2.0", 1.0, 1800),
    "med": ("CC BY-SA 4.0", 0.25, 800),
    "help-and-auto": ("CC BY-SA 4.0", 0.1, 500),
    "breaking-nli": ("CC BY-SA 4.0", 0.12, 800),
    "commitment-bank": ("MIT", 1.0, 250),
    "fracas": ("MIT", 1.0, 250),
    "fever-symmetric": ("MIT", 1.5, 1000),
    "fm2": ("Apache 2.0", 2.5, 3000),
    "factcheck-gpt-stance": ("Apache 2.0", 1.5, 3200),
    "begin-wow": ("CC BY 4.0", 1.2, 3000),
    "begin-cmu": ("CC BY 4.0", 2.0, 400),
    "begin-tc": ("CDLA-Sharing 1.0", 2.0, 400),
    "q2-wow": ("Apache 2.0", 1.5, 1100),
    "summedits-ectsum": ("Apache 2.0", 1.5, 800),
    "summedits-news": ("Apache 2.0", 1.5, 800),
    "summedits-podcast": ("Apache 2.0", 1.5, 500),
    "summedits-qmsumm": ("Apache 2.0", 1.5, 500),
    "summedits-sales_call": ("Apache 2.0", 1.5, 500),
    "summedits-sales_email": ("Apache 2.0", 1.5, 500),
    "summedits-scitldr": ("Apache 2.0", 1.5, 500),
    "wice": ("ODC-BY; text CC BY-SA / Common Crawl", 2.5, 900),
    "refchecker-nq": ("CC BY 4.0", 2.0, 2200),
}
#: Question sets whose gold passages the generated pairs are made from.
PASSAGE_SOURCES: Final[Mapping[str, str]] = {
    "nq-open": "MIT; NQ: CC BY-SA 3.0 (rows with annotated gold passages only)",
    "squad1.1 (XQuAD-en)": "CC BY-SA 4.0",
    "clapnq-dev": "Apache 2.0; NQ passages CC BY-SA",
}
CLASSES: Final[Mapping[str, int]] = {
    "entailment": 0, "neutral": 1, "contradiction": 2, "supported": 0, "unsupported": 3,
}  # fmt: skip
_PLAIN: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled pair. `label`: 0 entailment, 1 neutral, 2 contradiction, 3 either of the two."""

    dataset: str
    premise: str
    hypothesis: str
    label: int
    fold: Fold


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its gold passage and, where there are any, passages without the answer."""

    question: str
    answers: tuple[str, ...]
    passage: str
    others: tuple[str, ...]
    fold: Fold


def fold_of(premise: str) -> Fold:
    """Return the fold of a premise by its first 60 letters: 15 % test, 8 % calibration."""
    key = _PLAIN.sub("", premise.lower())[:60]
    number = int(hashlib.sha256(key.encode()).hexdigest()[:8], 16) % 100
    return "test" if number < 15 else "calibration" if number < 23 else "train"


def examples(paths: Sequence[Path]) -> list[Example]:
    """Read every nli row and every claim row with a faithfulness label; pass over the rest."""
    found = []
    for path in paths:
        for row in json_rows(path):
            pair = _pair(row)
            if pair is not None and row.get("label") in CLASSES:
                premise, hypothesis, key = pair
                label = CLASSES[row["label"]]
                found.append(Example(row["dataset"], premise, hypothesis, label, fold_of(key)))
    return found


def _pair(row: Mapping[str, Any]) -> tuple[str, str, str] | None:
    if "premise" in row and "hypothesis" in row:
        return row["premise"], row["hypothesis"], row["premise"]
    if row.get("label_kind") == "faithfulness" and row.get("reference"):
        passages = row.get("passages") or [{"text": row["reference"]}]
        return row["reference"], row["claim"], passages[0]["text"]
    return None


def questions(paths: Sequence[Path]) -> list[Question]:
    """Read the rag_qa rows of `PASSAGE_SOURCES` whose gold passage people marked."""
    found = []
    for path in paths:
        for row in json_rows(path):
            if row.get("dataset") in PASSAGE_SOURCES and row.get("gold_kind") == "annotated":
                question = _question(row)
                if question is not None:
                    found.append(question)
    return found


def _question(row: Mapping[str, Any]) -> Question | None:
    gold = [p for p in row["passages"] if p.get("is_gold") and p.get("src") == "annotated"]
    if not gold:
        return None
    others = [
        p["text"]
        for p in row["passages"]
        if not p.get("is_gold") and p.get("src") == "dense" and not p.get("has_answer")
    ]
    return Question(
        row["question"],
        tuple(row["answers"]),
        gold[0]["text"],
        tuple(others),
        fold_of(gold[0]["text"]),
    )


def files(paths: Sequence[Path]) -> list[Path]:
    """Return the JSONL files among `paths`; a folder stands for the ones it holds."""
    found: list[Path] = []
    for path in paths:
        inside = (
            sorted(p for p in path.iterdir() if ".jsonl" in p.name) if path.is_dir() else [path]
        )
        found += inside
    return found
