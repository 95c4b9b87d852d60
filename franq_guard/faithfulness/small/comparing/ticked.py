"""Reads from the ticks of a table, or its "yes" and "no", whether a claim about them is right.

"The Basic plan includes backups" has all its words in a table that says no to it, and a table's
"✗" is no word to an encoder.
"""

from __future__ import annotations

from typing import Final

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.comparing.grid import Grid, grids, split
from franq_guard.faithfulness.small.comparing.scales import base_form
from franq_guard.faithfulness.small.comparing.wording import DOUBTS
from franq_guard.faithfulness.small.words import NEGATIONS, STOPWORDS

_TICKS: Final = {
    **dict.fromkeys(("yes", "✓", "✔", "✅", "☑", "🗸"), True),
    **dict.fromkeys(("no", "✗", "✘", "❌", "✕", "✖"), False),
}
_DENIES: Final = word_set("not no without lack lacks t")
_NO_CASE: Final = DOUBTS - NEGATIONS
"""A claim with one of these may say something else than what a tick says."""
_LITTLE: Final = (STOPWORDS | {","}) - DOUBTS - {"than"}
_HAS: Final = frozenset(
    map(
        base_form,
        word_set(
            "include have has come offer support provide feature get contain available allow "
            "plan tier edition version model package option lack lacks without not no t s "
            "don doesn isn aren hasn haven"
        ),
    )
)
"""Words that only say of what kind a thing is and that it has something; parts of "doesn't"."""
_LONGEST: Final = 30
"""A claim of more words is not read."""


def ticked(claim: str, context: str) -> bool | None:
    """Whether the ticks of a table prove (True) or refute (False) a claim about its cells.

    None where that is not decided: the claim names no row or no column of ticks, or several of
    both, has a word beside these that is not understood, or one table proves what another one
    refutes.

    Args:
        claim: a sentence.
        context: the original text, with its tables as they are.
    """
    if "?" in claim:
        return None
    found = {right for grid in grids(context) if (right := _right(claim, grid)) is not None}
    return found.pop() if len(found) == 1 else None


def _right(claim: str, grid: Grid) -> bool | None:
    columns = [one for one in grid.columns if any(_tick(cell) is not None for cell in one.cells)]
    tokens = split(claim) if columns else []
    said = [token.text for token in tokens]
    denials = sum(word in _DENIES for word in said)
    if not 0 < len(said) <= _LONGEST or denials > 1 or _NO_CASE & {*said}:
        return None
    things = grid.things(tokens)
    named = {at for thing in things for at in range(thing.start, thing.end)}
    rest = [word for at, word in enumerate(said) if at not in named and word not in _LITTLE]
    forms = {*map(base_form, rest)}
    meant = [column for column in columns if column.names and column.names <= forms]
    meant = [one for one in meant if not any(one.names < other.names for other in meant)]
    if not forms <= _HAS.union(grid.kinds, *(column.words for column in meant)):
        return None
    labels = [column.head for column in meant] + [grid.names[thing.row] for thing in things]
    if any(map(_denies, (*labels, grid.title))):  # "No smoking: yes"
        return None
    rows = {thing.row for thing in things}
    if min(len(rows), len(meant)) != 1 or (denials and max(len(rows), len(meant)) > 1):
        return None  # "Basic has backups and Pro has support" pairs them in its own way
    ticks = {_tick(column.cells[row]) for column in meant for row in rows}
    if None in ticks:
        return None
    return ticks == {not denials}


def _denies(label: str) -> bool:
    return any(token.text in NEGATIONS for token in split(label))


def _tick(cell: str) -> bool | None:
    """What a cell says: yes, no, or neither."""
    return _TICKS.get(cell.strip(" .\ufe0f").lower())
