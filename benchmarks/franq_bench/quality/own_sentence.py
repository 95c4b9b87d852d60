"""Measures whether a sentence entails its own claims, and lists claims that people should read."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from franq_bench.quality.faithfulness import Scorer
from franq_guard.claims import RuleSplitter
from franq_guard.datasets.jsonl import json_rows

CLEAR = 0.8
"""A claim that its sentence entails with a lower score is listed for people to read."""
_FIELDS = ("answer", "response", "hypothesis")


@dataclass(frozen=True, slots=True)
class OwnSentenceRow:
    """Figures of one file. ``cut``: claims that are not their whole sentence.

    ``unclear`` and ``against`` count those whose sentence entails them with less than 0.8 and 0.5.
    """

    file: str
    answers: int
    sentences: int
    claims: int
    cut: int
    unclear: int
    against: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A claim for a person to read; ``score``: how strongly the sentence entails it."""

    sentence: str
    claim: str
    score: float
    why: str


def measure(
    path: str | Path, scorer: Scorer, *, drawn: int = 300, seed: int = 0
) -> tuple[OwnSentenceRow, list[Reading]]:
    """Split every answer of the JSONL file at ``path`` (or .gz), score claims by their sentence.

    A row's answer is ``answers[0]``, ``answer``, ``response`` or ``hypothesis``. The readings are
    all unclear claims and ``drawn`` more at random: the model misses swapped roles.
    """
    answers = list(dict.fromkeys(answers_of(path)))
    pairs: list[tuple[str, str]] = []
    sentences = claims = 0
    splitter = RuleSplitter()
    for question, answer in answers:
        for unit in splitter.units(answer, question=question):
            stated = [c for c in unit.claims if c.not_a_claim is None]
            sentences += bool(stated)
            claims += len(stated)
            if len(stated) > 1 and unit.is_sentence:
                pairs += [(answer[slice(*unit.span)], c.text) for c in stated]
    scores = scorer.score([s for s, _ in pairs], [c for _, c in pairs]) if pairs else []
    read = [Reading(s, c, float(p), "") for (s, c), p in zip(pairs, scores, strict=True)]
    row = OwnSentenceRow(
        file=Path(path).name,
        answers=len(answers),
        sentences=sentences,
        claims=claims,
        cut=len(pairs),
        unclear=sum(r.score < CLEAR for r in read),
        against=sum(r.score < 0.5 for r in read),
    )
    chosen = random.Random(seed).sample(read, min(drawn, len(read)))  # noqa: S311
    unclear = [Reading(r.sentence, r.claim, r.score, "unclear") for r in read if r.score < CLEAR]
    return row, unclear + [Reading(r.sentence, r.claim, r.score, "drawn") for r in chosen]


def answers_of(path: str | Path) -> Iterator[tuple[str, str]]:
    """The (question, answer) of each row that has an answer."""
    for row in json_rows(path):
        text = _answer(row)
        if text and text.strip():
            yield str(row.get("question") or ""), text


def _answer(row: Mapping[str, Any]) -> str:
    if row.get("answers"):
        return str(row["answers"][0])
    return str(next((row[field] for field in _FIELDS if row.get(field)), ""))
