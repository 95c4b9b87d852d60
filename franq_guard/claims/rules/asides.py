"""Stage: what stands between commas (relative clauses, appositions, participles) gets apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from franq_guard.claims.rules import appositions, relatives
from franq_guard.claims.rules.clause import Clause
from franq_guard.claims.rules.finite_verb import main_verb, subject_start
from franq_guard.claims.rules.standing import parts

Kind = Callable[[Clause, int, int], tuple[Clause, Clause] | None]

_KINDS = (
    relatives.when,
    relatives.relative,
    relatives.part_of,
    appositions.apposition,
    appositions.participle,
    appositions.followed,
    appositions.gerund,
    appositions.with_amount,
)
_EXAMPLES = (appositions.including,)


def without_asides(clause: Clause) -> list[Clause]:
    """The clause without its asides, then the asides."""
    return _without(clause, _KINDS)


def without_examples(clause: Clause) -> list[Clause]:
    """The clause without ", including ...", then what it includes."""
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
    main = main_verb(frame, subject_start(frame))
    if main is None:
        return None
    for comma in range(max(1, subject_start(frame)), len(frame) - 2):
        if not frame[comma].is_comma or not clause.can_cut(comma):
            continue
        for kind in kinds:
            cut = parts(kind(clause, comma, main))
            if cut is not None and cut[0].own and cut[1].own:
                return cut
    return None
