"""Stage: what stands between commas (relative clauses, appositions, participles) gets apart."""

from __future__ import annotations

from franq_guard.claims.rules import appositions, relatives
from franq_guard.claims.rules.clause import Clause
from franq_guard.claims.rules.finite_verb import main_verb, subject_start

_KINDS = (
    relatives.when,
    relatives.relative,
    relatives.part_of,
    appositions.apposition,
    appositions.participle,
    appositions.followed,
    appositions.gerund,
    appositions.including,
    appositions.with_amount,
)


def without_asides(clause: Clause) -> list[Clause]:
    """The clause without its asides, then the asides."""
    found: list[Clause] = []
    rest = clause
    while (cut := _first_aside(rest)) is not None:
        rest, aside = cut
        found.extend(without_asides(aside))
    return [rest, *found]


def _first_aside(clause: Clause) -> tuple[Clause, Clause] | None:
    frame = clause.frame
    main = main_verb(frame, subject_start(frame))
    if main is None:
        return None
    for comma in range(max(1, subject_start(frame)), len(frame) - 2):
        if not frame[comma].is_comma or not clause.can_cut(comma):
            continue
        for kind in _KINDS:
            cut = kind(clause, comma, main)
            if cut is not None and cut[0].own and cut[1].own:
                return cut
    return None
