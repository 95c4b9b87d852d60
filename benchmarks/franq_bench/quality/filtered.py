"""Removes randomly chosen claims from answers and looks mechanically at what remains."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from franq_bench.quality.answers import answers_of
from franq_bench.quality.splitters import sentence_spans
from franq_guard.claims import RuleSplitter, remove_claims

SHARE = 0.4
"""A claim is removed with this probability."""
_MOST = 500
_OPENING = re.compile(r"[\s\"“‘'(\[*_]*")
_ORPHAN = re.compile(r"(?:(?:and|or|but|nor|yet|while|whereas|although)\b|[,;:.!?])", re.I)
_HANGING = re.compile(r"\b(?:and|or|but|of|the|a|an|with|by)[.!?]*$", re.IGNORECASE)
_END = re.compile(r"[.!?…:。！？][\"”’')\]*_`]*(?:\[\d{1,3}\])*$")
_BLANKS = re.compile(r"(?<=\S) {2,}(?=\S)| +[,.;!?](?:\s|$)")
_DOUBLED = re.compile(r"[,;:]\s*[,;:.]|(?<!\.)\.\.(?!\.)")
_PAIRS = (("(", ")"), ("[", "]"), ("“", "”"))
_MARKS = ("**", "`", '"')


@dataclass(frozen=True, slots=True)
class FilteredRow:
    """How many texts have a fault after the removal that they did not have before.

    A sentence counts if it was changed and the sentence that it comes from has no such fault.
    ``orphaned``: sentences that begin with a conjunction or a mark. ``hanging``: sentences that end
    with a conjunction, an article or a preposition. ``lower``: sentences that begin in lower case.
    ``no_end``: sentences without an end mark. ``blanks``: doubled blanks or a blank before a mark.
    ``doubled``: two marks in a row. ``unbalanced``: brackets, quotes or Markdown marks that were in
    pairs and are not any more. ``faulty``: texts with any of these.
    """

    file: str
    answers: int
    claims: int
    removed: int
    faulty: int
    orphaned: int
    hanging: int
    lower: int
    no_end: int
    blanks: int
    doubled: int
    unbalanced: int


@dataclass(frozen=True, slots=True)
class Remainder:
    """An answer before and after the removal, for a person to read."""

    before: str
    after: str
    removed: tuple[str, ...]
    faults: tuple[str, ...]


def filtered(path: str | Path) -> tuple[FilteredRow, list[Remainder]]:
    """Remove each claim with probability 0.4 from 500 answers, at most, of a JSONL file.

    Answers with fewer than two claims are left out. Which are drawn is the same in every run; rows
    are read as in :mod:`franq_bench.quality.answers`.
    """
    found = list(dict.fromkeys(answers_of(path)))
    generator = random.Random(0)  # noqa: S311
    generator.shuffle(found)
    splitter = RuleSplitter()
    out: list[Remainder] = []
    count = removed = 0
    for question, answer in found:
        claims = splitter.split(answer, question=question)
        stated = [k for k, c in enumerate(claims) if c.not_a_claim is None]
        drop = [k for k in stated if generator.random() < SHARE]
        if len(stated) < 2 or not drop:
            continue
        after = remove_claims(answer, claims, drop)
        gone = tuple(claims[k].text for k in drop)
        out.append(Remainder(answer, after, gone, faults(answer, after)))
        count, removed = count + len(stated), removed + len(drop)
        if len(out) == _MOST:
            break
    each = {name: sum(name in r.faults for r in out) for name in _FAULTS}
    row = FilteredRow(
        file=Path(path).name,
        answers=len(out),
        claims=count,
        removed=removed,
        faulty=sum(bool(r.faults) for r in out),
        **each,
    )
    return row, out


def faults(before: str, after: str) -> tuple[str, ...]:
    """The faults that the removal made; names as in :class:`FilteredRow`."""
    old = _sentences(before)
    made = {name for name, many in _IN_TEXT.items() if many(after) > many(before)}
    for sentence in _sentences(after):
        if old and sentence not in old:
            source = _source(sentence, old)
            made |= {n for n, has in _IN_SENTENCE.items() if has(sentence) and not has(source)}
    return tuple(name for name in _FAULTS if name in made)


def _source(sentence: str, old: Sequence[str]) -> str:
    """The sentence that shares the most words with ``sentence``."""
    words = set(sentence.lower().split())
    return max(old, key=lambda other: len(words & set(other.lower().split())))


def _sentences(text: str) -> list[str]:
    return [text[a:b].strip() for a, b in sentence_spans(text) if text[a:b].strip()]


def _beginning(sentence: str) -> str:
    found = _OPENING.match(sentence)
    return sentence[found.end() :] if found else sentence


def _unpaired(text: str) -> int:
    brackets = sum(text.count(a) != text.count(b) for a, b in _PAIRS)
    return brackets + sum(text.count(mark) % 2 for mark in _MARKS)


_IN_SENTENCE: dict[str, Callable[[str], bool]] = {
    "orphaned": lambda sentence: bool(_ORPHAN.match(_beginning(sentence))),
    "hanging": lambda sentence: bool(_HANGING.search(sentence)),
    "lower": lambda sentence: _beginning(sentence)[:1].islower(),
    "no_end": lambda sentence: not _END.search(sentence),
}
_IN_TEXT: dict[str, Callable[[str], int]] = {
    "blanks": lambda text: len(_BLANKS.findall(text)),
    "doubled": lambda text: len(_DOUBLED.findall(text)),
    "unbalanced": _unpaired,
}
_FAULTS = (*_IN_SENTENCE, *_IN_TEXT)
