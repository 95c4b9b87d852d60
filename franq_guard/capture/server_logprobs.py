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
    """``text`` with the tokens that the server told; none, and no source, where they spell another.

    ``text`` may be a stripped or cut form of what the server wrote: tokens before and behind it (a
    blank, a stop string, an end token) are left out, one that reaches into it is cut. The ids are
    the told ones: -1 where the server does not tell them.

    A token that is only part of a character has an empty span where that character starts, so it
    counts with it (see :func:`franq_guard.claims.spans.token_indices`). One that completes a
    character and begins another is one token with those that complete the other, and their
    log-probabilities are summed: no span can be told apart there. Where a server tells U+FFFD
    instead of the bytes of such a token, the character counts with the last of its tokens.
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
    """The same where parts of characters lost their bytes; only for tokens of all the text."""
    spans = spans_of([token.text.decode(errors="replace") for token in told], text)
    for (begin, end), token in zip(spans or (), told, strict=False):
        yield Token(token.id, begin, end, token.logprob)


def _pieces(told: Sequence[ServerToken]) -> Iterator[tuple[str, float, int]]:
    """The characters that each token completes, none for a part of one; log-probability and id.

    Tokens that are one piece have no single id: -1.
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
