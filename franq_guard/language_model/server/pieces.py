"""Which characters of a text each token wrote, where only the tokens' own strings are known.

Servers tell the tokens of a prompt that they score as strings, in which a part of a character is
lost (U+FFFD): its place has to be searched for. What most tell of an answer that they write has the
bytes, and needs no search: :mod:`franq_guard.capture.server_logprobs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from franq_guard.records import Span

_UNKNOWN = "\ufffd"
_FIRST = 64
"""Characters that one untold token may have written."""


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
    """The same where some pieces are parts of characters: a path from piece to piece.

    For each piece the places it may end at are kept, each with the earliest place it may start at
    (so that a character falls to the last of its tokens).
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
    """Where a piece that starts there may end; U+FFFD completes one character beyond ASCII or none.

    Only those have parts (UTF-8). A piece without text is a part too.
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
