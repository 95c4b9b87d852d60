"""Stage: splits off what is between commas (relative clauses, appositions, participles)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from franq_guard.claims.rules import appositions, relatives
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.clause import Clause
from franq_guard.claims.rules.doubts import open_clause
from franq_guard.claims.rules.finite_verb import (
    after_adverbs,
    is_finite,
    main_verb,
    subject_start,
)
from franq_guard.claims.rules.lexer import Word
from franq_guard.claims.rules.standing import parts

Kind = Callable[[Clause, int, int], tuple[Clause, Clause] | None]

_KINDS = (
    relatives.relative,
    relatives.part_of,
    appositions.apposition,
    appositions.participle,
    appositions.gerund,
    appositions.with_amount,
)
_MAX_COMMAS = 3
"""With more commas before the verb it is unclear what belongs to what."""
_EXAMPLES = (appositions.including,)


def without_asides(clause: Clause) -> list[Clause]:
    """The clause without its asides, then the asides."""
    return _without(clause, _KINDS)


def without_examples(clause: Clause) -> list[Clause]:
    """The clause without ", including ...", then the clauses about what it includes."""
    return _without(clause, _EXAMPLES)


def _without(clause: Clause, kinds: Sequence[Kind]) -> list[Clause]:
    found: list[Clause] = []
    rest = clause
    while (cut := _first_aside(rest, kinds)) is not None:
        rest, aside = cut
        found.extend(_without(aside, kinds))
    return [rest, *found]


def _first_aside(clause: Clause, kinds: Sequence[Kind]) -> tuple[Clause, Clause] | None:
    frame = clause.frame
    if not any(x.is_comma for x in frame):
        return None
    main = main_verb(frame, subject_start(frame))
    if main is None:
        main = _verb_behind(frame)
    if main is None or sum(x.is_comma for x in frame[subject_start(frame) : main]) > _MAX_COMMAS:
        return None
    for comma in range(max(1, subject_start(frame)), len(frame) - 2):
        if not frame[comma].is_comma or not clause.can_cut(comma):
            continue
        if main < comma and open_clause(frame, main, comma):
            continue
        for kind in kinds:
            cut = parts(kind(clause, comma, main))
            if cut is not None and cut[0].covered and cut[1].covered:
                return cut
    return None


def _verb_behind(frame: Sequence[Word]) -> int | None:
    """The verb right after the second comma of "The gate, which is shut at night, leads ..."."""
    commas = [k for k, x in enumerate(frame[:-2]) if x.is_comma]
    if len(commas) < 2 or frame[commas[0] + 1].low in w.COORDINATORS:
        return None
    k = after_adverbs(frame, commas[1] + 1)
    return k if is_finite(frame, k, loose=True) else None
