"""Turns (context, claim) into the grid of token pairs AlignScore scores: chunks x claim sentences.

There are two ways to handle text that exceeds the model's window. By default it is cut into windows
at word boundaries, so that every word of a context is read and no score depends on other pairs.
With `exact`, as in the original, the end of a long chunk is dropped, and a claim sentence that is
too long for the window changes how the other pairs of its mini-batch of 32 are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from franq_guard.basics.text import without_surrogates
from franq_guard.faithfulness.alignscore.chunks import (
    Chunk,
    Splitter,
    chunks,
    sentence_spans,
    whole,
)
from franq_guard.faithfulness.alignscore.pair_scorer import SPECIALS, Ids, Pair, Piece
from franq_guard.records import Span

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

_MINI_BATCH: Final = 32  # the original's default batch size
_Cut = Callable[[int, int, NDArray[np.int32]], list[Span]]


@dataclass(frozen=True, slots=True)
class Grid:
    """The pairs of one (context, claim), row by row.

    Attributes:
        pairs: rows * columns pairs.
        columns: number of claim pieces.
        spans: for each row, the range of the context that it covers.
    """

    pairs: list[Pair]
    columns: int
    spans: list[Span]


@dataclass(frozen=True)
class _Tokens:
    """One tokenised text."""

    text: str
    ids: Ids
    offsets: NDArray[np.int32]
    _pieces: dict[Span, Piece] = field(default_factory=dict)

    def piece(self, start: int, end: int) -> Piece:
        if (start, end) not in self._pieces:
            self._pieces[start, end] = Piece.of(self.ids[start:end])
        return self._pieces[start, end]

    def spans(self, most: int, cut: _Cut) -> list[Span]:
        """The whole text if it has at most `most` tokens, else the ranges that `cut` returns."""
        size = len(self.ids)
        return [(0, size)] if size <= most else cut(size, most, self._words)

    @cached_property
    def _words(self) -> NDArray[np.int32]:
        """Indices of the tokens that begin a word."""
        starts = self.offsets[:, 0]
        # Depending on the tokenizer, the space before a word is part of its first token or of none.
        first = [s == 0 or any(map(str.isspace, self.text[s - 1 : s + 1])) for s in starts]
        return np.flatnonzero(first).astype(np.int32)


class GridBuilder:
    """Builds grids; each distinct chunk and sentence of a call is tokenised only once.

    Args:
        tokenizer: that of the backbone; it is copied.
        splitter: function from a text to its sentences.
        window: most tokens in a sequence that the model can read.
        exact: cut as the original does, and read ``</s>`` in a text as the special token.
    """

    def __init__(
        self, tokenizer: Tokenizer, splitter: Splitter, *, window: int, exact: bool
    ) -> None:
        tokenizer = type(tokenizer).from_str(tokenizer.to_str())
        tokenizer.no_truncation()
        tokenizer.no_padding()
        # Otherwise a passage that contains "</s></s>" could fake the boundary before the claim.
        tokenizer.encode_special_tokens = not exact
        self._tokenizer = tokenizer
        self._splitter = splitter
        self._room = window - SPECIALS
        self._exact = exact

    def sentences(self, text: str) -> list[Span]:
        """Ranges of the sentences of `text`."""
        return sentence_spans(without_surrogates(text), self._splitter)

    def __call__(self, items: Sequence[tuple[str, str]], *, split: bool) -> list[Grid]:
        """The grids of n (context, claim) items.

        With `split`, contexts are cut into chunks and claims into sentences (the ``*_sp`` modes);
        otherwise each text is one piece.
        """
        contexts = {
            context: self._chunks(without_surrogates(context), split) for context, _ in items
        }
        claims = {claim: self._claim(without_surrogates(claim), split) for _, claim in items}
        texts = {chunk.text for parts in contexts.values() for chunk in parts}
        tokens = self._tokenise(texts.union(*claims.values()))
        build = self._cut if self._exact else self._windowed
        return [
            build(contexts[context], [tokens[part] for part in claims[claim]], tokens)
            for context, claim in items
        ]

    def _chunks(self, text: str, split: bool) -> list[Chunk]:
        return chunks(text, self._splitter) if split else [whole(text)]

    def _claim(self, text: str, split: bool) -> list[str]:
        spans = sentence_spans(text, self._splitter) if split else []
        return [text[a:b] for a, b in spans] or [text]

    def _tokenise(self, texts: Iterable[str]) -> dict[str, _Tokens]:
        ordered = sorted(texts)
        encoded = self._tokenizer.encode_batch(ordered, add_special_tokens=False)
        return {text: _tokens(text, one) for text, one in zip(ordered, encoded, strict=True)}

    def _windowed(
        self, parts: list[Chunk], claim: list[_Tokens], tokens: dict[str, _Tokens]
    ) -> Grid:
        longest = max(len(tokens[chunk.text].ids) for chunk in parts)
        fits = longest + max(len(one.ids) for one in claim) <= self._room
        limit = self._room if fits else self._room // 2
        columns = [one.piece(*span) for one in claim for span in one.spans(limit, stretches)]
        room = self._room - max(len(column.ids) for column in columns)
        pairs, spans = [], []
        for chunk in parts:
            one = tokens[chunk.text]
            for start, end in one.spans(room, windows):
                pairs += [(one.piece(start, end), column) for column in columns]
                spans.append(_source(chunk, one, start, end))
        return Grid(pairs, len(columns), spans)

    def _cut(self, parts: list[Chunk], claim: list[_Tokens], tokens: dict[str, _Tokens]) -> Grid:
        full = [(tokens[chunk.text], sentence) for chunk in parts for sentence in claim]
        pairs: list[Pair] = []
        for i in range(0, len(full), _MINI_BATCH):
            pairs += self._cut_mini_batch(full[i : i + _MINI_BATCH])
        spans = []
        for chunk in parts:
            one = tokens[chunk.text]
            spans.append(_source(chunk, one, 0, min(len(one.ids), self._room)))
        return Grid(pairs, len(claim), spans)

    def _cut_mini_batch(self, batch: list[tuple[_Tokens, _Tokens]]) -> list[Pair]:
        """Cut only the contexts; if that is not enough for some pair, cut all longest first."""
        sizes = [(len(a.ids), len(b.ids)) for a, b in batch]
        if all(n + m <= self._room or m < self._room for n, m in sizes):
            kept = [(min(n, self._room - m), m) for n, m in sizes]
        else:
            kept = [_longest_first(n, m, self._room) for n, m in sizes]
        return [(a.piece(0, n), b.piece(0, m)) for (a, b), (n, m) in zip(batch, kept, strict=True)]


def windows(length: int, room: int, words: NDArray[np.int32]) -> list[Span]:
    """Overlapping ranges of at most `room` tokens that cover `length` > `room`, evenly spread.

    Neighbouring windows overlap by about a quarter of `room`, so that text at the edge of one is
    inside the other. They begin and end at `words` (ascending indices of tokens that begin a word).
    """
    slack = room // 16
    size = room - slack
    last = -(-(length - size) // (size - room // 4))  # index of the last window
    begins = [i * (length - size) // last for i in range(last + 1)]
    ends = [_snap(begin + size, slack, words) for begin in begins[:-1]] + [length]
    return [(_snap(begin, slack, words), end) for begin, end in zip(begins, ends, strict=True)]


def stretches(length: int, limit: int, words: NDArray[np.int32]) -> list[Span]:
    """Adjacent ranges, about equally long, of at most `limit` < `length` tokens, in whole words."""
    slack = limit // 8
    parts = -(-length // (limit - slack))
    cuts = [_snap(i * length // parts, slack, words) for i in range(parts)] + [length]
    return list(pairwise(cuts))


def _snap(position: int, slack: int, words: NDArray[np.int32]) -> int:
    """The last word start up to `position`; `position` itself if that is over `slack` away."""
    index = int(np.searchsorted(words, position, side="right")) - 1
    near = int(words[index]) if index >= 0 else 0
    return near if position - near <= slack else position


def _longest_first(n: int, m: int, room: int) -> Span:
    """The two lengths after the tokenizers library's "longest first" truncation of a pair."""
    if n + m <= room:
        return n, m
    short = min(n, m)
    if 2 * short > room:
        low = room // 2
        return (low, room - low) if n <= m else (room - low, low)
    return (n, room - n) if n <= m else (room - m, m)


def _source(chunk: Chunk, tokens: _Tokens, start: int, end: int) -> Span:
    if start == end:
        return (0, 0)
    return chunk.source(int(tokens.offsets[start, 0]), int(tokens.offsets[end - 1, 1]))


def _tokens(text: str, encoded: Encoding) -> _Tokens:
    offsets = np.array(encoded.offsets, dtype=np.int32).reshape(-1, 2)
    return _Tokens(text, np.array(encoded.ids, dtype=np.int32), offsets)
