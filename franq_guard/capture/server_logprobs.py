"""The log-probabilities that a server sent with its answer, as tokens of the answer's text."""

from __future__ import annotations

import codecs
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from threading import Lock

from franq_guard.basics.text import place_of
from franq_guard.language_model.server.pieces import spans_of
from franq_guard.language_model.server.tokens import ServerToken
from franq_guard.records import Generation, Token


def server_generation(text: str, prompt: str | None, sent: Sequence[ServerToken]) -> Generation:
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
    tokens = tuple(_tokens(text, sent)) or tuple(_searched(text, sent)) if text else ()
    return Generation(text, tokens, prompt, source="server" if tokens else "none")


class GrowingServerText:
    """The tokens of an answer that is still being written, each read once; thread-safe.

    A stream of claims asks for the tokens of each part: to read all of them each time would take
    quadratic time.
    """

    def __init__(self) -> None:
        self.sent: list[ServerToken] = []
        self._lock = Lock()
        self._text, self._read, self._known = "", 0, list[Token]()
        self._pieces = _Pieces()

    def add(self, sent: Iterable[ServerToken]) -> None:
        """Add what the server has sent since."""
        self.sent.extend(sent)

    def generation(self, text: str, prompt: str | None) -> Generation:
        """As :func:`server_generation`, for a ``text`` that the answer so far begins with."""
        with self._lock:
            self._read_on()
            if not text or not self._text.startswith(text):
                return server_generation(text, prompt, tuple(self.sent))
            upto = bisect_left(self._known, len(text), key=lambda token: token.start)
            tokens = self._known[:upto]
            if tokens and tokens[-1].end > len(text):
                tokens[-1] = replace(tokens[-1], end=len(text))
            return Generation(text, tuple(tokens), prompt, source="server")

    def _read_on(self) -> None:
        new = self.sent[self._read :]
        self._read += len(new)
        for token in new:
            for characters, logprob, id in self._pieces.add(token):
                begin = len(self._text)
                self._text += characters
                self._known.append(Token(id, begin, begin + len(characters), logprob))


def _tokens(text: str, sent: Sequence[ServerToken]) -> Iterator[Token]:
    pieces = list(_pieces(sent))
    start = place_of(text, "".join(characters for characters, *_ in pieces))
    if start < 0:
        return
    size, at = len(text), -start
    for characters, logprob, id in pieces:
        begin, at = at, at + len(characters)
        part_of_a_character = not characters and begin == 0
        if (at > 0 or part_of_a_character) and begin < size:
            yield Token(id, max(begin, 0), min(at, size), logprob)


def _searched(text: str, sent: Sequence[ServerToken]) -> Iterator[Token]:
    """The same if the bytes of partial characters are lost; needs the tokens of all of ``text``."""
    spans = spans_of([token.text.decode(errors="replace") for token in sent], text)
    for (begin, end), token in zip(spans or (), sent, strict=False):
        yield Token(token.id, begin, end, token.logprob)


def _pieces(sent: Sequence[ServerToken]) -> Iterator[tuple[str, float, int]]:
    """(characters, log-probability, id): the characters that each token completes, maybe none.

    Merged tokens have no single id; theirs is -1.
    """
    pieces = _Pieces()
    for i, token in enumerate(sent, 1):
        yield from pieces.add(token, final=i == len(sent))


class _Pieces:
    """Decodes tokens one after the other."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun, self._carried, self._merged = "", 0.0, 0

    def add(self, token: ServerToken, *, final: bool = False) -> Iterator[tuple[str, float, int]]:
        self._begun += self._decoder.decode(token.text, final=final)
        self._carried += token.logprob
        self._merged += 1
        within_a_character = bool(self._decoder.getstate()[0])
        if not (self._begun and within_a_character):
            yield self._begun, self._carried, token.id if self._merged == 1 else -1
            self._begun, self._carried, self._merged = "", 0.0, 0
