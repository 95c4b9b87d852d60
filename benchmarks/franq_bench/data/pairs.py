"""Turns rows of the documented JSONL schemas into labelled pairs, and lists their licences.

Only the sources in `SOURCES` may be used for training: their licences are permissive or
share-alike. All other sets are used for evaluation only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from franq_guard.datasets.jsonl import json_rows

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
    "written-facts": ("own writing; CC BY-SA 4.0", 1.0, 9000),
    "written-science": ("own writing; CC BY-SA 4.0", 1.0, 9000),
    "written-talk": ("own writing; CC BY-SA 4.0", 1.0, 9000),
    "answers-claimed": ("own writing; CC BY-SA 4.0", 1.0, 9000),
    "answers-code": ("own writing; CC BY-SA 4.0", 1.0, 9000),
    "answers-evidence": ("own writing; CC BY-SA 4.0", 1.0, 9000),
    "answers-facts": ("own writing; CC BY-SA 4.0", 1.0, 9000),
    "answers-health": ("own writing; CC BY-SA 4.0", 1.0, 9000),
    "answers-joined": ("own writing; CC BY-SA 4.0", 1.0, 9000),
    "answers-news": ("own writing; CC BY-SA 4.0", 1.0, 9000),
    "answers-office": ("own writing; CC BY-SA 4.0", 1.0, 9000),
    "answers-ops": ("own writing; CC BY-SA 4.0", 1.0, 9000),
    "answers-policies": ("own writing; CC BY-SA 4.0", 1.0, 9000),
    "answers-products": ("own writing; CC BY-SA 4.0", 1.0, 9000),
    "answers-science": ("own writing; CC BY-SA 4.0", 1.0, 9000),
    "answers-travel": ("own writing; CC BY-SA 4.0", 1.0, 9000),
    "answers-weak": ("own writing; CC BY-SA 4.0", 1.0, 9000),
}
#: Question sets whose gold passages the generated pairs are made from.
PASSAGE_SOURCES: Final[Mapping[str, str]] = {
    "nq-open": "MIT; NQ: CC BY-SA 3.0 (rows with annotated gold passages only)",
    "squad1.1 (XQuAD-en)": "CC BY-SA 4.0",
}
_POOL_FIELDS: Final = frozenset({"id", "title", "text"})
SUPPORTED, NEUTRAL, CONTRADICTED, UNSUPPORTED = range(4)
"""Of an `Example`; unsupported ones are neutral or contradicted."""
CLASSES: Final[Mapping[str, int]] = {
    "entailment": SUPPORTED, "neutral": NEUTRAL, "contradiction": CONTRADICTED,
    "supported": SUPPORTED, "unsupported": UNSUPPORTED,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled pair. `label`: `SUPPORTED`, `NEUTRAL`, `CONTRADICTED` or `UNSUPPORTED`."""

    dataset: str
    premise: str
    hypothesis: str
    label: int


@dataclass(frozen=True, slots=True)
class Question:
    """A passage, the question it answers if there is one, and other passages near it.

    The others do not contain the question's answer; for a passage of the search pool they come from
    the same article.
    """

    question: str
    answers: tuple[str, ...]
    passage: str
    others: tuple[str, ...]
    title: str = ""


Wanted = Callable[[Mapping[str, Any]], bool]


def examples(paths: Sequence[Path], wanted: Wanted = lambda _: True) -> list[Example]:
    """Read every nli row and every claim row with a faithfulness label; skip all other rows.

    Args:
        paths: JSONL files.
        wanted: decides whether a row is used.
    """
    found = []
    for path in paths:
        for row in json_rows(path):
            pair = _pair(row)
            if pair is not None and row.get("label") in CLASSES and wanted(row):
                found.append(Example(row["dataset"], *pair, CLASSES[row["label"]]))
    return found


def by_dataset(pairs: Iterable[Example]) -> dict[str, list[Example]]:
    """Return the pairs of each data set; the sets are in the order of their names."""
    found: dict[str, list[Example]] = {}
    for pair in pairs:
        found.setdefault(pair.dataset, []).append(pair)
    return dict(sorted(found.items()))


def _pair(row: Mapping[str, Any]) -> tuple[str, str] | None:
    if "premise" in row and "hypothesis" in row:
        return row["premise"], row["hypothesis"]
    if row.get("label_kind") == "faithfulness" and row.get("reference"):
        return row["reference"], row["claim"]
    return None


def questions(paths: Sequence[Path], wanted: Wanted = lambda _: True) -> list[Question]:
    """Read the passages that pairs may be made from.

    These are the gold passages that people marked in the sets of `PASSAGE_SOURCES`, with their
    questions, and the passages of the search pool, with the others of the same article.
    """
    found = []
    for path in paths:
        pool: dict[str, list[str]] = {}
        for row in json_rows(path):
            if row.get("dataset") in PASSAGE_SOURCES and row.get("gold_kind") == "annotated":
                if (question := _question(row)) is not None and wanted(row):
                    found.append(question)
            elif set(row) == _POOL_FIELDS and wanted(row):
                pool.setdefault(row["title"], []).append(row["text"])
        found += [
            Question("", (), text, tuple(t for t in texts if t != text), title)
            for title, texts in pool.items()
            for text in texts
        ]
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
        gold[0].get("title", ""),
    )
