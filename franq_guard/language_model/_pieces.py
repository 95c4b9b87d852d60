"""Which characters of a text each token wrote, where only the tokens' own strings are known."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise

from franq_guard.records import Span

_UNKNOWN = "\ufffd"


def spans_of(pieces: Sequence[str], text: str, *, without_first: bool = False) -> list[Span] | None:
    """Characters of each piece; None where the pieces do not spell the text.

    A token before the text (a server's own start token), one after it (an end token, a stop
    string) and, ``without_first``, an untold first token are all right. A token that is part of a
    character has no text of its own (U+FFFD, or nothing): the character belongs to the last of its
    tokens.
    """
    if not pieces or not text:
        return None
    ends = _plain_ends(pieces, text, without_first)
    if ends is None and not all(map(_clear, pieces)):
        ends = _ends_around_parts(pieces, text, without_first)
    if ends is None:
        return None
    return list(pairwise(min(max(end, 0), len(text)) for end in ends))


def _clear(piece: str) -> bool:
    return bool(piece) and _UNKNOWN not in piece


def _plain_ends(pieces: Sequence[str], text: str, without_first: bool) -> list[int] | None:
    """Where the first piece starts and each ends; positions outside the text are clipped later."""
    joined = "".join(pieces)
    lead = 0
    if joined.endswith(text) or (without_first and text.endswith(joined)):
        lead = len(text) - len(joined)
    elif not joined.startswith(text):
        return None
    ends = [lead]
    for piece in pieces:
        ends.append(ends[-1] + len(piece))
    return ends


def _ends_around_parts(pieces: Sequence[str], text: str, without_first: bool) -> list[int] | None:
    """The same where some pieces are parts of characters; a piece around the text may be extra."""
    size = len(text)
    return (
        _walk(pieces, text, without_first)
        or _framed(_walk(pieces[1:], text, without_first), [0], [])
        or _framed(_walk(pieces[:-1], text, without_first), [], [size])
    )


def _framed(ends: list[int] | None, before: list[int], after: list[int]) -> list[int] | None:
    return None if ends is None else [*before, *ends, *after]


def _walk(pieces: Sequence[str], text: str, without_first: bool) -> list[int] | None:
    """Pieces that can be read stand in the text in their order; the others fill what is between.

    Only characters beyond ASCII have parts, four at most (UTF-8).
    """
    ends, done, owed, least = [0], 0, 0, 0
    for clear, group in groupby(pieces, key=_clear):
        run = list(group)
        if not clear:
            owed = len(run)
            least = -(-sum(map(bool, run)) // 4)
            continue
        at = _find(text, "".join(run), done, least if owed else 0, free=without_first and not done)
        if at is None or (at > done and not owed and not (without_first and not done)):
            return None
        if owed:
            ends += [done] * (owed - 1) + [at]
        else:
            ends[-1] = at
        owed = 0
        for piece in run:
            at += len(piece)
            ends.append(at)
        done = at
    if owed:
        ends += [done] * (owed - 1) + [len(text)]
    rest = text[done:]
    return ends if not rest or (owed and not rest[0].isascii()) else None


def _find(text: str, run: str, start: int, least: int, *, free: bool) -> int | None:
    """Where ``run`` stands next: ``least`` or more characters beyond ASCII (``free``: any) on."""
    at = text.find(run, start + least)
    if at < 0 or not (free or all(not c.isascii() for c in text[start:at])):
        return None
    return at
