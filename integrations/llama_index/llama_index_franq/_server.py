"""The log-probabilities that a server sent with its answer, as tokens of it."""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard import Token
from franq_guard.language_model.server.tokens import ServerToken


def tokens_of(text: str, told: Sequence[ServerToken]) -> tuple[Token, ...]:
    """``told`` as tokens that tile ``text``; empty where they do not spell it.

    ``text`` may be a stripped or cut form of what the server wrote. The ids are -1: a server does
    not tell them. Tokens that spell one character together become one token.
    """
    written, spelled = b"".join(token.text for token in told), text.encode()
    start = written.find(spelled)
    if start < 0 or not text:
        return ()
    tokens: list[Token] = []
    carried, done, begun, position = 0.0, 0, 0, -start
    for token in told:
        position += len(token.text)
        if position <= 0 or done == len(text):
            continue
        carried += token.logprob
        if more := _whole_characters(spelled[begun:position]):
            tokens.append(Token(-1, done, done + more, carried))
            carried, done, begun = 0.0, done + more, position
    return tuple(tokens)


def _whole_characters(spelled: bytes) -> int | None:
    """How many characters these bytes are; None where the last one is not complete."""
    try:
        return len(spelled.decode())
    except UnicodeDecodeError:
        return None
