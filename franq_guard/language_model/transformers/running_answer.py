"""The answer of a call of ``generate`` that is still running."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from threading import RLock

from franq_guard.language_model.encoding import Encoder
from franq_guard.language_model.transformers.recorded_answer import RecordedAnswer
from franq_guard.language_model.transformers.recorded_call import RecordedCall
from franq_guard.records import Generation, Token

_CONTEXT = 4
"""How many tokens before the new ones are decoded with them, for the blank between two words."""
_BYTES = 4
"""A character has up to so many bytes (UTF-8), so fewer tokens than this may wait for its rest."""
_INCOMPLETE = "\ufffd"


class RunningAnswer:
    """One answer that is still being written, found by its text as :class:`RecordedAnswer` is.

    A stream asks for it at every part. Therefore each token is decoded only when it is new, and
    tokens at the end that are part of a character wait for the rest of it. Where the decoded text
    is not that of the tokens one after the other (a tokeniser that cleans up its text), the whole
    answer is decoded each time. Thread-safe.

    Args:
        encoder: of the model.
        call: the call of ``generate``, with one answer.
        prompt_ids: of its prompt.
    """

    def __init__(
        self, encoder: Encoder, call: RecordedCall, prompt_ids: tuple[int, ...] | None
    ) -> None:
        self._encoder = encoder
        self._call = call
        self._asked = RecordedAnswer(encoder, prompt_ids, (), None)
        self._lock = RLock()
        self._read: list[Token] = []  # all tokens that are known; spans are set when decoded
        self._spelled = True
        self._text, self._tokens = "", list[Token]()  # of the complete characters
        self._shift, self._shifted = 0, list[Token]()

    ended_at = inf

    def has_prompt(self, prompt: str, ids: Sequence[int]) -> bool:
        """As :meth:`RecordedAnswer.has_prompt`."""
        return self._asked.has_prompt(prompt, ids)

    def without_prompt(self, text: str) -> str | None:
        """As :meth:`RecordedAnswer.without_prompt`."""
        return self._asked.without_prompt(text)

    def rank(self, text: str, *, sure: bool) -> int | None:
        """As :meth:`RecordedAnswer.rank`, for the answer so far."""
        with self._lock:
            return self._now(text).rank(text, sure=sure)

    def as_text(self, text: str) -> Generation:
        """As :meth:`RecordedAnswer.as_text`, for the answer so far."""
        with self._lock:
            now = self._now(text)
            if not self._spelled:
                return now.as_text(text)
            tokens = self._beginning(text, now.text)
        if tokens is None:
            return self._whole(text).as_text(text)
        asked = self._asked
        return Generation(text, tokens, asked.prompt, asked.prompt_ids, "captured")

    def _whole(self, text: str) -> RecordedAnswer:
        """The answer so far, decoded as a whole.

        If ``text`` is found without the bytes of an incomplete last character, these are left out:
        some decoders change what stands before a character while a byte of it is missing.
        """
        ((prompt_ids, ids, kept),) = self._call.so_far()
        whole = complete = RecordedAnswer(self._encoder, prompt_ids, ids, kept)
        for upto in range(len(ids) - 1, max(0, len(ids) - _BYTES), -1):
            if not complete.text.endswith(_INCOMPLETE):
                break
            rows = None if kept is None else kept.rows(slice(upto))
            complete = RecordedAnswer(self._encoder, prompt_ids, ids[:upto], rows)
        return whole if complete.rank(text, sure=True) is None else complete

    def _now(self, text: str) -> RecordedAnswer:
        """The answer so far, for comparing its text with ``text``."""
        for row in self._call.so_far(len(self._read)):
            if row.kept is not None:
                self._read.extend(row.kept.tokens(list(row.ids), [(0, 0)] * len(row.ids)))
        rest = self._decode() if self._spelled else None
        if rest is None:
            return self._whole(text)
        return RecordedAnswer(self._encoder, self._asked.prompt_ids, (), None, self._text + rest)

    def _decode(self) -> str | None:
        """Decode the new tokens; returns the text of those that are part of a character.

        None if the tokens cannot be told from the text.
        """
        new = [token.id for token in self._read[len(self._tokens) :]]
        if not new:
            return ""
        context = [token.id for token in self._tokens[self._context() :]]
        before = self._encoder.text(context) if context else ""
        both = everything = self._encoder.text([*context, *new])
        ids = new
        while ids and both.endswith(_INCOMPLETE):
            ids = ids[:-1]
            if len(new) - len(ids) == _BYTES:
                return None
            both = self._encoder.text([*context, *ids]) if ids else before
        self._spelled = both.startswith(before) and (not ids or self._add(ids, both[len(before) :]))
        if not self._spelled:
            return None
        # Some decoders change the whole character, and those before it, while a byte is missing.
        return everything[len(both) :] if everything.startswith(both) else _INCOMPLETE

    def _context(self) -> int:
        """The first token to decode together with new ones; it begins a character."""
        first = max(0, len(self._tokens) - _CONTEXT)
        while first and self._tokens[first - 1].start == self._tokens[first - 1].end:
            first -= 1
        return first

    def _add(self, ids: list[int], text: str) -> bool:
        """Set the spans of the next tokens, which add ``text``; False if they do not spell it."""
        done, base = len(self._tokens), len(self._text)
        spans = self._encoder.vocabulary.spelled(ids, text, first=not done)
        if spans is None:
            return False
        for token, (start, end) in zip(self._read[done:], spans, strict=False):
            self._tokens.append(replace(token, start=base + start, end=base + end))
        self._text += text
        return True

    def _beginning(self, text: str, so_far: str) -> tuple[Token, ...] | None:
        """The tokens of ``text`` if the answer begins with it, with the spans that fit it."""
        bare, size = text.strip(), len(text)
        blank = len(self._text) - len(self._text.lstrip())
        if not bare or not self._text.startswith(bare, blank):
            return None
        shift = size - len(text.lstrip()) - blank
        if so_far != self._text and size > len(self._text) + shift:
            return None  # it ends within a character that is not complete yet
        moved, first = self._moved(shift), self._first(shift)
        last = len(moved)
        if bare != so_far.strip():
            last = bisect_left(moved, size, key=lambda token: token.start)
            last = _last_written(moved, last) + 1
        return _ending_at(moved[first:last], size)

    def _moved(self, shift: int) -> list[Token]:
        """The tokens with their spans moved by ``shift``; each is moved only once."""
        if not shift:
            return self._tokens
        if shift != self._shift:
            self._shift, self._shifted = shift, []
        for t in self._tokens[len(self._shifted) :]:
            start = t.start + shift if self._shifted else 0  # the first one begins the text
            self._shifted.append(replace(t, start=max(0, start), end=max(0, t.end + shift)))
        return self._shifted

    def _first(self, shift: int) -> int:
        """The first token of a text that begins ``-shift`` characters after the answer's start."""
        if shift >= 0:
            return 0
        first = bisect_left(self._tokens, 1 - shift, key=lambda token: token.end)
        while first and self._tokens[first - 1].start == self._tokens[first].start == -shift:
            first -= 1
        return first


def _last_written(tokens: Sequence[Token], stop: int) -> int:
    """The last token before ``stop`` with text of its own."""
    return next((i for i in reversed(range(stop)) if tokens[i].end > tokens[i].start), 0)


def _ending_at(tokens: Sequence[Token], size: int) -> tuple[Token, ...]:
    """The tokens with the end of the last written one, and of those after it, at ``size``."""
    cut = bisect_left(tokens, size, key=lambda token: token.end)
    cut = min(cut, _last_written(tokens, len(tokens)))
    ends = [
        replace(token, start=size if i else min(token.start, size), end=size)
        for i, token in enumerate(tokens[cut:])
    ]
    return (*tokens[:cut], *ends)
