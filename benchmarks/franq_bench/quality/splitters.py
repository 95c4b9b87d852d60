"""Measures how well splitters find claims, and how well claims are located in an answer.

The gold file is JSONL, one answer per line: ``{id, split, register?, question?, answer, sentences:
[[start, end]], claims: [{spans: [[start, end]], not_a_claim?}]}``. Claims are what a careful reader
checks one by one: clauses, members of lists, asides. They share no character; a joining word or
comma goes with the claim that it introduces and a shared subject with the first claim that states
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from franq_guard.claims import ClaimSplitter, align
from franq_guard.claims.blocks import blocks
from franq_guard.claims.sentences import sentences
from franq_guard.datasets.jsonl import json_rows
from franq_guard.records import Span

MATCH = 0.8
"""A gold claim is matched by a predicted one whose characters overlap with at least this F1."""
_ALIGNED = 0.6
"""A claim counts as located in its response from this score on."""
_WORST = 30
"""How many of the lowest scores are reported."""


@dataclass(frozen=True, slots=True)
class ClaimsRow:
    """The figures of one splitter on one part of the gold set; all shares are in [0, 1].

    ``sentence_f1``: exact sentence spans. ``matched``: gold claims that a predicted claim matches
    (one to one, character F1 of at least 0.8). ``precision``: predicted claims that match one.
    ``not_claim_precision`` and ``not_claim_recall``: stretches marked as no claim, right when most
    of their characters are.
    """

    splitter: str
    split: str
    answers: int
    claims: int
    sentence_f1: float
    matched: float
    precision: float
    not_claim_precision: float
    not_claim_recall: float


@dataclass(frozen=True, slots=True)
class AlignmentRow:
    """How well claim texts were located in their responses.

    ``aligned`` is the share with a score of at least ``threshold``; ``worst`` holds the (score,
    claim, response) of the lowest scores.
    """

    claims: int
    aligned: float
    mean_score: float
    threshold: float
    worst: tuple[tuple[float, str, str], ...]


def gold_file() -> Path:
    """The gold set of this package: answers written for it, in the parts "dev" and "test"."""
    return Path(str(files("franq_bench") / "gold" / "claims.jsonl"))


def run(path: str | Path, splitters: Mapping[str, ClaimSplitter]) -> list[ClaimsRow]:
    """One row per splitter and per part ("dev", "test") of the gold file at ``path``."""
    gold = list(json_rows(path))
    parts = sorted({row["split"] for row in gold})
    return [
        _measure(name, splitter, part, [row for row in gold if row["split"] == part])
        for name, splitter in splitters.items()
        for part in parts
    ]


def alignment(path: str | Path) -> AlignmentRow:
    """Align every ``claim`` to its ``response`` in the JSONL file at ``path`` (or .gz)."""
    scored = [
        (align(row["claim"], row["response"]).score, row["claim"], row["response"])
        for row in json_rows(path)
    ]
    scores = [score for score, _, _ in scored]
    count = max(len(scores), 1)
    return AlignmentRow(
        claims=len(scores),
        aligned=sum(score >= _ALIGNED for score in scores) / count,
        mean_score=sum(scores) / count,
        threshold=_ALIGNED,
        worst=tuple(sorted(scored)[:_WORST]),
    )


def match(gold: Sequence[Sequence[Span]], found: Sequence[Sequence[Span]]) -> list[tuple[int, int]]:
    """Pairs (gold, found) of spans that match, best overlap first, each index used once."""
    sets = [_characters(spans) for spans in gold], [_characters(spans) for spans in found]
    pairs = sorted(
        (
            (-overlap, i, j)
            for i, left in enumerate(sets[0])
            for j, right in enumerate(sets[1])
            if (overlap := _f1(left, right)) >= MATCH
        ),
    )
    used: tuple[set[int], set[int]] = set(), set()
    out: list[tuple[int, int]] = []
    for _, i, j in pairs:
        if i not in used[0] and j not in used[1]:
            used[0].add(i)
            used[1].add(j)
            out.append((i, j))
    return out


def _measure(
    name: str, splitter: ClaimSplitter, part: str, rows: Sequence[Mapping[str, Any]]
) -> ClaimsRow:
    found = sum((_counts(splitter, row) for row in rows), Counter[str]())
    return ClaimsRow(
        splitter=name,
        split=part,
        answers=len(rows),
        claims=found["gold"],
        sentence_f1=2 * found["sentences of both"] / max(found["sentences of either"], 1),
        matched=found["matched"] / max(found["gold"], 1),
        precision=found["matched"] / max(found["found"], 1),
        not_claim_precision=found["rightly no claim"] / max(found["found no claim"], 1),
        not_claim_recall=found["seen no claim"] / max(found["gold no claim"], 1),
    )


def _counts(splitter: ClaimSplitter, row: Mapping[str, Any]) -> Counter[str]:
    """What one answer of the gold set adds to the figures."""
    answer = row["answer"]
    claims = splitter.split(answer, question=row.get("question", ""))
    gold = [c["spans"] for c in row["claims"] if not c.get("not_a_claim")]
    found = [c.spans for c in claims if c.not_a_claim is None]
    gold_none = [c["spans"] for c in row["claims"] if c.get("not_a_claim")]
    found_none = [c.spans for c in claims if c.not_a_claim is not None]
    wanted = {tuple(span) for span in row["sentences"]}
    got = set(sentence_spans(answer))
    return Counter({
        "gold": len(gold),
        "found": len(found),
        "matched": len(match(gold, found)),
        "sentences of either": len(wanted) + len(got),
        "sentences of both": len(wanted & got),
        "gold no claim": len(gold_none),
        "found no claim": len(found_none),
        "rightly no claim": sum(_mostly(spans, gold_none) for spans in found_none),
        "seen no claim": sum(_mostly(spans, found_none) for spans in gold_none),
    })  # fmt: skip


def sentence_spans(answer: str) -> list[Span]:
    """The sentences of the prose and of the list items of ``answer``."""
    return [
        span
        for block in blocks(answer)
        if block.kind in {"paragraph", "item"}
        for span in sentences(answer, block.start, block.end)
    ]


def _characters(spans: Sequence[Span]) -> set[int]:
    return {i for start, end in spans for i in range(start, end)}


def _f1(left: set[int], right: set[int]) -> float:
    return 2 * len(left & right) / max(len(left) + len(right), 1)


def _mostly(spans: Sequence[Span], others: Sequence[Sequence[Span]]) -> bool:
    own = _characters(spans)
    covered = {i for other in others for i in _characters(other)}
    return 2 * len(own & covered) > len(own)
