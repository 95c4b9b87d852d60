"""Answers whose claims are known to be stated by their passages, to be changed, or to be neither.

CLAP-NQ's answers were written by people from one passage. Shown with it, their claims are stated
(but for the few that readers did not find there); with one fact changed, that claim is not; without
it, none is. RefChecker's claims of seven models carry people's labels.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from franq_bench.data.folds import Fold, Folds
from franq_bench.data.read_claims import beyond_the_passage, digest_of
from franq_bench.training import perturb
from franq_guard.claims import RuleSplitter
from franq_guard.datasets.jsonl import json_rows
from franq_guard.datasets.passage_pool import read_passages
from franq_guard.datasets.search import Bm25
from franq_guard.records import Passage, Trace
from franq_guard.rows.traces import trace_of

Kind = Literal["grounded", "changed", "unfounded", "entailed", "not entailed"]
#: How many passages are shown; the one that states the answer is among them.
COUNTS: Final = (1, 3, 10)
CLAPNQ: Final = "rag_qa_long_clapnq.jsonl.gz"
REFCHECKER: Final = "claims_refchecker_nq.jsonl.gz"
POOL: Final = "wiki_passages.jsonl.gz"
_DATE: Final = re.compile(
    r"\b(?:1[0-9]|20)\d\d\b|\b(?:January|February|March|April|May|June|July|August|September"
    r"|October|November|December)\b"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One answer to check.

    Args:
        kind: what is known of its claims.
        group: the question; answers of one question are not independent.
        passages: how many are shown.
        trace: the answer with its passages.
        left_out: claims that are not counted: of a changed answer those that were not changed, of
            a grounded one those that say more than its passage.
        change: the kind of fact that was changed.
    """

    kind: Kind
    group: str
    passages: int
    trace: Trace
    left_out: frozenset[str] = frozenset()
    change: str = ""


def clapnq(
    folder: Path,
    fold: Fold,
    *,
    counts: Sequence[int] = COUNTS,
    kinds: Sequence[Kind] = ("grounded", "changed", "unfounded"),
    seed: int,
) -> list[Asked]:
    """Answers of a fold, each as it is, with one fact changed, and without its passage.

    Args:
        folder: of the data.
        fold: whose questions are taken.
        counts: numbers of passages shown.
        kinds: what is asked of each answer.
        seed: of the passages' order and the changes.
    """
    folds = Folds.read(folder)
    rows = [
        row
        for row in json_rows(folder / CLAPNQ)
        if row["answers"] and _gold(row) and folds.of(row) == fold
    ]
    pool = read_passages(folder / POOL)
    search = Bm25([f"{p.title}\n{p.text}" for p in pool], k=20)
    names = sorted({name for row in rows for name in perturb.names(row["answers"][0])})
    beyond = beyond_the_passage()
    found: list[Asked] = []
    for row in rows:
        others = _others(row, [pool[i] for i, _ in search.best(row["question"])])
        more = beyond.get(row["id"], frozenset())
        rng = random.Random(f"{seed}/{row['id']}")  # noqa: S311
        found += _of_row(row, others, counts, names, more, rng)
    return [one for one in found if one.kind in kinds]


def refchecker(folder: Path, fold: Fold) -> list[Asked]:
    """RefChecker's claims of a fold, each as an answer over the reference."""
    folds = Folds.read(folder)
    return [
        Asked(
            "entailed" if row["label"] == "entailment" else "not entailed",
            row["question"],
            1,
            trace_of(row["question"], [row["reference"]], row["claim"]),
            change=row["label"],
        )
        for row in json_rows(folder / REFCHECKER)
        if folds.of(row) == fold
    ]


def fact_of(claim: str) -> str:
    """The kind of fact that a claim is about: date, number, name, or relation."""
    if _DATE.search(claim):
        return "date"
    if perturb.NUMBER.search(claim):
        return "number"
    return "name" if perturb.names(claim) else "relation"


def _gold(row: dict[str, Any]) -> Passage | None:
    gold = [p for p in row["passages"] if p["is_gold"]]
    return _passage(gold[0]) if gold else None


def _passage(row: dict[str, Any]) -> Passage:
    return Passage(f"{row['title']}: {row['text']}" if row["title"] else row["text"])


def _others(row: dict[str, Any], found: Sequence[Passage]) -> list[Passage]:
    """The row's own other passages, then those found for its question, of no gold article."""
    titles = {p["title"].lower() for p in row["passages"]}
    own = [_passage(p) for p in row["passages"] if not p["is_gold"]]
    return own + [Passage(f"{p.title}: {p.text}") for p in found if p.title.lower() not in titles]


def _of_row(
    row: dict[str, Any],
    others: Sequence[Passage],
    counts: Sequence[int],
    names: Sequence[str],
    beyond: frozenset[str],
    rng: random.Random,
) -> Iterator[Asked]:
    """``beyond``: digests of the claims that say more than the gold passage."""
    gold, answer = _gold(row), row["answers"][0]
    assert gold is not None
    claims = frozenset(claim.text for claim in RuleSplitter().split(answer))
    more = frozenset(claim for claim in claims if digest_of(claim) in beyond)
    changed = list(_changed(answer, gold.text, names, rng))
    for count in counts:
        shown = [gold, *others[: count - 1]]
        rng.shuffle(shown)
        yield Asked("grounded", row["id"], count, trace_of(row["question"], shown, answer), more)
        for text, change in changed:
            trace = trace_of(row["question"], shown, text)
            yield Asked("changed", row["id"], count, trace, claims, change)
        without = trace_of(row["question"], others[:count], answer)
        yield Asked("unfounded", row["id"], count, without)


def _changed(
    answer: str, passage: str, names: Sequence[str], rng: random.Random
) -> Iterator[tuple[str, str]]:
    """The answer with one figure, one name or one relation changed, and what was changed."""
    for change, text in (
        ("number", perturb.number(answer, passage, rng)),
        ("name", perturb.name(answer, passage, names, rng)),
        ("relation", perturb.negation(answer, passage, rng)),
    ):
        if text is not None and text != answer:
            kind = "date" if change == "number" and _dates(text) != _dates(answer) else change
            yield text, kind


def _dates(text: str) -> list[str]:
    return _DATE.findall(text)
