"""The log-probabilities that a server sent with its answer, as tokens of the answer's text."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence

from franq_guard.language_model.server.pieces import spans_of
from franq_guard.language_model.server.tokens import ServerToken
from franq_guard.records import Generation, Token


def server_generation(
    text: str, prompt: str | None, told: Sequence[ServerToken] = ()
) -> Generation:
    """``text`` with the server's tokens; without tokens and source if they spell another text.

    ``text`` may be a stripped or cut form of what the server wrote: tokens before and after it (a
    blank, a stop string, an end token) are left out, a token that is partly inside is cut. The ids
    are those that the server sent, -1 if it sent none.

    A token that is only part of a character has an empty span at the start of that character, so it
    counts with it (see :func:`franq_guard.claims.spans.token_indices`). A token that completes one
    character and begins another is merged with the tokens that complete the other, and their
    log-probabilities are summed, because their spans cannot be separated. If a server sends U+FFFD
    instead of the bytes of such a token, the character belongs to the last of its tokens.
    """
    tokens = tuple(_tokens(text, told)) or tuple(_searched(text, told)) if text else ()
    return Generation(text, tokens, prompt, source="server" if tokens else "none")


def _tokens(text: str, told: Sequence[ServerToken]) -> Iterator[Token]:
    pieces = list(_pieces(told))
    start = "".join(characters for characters, *_ in pieces).find(text)
    if start < 0:
        return
    size, at = len(text), -start
    for characters, logprob, id in pieces:
        begin, at = at, at + len(characters)
        part_of_a_character = not characters and begin == 0
        if (at > 0 or part_of_a_character) and begin < size:
            yield Token(id, max(begin, 0), min(at, size), logprob)


def _searched(text: str, told: Sequence[ServerToken]) -> Iterator[Token]:
    """The same if the bytes of partial characters are lost; needs the tokens of all of ``text``."""
    spans = spans_of([token.text.decode(errors="replace") for token in told], text)
    for (begin, end), token in zip(spans or (), told, strict=False):
        yield Token(token.id, begin, end, token.logprob)


def _pieces(told: Sequence[ServerToken]) -> Iterator[tuple[str, float, int]]:
    """(characters, log-probability, id): the characters that each token completes, maybe none.

    Merged tokens have no single id; theirs is -1.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    begun, carried, first = "", 0.0, 1
    for i, token in enumerate(told, 1):
        begun += decoder.decode(token.text, final=i == len(told))
        carried += token.logprob
        within_a_character = bool(decoder.getstate()[0])
        if not (begun and within_a_character):
            yield begun, carried, token.id if i == first else -1
            begun, carried, first = "", 0.0, i + 1
