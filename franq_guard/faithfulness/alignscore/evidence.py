"""Finds the text that supports a claim best: first the best chunk, then a sentence in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from franq_guard.basics.text import trimmed
from franq_guard.faithfulness.alignscore.pair_grid import Grid
from franq_guard.records import Evidence, Span

Tables = Callable[[Sequence[str], Sequence[str]], list[tuple[Grid, NDArray[np.float64]]]]
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Support:
    """The chunk and the sentence that support a claim best.

    Attributes:
        chunk: the chunk that the model read. If it spans several passages, only the part in the
            passage of `sentence`; its score is still that of the whole chunk.
        sentence: the sentence in it; its score is that of the sentence alone.
    """

    chunk: Evidence
    sentence: Evidence


@dataclass(frozen=True, slots=True)
class _Candidate:
    """One sentence of a claim's best chunk. The spans are ranges of the passage `passage`."""

    passage: int
    span: Span
    chunk: Span
    chunk_score: float
    text: str


def find_support(
    texts: Sequence[str],
    claims: Sequence[str],
    *,
    contexts: Sequence[str],
    tables: Tables,
    sentences: Callable[[str], list[Span]],
    shortlist: int | None,
) -> list[Support | None]:
    """The best support of each of the n claims in the passages `texts`.

    Args:
        texts: the passages.
        claims: the claims.
        contexts: what the model reads: the passages one by one, or all joined by newlines as one.
        tables: function from contexts and claims to grids and their scores (rows, columns).
        sentences: function from a context to the ranges of its sentences.
        shortlist: how many sentences of a chunk to score; None: all.
    """
    if not any(text.strip() for text in texts):
        tables([""] * len(claims), claims)  # raises for empty claims
        return [None] * len(claims)
    places = _places(texts, joined=len(contexts) != len(texts))
    repeated = [claim for claim in claims for _ in contexts]
    scored = tables(list(contexts) * len(claims), repeated)
    found: list[list[_Candidate]] = []
    for index, claim in enumerate(claims):
        own = scored[index * len(contexts) : (index + 1) * len(contexts)]
        where, row, score = _best_row(own, contexts)
        chunk = own[where][0].spans[row]
        inside = [p for p in places if p[0] == where]
        spans = [span for span in sentences(contexts[where]) if _overlap(span, chunk)]
        options = [_candidate(span, chunk, score, inside, contexts[where]) for span in spans]
        found.append(_shortlist([c for c in options if c.text], claim, shortlist))
    return _choose(found, claims, tables)


def _choose(
    found: list[list[_Candidate]], claims: Sequence[str], tables: Tables
) -> list[Support | None]:
    repeated = [claim for own, claim in zip(found, claims, strict=True) for _ in own]
    scored = tables([candidate.text for own in found for candidate in own], repeated)
    scores = iter([_share(table.max(axis=0).mean()) for _, table in scored])
    results: list[Support | None] = []
    for own in found:
        ranked = [(next(scores), -i, candidate) for i, candidate in enumerate(own)]
        if not ranked:
            results.append(None)
            continue
        score, _, best = max(ranked)
        chunk = Evidence(best.passage, *best.chunk, _share(best.chunk_score))
        results.append(Support(chunk, Evidence(best.passage, *best.span, score)))
    return results


_Place = tuple[int, int, int, int]
"""(context, passage, start, end): the range of a context that a passage fills."""


def _places(texts: Sequence[str], *, joined: bool) -> list[_Place]:
    if not joined:
        return [(i, i, 0, len(text)) for i, text in enumerate(texts)]
    starts = accumulate((len(text) + 1 for text in texts), initial=0)
    return [
        (0, i, at, at + len(text)) for i, (at, text) in enumerate(zip(starts, texts, strict=False))
    ]


def _best_row(
    tables: list[tuple[Grid, NDArray[np.float64]]], contexts: Sequence[str]
) -> tuple[int, int, float]:
    """Context, row and score of the non-empty row with the highest mean over the claim's pieces."""
    means = []
    for (grid, table), context in zip(tables, contexts, strict=True):
        has_text = [bool(context[start:end].strip()) for start, end in grid.spans]
        means.append(np.where(has_text, table.mean(axis=1), -np.inf))
    where = int(np.argmax([mean.max() for mean in means]))
    row = int(means[where].argmax())
    return where, row, float(means[where][row])


def _candidate(
    span: Span, chunk: Span, score: float, places: list[_Place], context: str
) -> _Candidate:
    """The part of a sentence in one passage: a splitter may join text from two passages."""
    inside = (max(span[0], chunk[0]), min(span[1], chunk[1]))
    _, passage, start, end = max(places, key=lambda place: _overlap(inside, place[2:]))
    if inside == chunk:  # a text without sentence marks, read in windows
        span = chunk
    sentence, part = (
        trimmed(context, max(low, start), min(high, end)) for low, high in (span, chunk)
    )
    return _Candidate(
        passage,
        span=(sentence[0] - start, sentence[1] - start),
        chunk=(part[0] - start, part[1] - start),
        chunk_score=score,
        text=context[slice(*sentence)],
    )


def _shortlist(options: list[_Candidate], claim: str, count: int | None) -> list[_Candidate]:
    """The `count` candidates that share the most words with the claim, in text order."""
    if count is None or len(options) <= count:
        return options
    words = set(_WORD.findall(claim.casefold()))
    shared = [len(words.intersection(_WORD.findall(c.text.casefold()))) for c in options]
    kept = sorted(range(len(options)), key=lambda i: -shared[i])[:count]
    return [options[i] for i in sorted(kept)]


def _overlap(a: Span, b: Span) -> int:
    return max(min(a[1], b[1]) - max(a[0], b[0]), 0)


def _share(score: float) -> float:
    return float(min(max(score, 0.0), 1.0))
