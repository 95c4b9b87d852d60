"""Finds the characters of each token, if only the tokens' strings are known.

Servers send the tokens of a scored prompt as strings, in which a token with a part of a character
becomes U+FFFD, so its place has to be searched for. For answers that they write, most servers send
the bytes, and no search is needed: :mod:`franq_guard.capture.server_logprobs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from franq_guard.records import Span

_UNKNOWN = "\ufffd"
_FIRST = 64
"""The longest text of a first token that the server left out, in characters."""


def spans_of(pieces: Sequence[str], text: str, *, without_first: bool = False) -> list[Span] | None:
    """The characters of each piece; None if the pieces do not spell the text.

    Accepted are a token before the text (a server's own start token), one after it (an end token, a
    stop string) and, with ``without_first``, a missing first token. A token that is part of a
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
    """Where the first piece starts and each one ends; positions outside are clipped later."""
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
    """The same if some pieces are parts of characters: searches a path from piece to piece.

    For each piece it keeps the places where the piece may end, each with the earliest place where
    it may start (so that a character belongs to the last of its tokens).
    """
    starts = range(min(len(text), _FIRST) + 1 if without_first else 1)
    layers = [{start: start for start in starts}]
    for piece in pieces:
        reached: dict[int, int] = {}
        for start in sorted(layers[-1]):
            for end in _ends_of(piece, text, start):
                reached.setdefault(end, start)
        if len(layers) == 1:
            reached.setdefault(0, 0)  # a start token of the server's own
        if len(layers) == len(pieces) and len(text) in layers[-1]:
            reached.setdefault(len(text), len(text))  # an end token
        layers.append(reached)
    if len(text) not in layers[-1]:
        return None
    ends = [len(text)]
    for layer in reversed(layers[1:]):
        ends.append(layer[ends[-1]])
    return ends[::-1]


def _ends_of(piece: str, text: str, start: int) -> Iterable[int]:
    """Where a piece that starts at ``start`` may end.

    U+FFFD completes one character or none. Only characters beyond ASCII have parts in UTF-8. A
    piece without text is a part, too.
    """
    if _clear(piece):
        return (start + len(piece),) if text.startswith(piece, start) else ()
    ends = {start}
    for char in piece or _UNKNOWN:
        if char == _UNKNOWN:
            ends |= {end + 1 for end in ends if end < len(text) and not text[end].isascii()}
        else:
            ends = {end + 1 for end in ends if text.startswith(char, end)}
    return ends
