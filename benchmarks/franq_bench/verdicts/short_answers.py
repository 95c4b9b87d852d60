"""Right and wrong short answers, with passages that state the right one."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, Final

from franq_bench.data.files import SHORT
from franq_bench.data.folds import Fold, Folds
from franq_bench.data.pairs import PASSAGE_SOURCES
from franq_bench.training import perturb
from franq_bench.verdicts.answers import Asked, Kind
from franq_guard.datasets.jsonl import json_rows
from franq_guard.records import Passage
from franq_guard.rows.traces import trace_of

SHOWN: Final = 3


def short_answers(folder: Path, fold: Fold, *, limit: int, seed: int) -> list[Asked]:
    """Gold answers over the gold passage and two others; the same with a wrong one in its place.

    The wrong answer is another figure or name of the passage, or else another question's answer.

    Args:
        folder: of the data.
        fold: whose questions are taken.
        limit: questions of each file.
        seed: of their draw and of the wrong answers.
    """
    folds = Folds.read(folder)
    found: list[Asked] = []
    for name in SHORT:
        rng = random.Random(f"{seed}/{name}")  # noqa: S311 - no secret
        rows = [r for r in json_rows(folder / name) if _fit(r) and folds.of(r) == fold]
        rng.shuffle(rows)
        for row in rows[:limit]:
            found += _of_row(row, rng.choice(rows)["answers"][0], rng)
    return found


def _fit(row: dict[str, Any]) -> bool:
    marked = row["dataset"] in PASSAGE_SOURCES and row["gold_kind"] == "annotated"
    return marked and any(p["is_gold"] for p in row["passages"]) and len(row["answers"][0]) > 2


def _of_row(row: dict[str, Any], foreign: str, rng: random.Random) -> list[Asked]:
    gold = [p for p in row["passages"] if p["is_gold"]][:1]
    others = [p for p in row["passages"] if not p["is_gold"] and not p.get("has_answer")]
    chosen = [*gold, *others[: SHOWN - 1]]
    rng.shuffle(chosen)
    shown = [Passage(f"{p['title']}: {p['text']}") for p in chosen]
    question, right = row["question"], row["answers"][0]
    wrong = _wrong(right, row["answers"], gold[0]["text"], foreign, rng)
    kinds: tuple[tuple[Kind, str], ...] = (("grounded", right), ("changed", wrong))
    return [
        Asked(kind, row["id"], len(shown), trace_of(question, shown, answer))
        for kind, answer in kinds
        if answer
    ]


def _wrong(right: str, every: list[str], passage: str, foreign: str, rng: random.Random) -> str:
    figures = any(c.isdigit() for c in right)
    found = perturb.NUMBER.findall(passage) if figures else perturb.names(passage)
    accepted = " ".join(every).lower()
    inside = [n for n in found if n.lower() not in accepted and right.lower() not in n.lower()]
    chosen = rng.choice(inside) if inside and rng.random() < 0.7 else foreign
    return "" if chosen.lower() in accepted else chosen
