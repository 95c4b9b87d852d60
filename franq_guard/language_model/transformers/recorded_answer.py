"""The record of one generated sequence, and how to find it again by its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

from franq_guard.basics.text import place_of
from franq_guard.language_model.encoding import NAN, Encoder
from franq_guard.language_model.transformers.token_scores import TokenScores
from franq_guard.records import Generation, Source, Span, Token

BEGINNING = 3
"""The rank of a text that an answer begins with."""
_CONTAINED_FROM = 16
"""A beginning or part of a recorded text of at least this length is no coincidence."""


@dataclass(frozen=True)
class RecordedAnswer:
    """One answer as it was generated: its ids and the scores of each step.

    ``kept`` is None if the steps could not be observed; such an answer has to be scored again.
    ``decoded`` is the text of the ids where it is known already. ``ended_at`` is the time of
    ``time.monotonic`` at which it was complete.
    """

    encoder: Encoder
    prompt_ids: tuple[int, ...] | None
    ids: tuple[int, ...]
    kept: TokenScores | None
    decoded: str | None = None
    ended_at: float = inf

    @cached_property
    def text(self) -> str:
        """The answer without special tokens."""
        return self.encoder.text(self.ids) if self.decoded is None else self.decoded

    @cached_property
    def prompt(self) -> str | None:
        """The prompt with special tokens."""
        return None if self.prompt_ids is None else self.encoder.prompt_text(self.prompt_ids)

    @cached_property
    def plain_prompt(self) -> str:
        """The prompt without special tokens, as pipelines repeat it."""
        return "" if self.prompt_ids is None else self.encoder.text(self.prompt_ids)

    @cached_property
    def generation(self) -> Generation:
        """The whole answer; with source ``none`` and NaN if only the ids are known."""
        return self._with_spans(self.text)

    def close(self) -> None:
        """Free the tokens of :attr:`generation`, which are made again when they are asked for."""
        vars(self).pop("generation", None)

    def _with_spans(self, text: str) -> Generation:
        spans = self.encoder.vocabulary.spans(self.ids, text)
        source: Source = "none"
        tokens = tuple(Token(i, a, b, NAN) for i, (a, b) in zip(self.ids, spans, strict=True))
        if self.kept is not None:
            source, tokens = "captured", self.kept.tokens(list(self.ids), spans)
        return Generation(text, tokens, self.prompt, self.prompt_ids, source)

    def has_prompt(self, prompt: str, ids: Sequence[int]) -> bool:
        """Whether this is the prompt: by its ids (ignoring special tokens in front) or words."""
        if self.prompt_ids is None:
            return False
        head = len(self.prompt_ids) - len(ids)
        if self.prompt_ids[head:] == tuple(ids) and head >= 0:
            return all(map(self.encoder.is_special, self.prompt_ids[:head]))
        words = prompt.split()
        return words in ((self.prompt or "").split(), self.plain_prompt.split())

    @cached_property
    def _squeezed(self) -> str:
        return "".join(self.text.split())

    def rank(self, text: str, *, sure: bool) -> int | None:
        """How well ``text`` matches this answer; None if it does not.

        0 equal, 1 stripped, 2 with other white space, 3 cut off, 4 a part. ``sure``: the prompt is
        known to be the same; otherwise a short beginning may be a coincidence.
        """
        bare = text.strip()
        if text == self.text:
            return 0
        if not bare:
            return None
        if bare == self.text.strip():
            return 1
        long = len(bare) >= _CONTAINED_FROM
        # Before the comparison that takes all white space out of both: each part of a stream is
        # the beginning of an answer that goes on.
        if (long or sure) and self.text.lstrip().startswith(bare):
            return BEGINNING
        if "".join(bare.split()) == self._squeezed:
            return 2
        return 4 if long and bare in self.text else None

    def ends_with(self, text: str) -> bool:
        """Whether the answer ends with ``text``, as behind what a model thought before it."""
        return bool(text.strip()) and self.text.rstrip().endswith(text.strip())

    def without_prompt(self, text: str) -> str | None:
        """The rest of a text that begins with this record's prompt."""
        for prompt in (self.prompt, self.plain_prompt):
            bare = (prompt or "").strip()
            if bare and text.lstrip().startswith(bare):
                return text.lstrip()[len(bare) :]
        return None

    def as_text(self, text: str) -> Generation:
        """The generation with ``text`` (which has a rank) as its text, with adapted spans."""
        whole = self.generation
        if text == whole.text:
            return whole
        if text.strip() not in whole.text:  # other white space, as from a decoder's clean-up
            return self._with_spans(text)
        lead = len(text) - len(text.lstrip())
        shift = lead - place_of(text.strip(), whole.text)
        spans = [(t.start + shift, t.end + shift) for t in whole.tokens]
        first, last = _overlapping(spans, len(text))
        if text.strip() == whole.text.strip():
            last = len(spans)  # an end-of-sequence token has no text
        tokens = _tiled(whole.tokens[first:last], spans[first:last], len(text))
        return Generation(text, tokens, whole.prompt, whole.prompt_token_ids, whole.source)


def _overlapping(spans: Sequence[Span], length: int) -> tuple[int, int]:
    """The range of tokens for [0, length), including the first bytes of the first character."""
    inside = [i for i, (a, b) in enumerate(spans) if a < length and b > 0 and b > a]
    if not inside:
        return 0, 0
    first = inside[0]
    while first and spans[first - 1] == (spans[first][0], spans[first][0]) and spans[first][0] >= 0:
        first -= 1
    return first, inside[-1] + 1


def _tiled(tokens: Sequence[Token], spans: Sequence[Span], length: int) -> tuple[Token, ...]:
    """The tokens with spans clipped to [0, length); the first and last ones reach its ends."""
    ends = [min(max(b, 0), length) for _, b in spans]
    written = [i for i, (a, b) in enumerate(spans) if b > a]
    for i in range(written[-1] if written else 0, len(ends)):
        ends[i] = length
    starts = [0, *ends[:-1]]
    return tuple(
        Token(t.id, a, b, t.logprob, t.entropy, t.top)
        for t, a, b in zip(tokens, starts, ends, strict=True)
    )
