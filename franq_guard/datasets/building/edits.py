"""Makes false statements on purpose: a sentence of a document with one fact changed by rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from franq_guard.basics.words import word_set
from franq_guard.claims.rules.words import FINITE_AUXILIARIES
from franq_guard.datasets.comparable_words import texts
from franq_guard.datasets.entities import Entity, Pool, entities
from franq_guard.datasets.questions import digest

EditKind = Literal["number", "date", "name", "negation", "roles", "addition", "rewrite"]
_RELATION = re.compile(r" ([a-z]+(?: [a-z]+){0,3}?) (the )?")
_BOTH_WAYS = word_set(
    "and or nor with beside between near next together like as meet meets met marry married "
    "marries equals border borders bordered resembles resembled"
)
_COPULAS = word_set("am is are was were be been being become becomes became")
_ADDITIONS = (
    ", which was first noticed in {year}",
    ", and has been so since {year}",
    ", as a report of {year} says",
)


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

    @property
    def adds(self) -> bool:
        """Whether it only adds something: nothing that was said before is contradicted."""
        return self.start == self.end and self.kind != "negation"


def one_edit(sentence: str, pool: Pool, *, seed: int = 0) -> Edit | None:
    """One change of ``sentence`` that makes it false; None if nothing in it can be changed.

    A number, date or name is replaced by another of the same shape from the documents; the first
    auxiliary verb is negated; two names swap their places; or a clause is added that no document
    states, because its year occurs in none. A hash of the sentence decides which. The new fact does
    not occur elsewhere in the sentence.

    Args:
        sentence: one sentence.
        pool: numbers, dates and names of the documents.
        seed: seed of the random choice.
    """
    rng = np.random.default_rng(int(digest(seed, "edit", sentence)[:16], 16))
    possible = [
        *_swaps(sentence, pool, rng),
        *_negations(sentence),
        *_roles(sentence, pool),
        *_additions(sentence, pool, rng),
    ]
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


def _roles(sentence: str, pool: Pool) -> Iterator[Edit]:
    """``Ada joined the Guild.`` becomes ``The Guild joined Ada.``, unless it holds both ways."""
    names = [e for e in entities(sentence, common=pool.common) if _kind(e) == "name"][:2]
    if len(names) < 2 or sentence[: names[0].start] not in ("", "The "):
        return
    first, second = names
    found = _RELATION.fullmatch(sentence, first.end, second.start)
    if found is None:
        return
    words, article = found[1].split(), found[2] or ""
    both_ways = words[-1] in _COPULAS or set(words) & _BOTH_WAYS
    verb = words[0] in FINITE_AUXILIARIES or words[0].endswith(("ed", "s"))
    if verb and not both_ways and first.text != second.text:
        before = sentence[: first.start].lower()
        new = f"{article.capitalize()}{second.text} {found[1]} {before}{first.text}"
        yield Edit(sentence, 0, second.end, new, "roles")


def _additions(sentence: str, pool: Pool, rng: np.random.Generator) -> Iterator[Edit]:
    end = len(sentence.rstrip())
    if pool.empty or not sentence[:end].endswith("."):
        return  # without documents nothing says which years they lack
    years = (str(year) for year in rng.permutation(np.arange(1700, 2000)).tolist())
    year = next((y for y in years if not pool.has(y)), None)
    if year is None:
        return
    clause = _ADDITIONS[int(rng.integers(len(_ADDITIONS)))].format(year=year)
    yield Edit(sentence, end - 1, end - 1, clause, "addition")
