"""Makes false statements on purpose: a sentence of a document with one fact changed by rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from franq_guard.claims.rules.words import FINITE_AUXILIARIES
from franq_guard.datasets.comparable_words import texts
from franq_guard.datasets.entities import Entity, Pool, entities
from franq_guard.datasets.questions import digest

EditKind = Literal["number", "date", "name", "negation"]


@dataclass(frozen=True, slots=True)
class Edit:
    """``original[start:end]`` is replaced by ``new``; ``text`` is the result."""

    original: str
    start: int
    end: int
    new: str
    kind: EditKind

    @property
    def text(self) -> str:
        """The sentence after the change."""
        return self.original[: self.start] + self.new + self.original[self.end :]


def one_edit(sentence: str, pool: Pool, *, seed: int = 0) -> Edit | None:
    """One change of ``sentence`` that makes it false; None if nothing in it can be changed.

    A number, date or name is replaced by another of the same shape from the documents, or the first
    auxiliary verb is negated; a hash of the sentence decides which. The new fact does not occur
    elsewhere in the sentence.

    Args:
        sentence: one sentence.
        pool: numbers, dates and names of the documents.
        seed: seed of the random choice.
    """
    rng = np.random.default_rng(int(digest(seed, "edit", sentence)[:16], 16))
    possible = [*_swaps(sentence, pool, rng), *_negations(sentence)]
    return possible[int(rng.integers(len(possible)))] if possible else None


def _swaps(sentence: str, pool: Pool, rng: np.random.Generator) -> Iterator[Edit]:
    said = f" {' '.join(texts(sentence))} "
    for entity in entities(sentence, common=pool.common):
        kind = _kind(entity)
        if kind is None:
            continue
        for other in pool.others(entity, rng):
            if f" {' '.join(texts(other))} " not in said:
                yield Edit(sentence, entity.start, entity.end, other, kind)
                break


def _kind(entity: Entity) -> EditKind | None:
    family = entity.kind.split("-")[0]
    if family in ("date", "year", "month", "weekday"):
        return "date"
    if family in ("number", "count", "ordinal"):
        return "number"
    return None if entity.kind == "name-adjective" else "name"


def _negations(sentence: str) -> Iterator[Edit]:
    words = {*sentence.lower().replace(".", " ").split()}
    if {"not", "never", "no", "nor"} & words:
        return
    for found in re.finditer(r"(?<= )[a-z]+(?= )", sentence):
        if found[0] in FINITE_AUXILIARIES:
            yield Edit(sentence, found.end(), found.end(), " not", "negation")
            return
