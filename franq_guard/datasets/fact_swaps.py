"""Replaces facts in the passages of one question by other facts of the same kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from franq_guard.datasets.comparable_words import holds, texts
from franq_guard.datasets.entities import Entity, Pool, entities
from franq_guard.datasets.grading import unbracketed
from franq_guard.datasets.questions import Question
from franq_guard.records import Passage

_CHUNK = re.compile(r"\S+")
_ASKED = re.compile(r"\b(who|whom|whose|when|where|why|which|what|how \w+)\b", re.IGNORECASE)
_ROUNDS = 12


class Golds:
    """Correct answers, indexed by the question word and by their shape."""

    def __init__(self, questions: Iterable[Question]) -> None:
        groups: dict[tuple[str, str], set[str]] = {}
        for question in questions:
            answer = question.answers[0]
            for key in ((_asked(question), _shape(answer)), ("", _shape(answer)), ("", "")):
                groups.setdefault(key, set()).add(answer)
        self._groups = {key: sorted(found) for key, found in groups.items()}

    def others(self, question: Question, rng: np.random.Generator) -> Iterator[str]:
        """Answers of other questions in random order, first those of similar questions."""
        shape = _shape(question.answers[0])
        for key in ((_asked(question), shape), ("", shape), ("", "")):
            group = self._groups.get(key, [])
            yield from (group[at] for at in rng.permutation(len(group)))


class Swap:
    """Replaces the facts in the passages of one question.

    Args:
        question: its correct answers are replaced first.
        pool: substitutes for names, numbers and dates.
        golds: substitutes for correct answers.
        rng: source of all random choices.
    """

    def __init__(
        self, question: Question, pool: Pool, golds: Golds, rng: np.random.Generator
    ) -> None:
        self.rng = rng
        self._question, self._pool, self._golds = question, pool, golds
        self._wanted = sorted(
            {texts(a) for a in unbracketed(question.answers)} - {()}, key=len, reverse=True
        )

    def passage(self, passage: Passage, rewritten: str | None = None) -> Passage:
        """``passage`` with its facts replaced.

        If ``rewritten`` is given, only the correct answers that remain in it are replaced.

        Raises:
            ValueError: there is no substitute for a correct answer.
        """
        answer = self._substitute()
        title = self._without_answers(passage.title, answer)
        if rewritten is not None:
            return replace(passage, title=title, text=self._without_answers(rewritten, answer))
        text = self._without_answers(passage.text, answer)
        kept = f" {' '.join(texts(f'{title} {self._question.question} {answer}'))} "
        text = self._swapped(text, kept)
        return replace(passage, title=title, text=self._without_answers(text, answer))

    def _substitute(self) -> str:
        for other in self._golds.others(self._question, self.rng):
            if not self._says_answer(other):
                return other
        raise ValueError(
            f"question {self._question.id!r}: no other question has an answer to put in place of "
            "its own; corrupt more questions together"
        )

    def _says_answer(self, other: str) -> bool:
        """Whether ``other`` shares a word with a correct answer, and so might still state it."""
        return any(set(texts(other)) & set(wanted) for wanted in self._wanted)

    def _without_answers(self, text: str, substitute: str) -> str:
        for _ in range(_ROUNDS):
            if not holds(text, self._wanted):
                return text
            text = _replaced(text, [(a, b, substitute) for a, b in self._answer_spans(text)])
        raise ValueError(
            f"question {self._question.id!r}: its answer cannot be taken out of a passage; "
            "corrupt more questions together"
        )

    def _answer_spans(self, text: str) -> list[tuple[int, int]]:
        """The shortest ranges of whole words that contain a correct answer, without overlap."""
        chunks = [m.span() for m in _CHUNK.finditer(text)]
        spans: list[tuple[int, int]] = []
        for wanted in self._wanted:
            if holds(text, [wanted]):
                spans += _windows(text, chunks, wanted)
        return _apart(spans)

    def _swapped(self, text: str, kept: str) -> str:
        found = [
            e
            for e in entities(text, common=self._pool.common)
            if f" {' '.join(texts(e.text))} " not in kept
        ]
        mapping: dict[str, str] = {}
        for entity in sorted(found, key=lambda e: (-len(e.text), e.start)):
            if entity.text not in mapping:
                mapping[entity.text] = self._other(entity, mapping, kept)
        return _replaced(text, [(e.start, e.end, mapping[e.text]) for e in found])

    def _other(self, entity: Entity, mapping: Mapping[str, str], kept: str) -> str:
        if entity.kind.startswith("name"):
            for longer, substitute in mapping.items():
                if longer.endswith(f" {entity.text}"):
                    return substitute.split()[-1]
                if longer.startswith(f"{entity.text} "):
                    return substitute.split()[0]
        taken = set(mapping.values())
        for other in self._pool.others(entity, self.rng):
            subject = f" {' '.join(texts(other))} " in kept
            if other not in taken and not subject and not self._says_answer(other):
                return other
        return entity.text


def _windows(
    text: str, chunks: Sequence[tuple[int, int]], wanted: tuple[str, ...]
) -> Iterator[tuple[int, int]]:
    """Short ranges that contain ``wanted``, by bisection: normalising every range is slow."""

    def from_there(end: int, first: int) -> bool:
        return first < end and holds(text[chunks[first][0] : chunks[end - 1][1]], [wanted])

    def until_there(first: int, end: int) -> bool:
        return from_there(end, first)

    at = 0
    while at < len(chunks) and until_there(at, len(chunks)):
        end = _boundary(len(chunks), at, partial(until_there, at))
        first = _boundary(at, end, partial(from_there, end))
        yield _trimmed(text, chunks[first][0], chunks[end - 1][1])
        at = end


def _boundary(good: int, bad: int, holding: Callable[[int], bool]) -> int:
    """The index, between ``good`` and ``bad``, at which ``holding`` changes to false."""
    while abs(good - bad) > 1:
        middle = (good + bad) // 2
        if holding(middle):
            good = middle
        else:
            bad = middle
    return good


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The range without punctuation around it; unchanged if there is only punctuation."""
    inner = re.search(r"[^\W_](?:.*[^\W_])?", text[start:end], re.DOTALL)
    return (start + inner.start(), start + inner.end()) if inner else (start, end)


def _apart(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of overlapping ranges only the longest, in order."""
    kept: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda s: s[0] - s[1]):
        if all(end <= a or b <= start for a, b in kept):
            kept.append((start, end))
    return sorted(kept)


def _replaced(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _asked(question: Question) -> str:
    found = _ASKED.search(question.question)
    return found[1].lower() if found else ""


def _shape(answer: str) -> str:
    found = entities(answer)
    if found and found[0].end - found[0].start == len(answer.strip()):
        return found[0].kind.split("-")[0]
    return "words"
