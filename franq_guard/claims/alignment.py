"""Finds the words of a claim in an answer."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from franq_guard.basics.text import common_start
from franq_guard.claims.word_keys import Key, keys
from franq_guard.records import Span

ALIGNED = 0.6
"""Below this score the words count as not found, and callers use the whole sentence."""

_MAX_CLAIM = 300  # how many words of a claim are aligned
_GAP = 0.04  # cost of each unmatched word of the answer between two matched ones
_MOVED = 0.85  # weight of a match that is out of order
_ELSEWHERE = 0.5  # weight of a word found only outside the window (such as a subject before it)
_SIMILAR = 0.8  # weight of a match of words that only have a long common beginning


@dataclass(frozen=True, slots=True)
class Alignment:
    """Where a claim's words are. ``spans``: ordered ranges of the answer that contain them.

    ``score`` in [0, 1]: the share of the claim's words that were found, weighted: function words
    have a low weight; words out of order, or with an inflection that the stemmer cannot undo, count
    less.
    """

    spans: tuple[Span, ...]
    score: float


def align(claim_text: str, answer: str, *, within: Span | None = None) -> Alignment:
    """The words of ``answer`` (of ``answer[slice(*within)]`` if given) that state ``claim_text``.

    Case, punctuation, number formats and inflection do not matter; words may be missing, there may
    be others between them, and their order may differ. Dynamic programming over the stretch of the
    answer that shares most words with the claim: O(n log n) for an answer of n words and a claim of
    fixed length.
    """
    return Index(answer).align(claim_text, within=within)


class Index:
    """The words of one answer, indexed once for many alignments."""

    def __init__(self, answer: str) -> None:
        self._words = keys(answer)
        self._starts = [word.start for word in self._words]
        self._places: dict[str, list[int]] = {}
        for k, word in enumerate(self._words):
            self._places.setdefault(word.key, []).append(k)

    def align(self, claim_text: str, *, within: Span | None = None) -> Alignment:
        """See :func:`align`."""
        claim = keys(claim_text)[:_MAX_CLAIM]
        total = sum(word.weight for word in claim)
        if not claim or not self._words:
            return Alignment((), 0.0)
        low, high = self._bounds(within)
        window = self._words[slice(*self._window(claim, low, high))]
        matched, found = _matches(claim, window)
        score = sum(found.values())
        score += sum(
            _ELSEWHERE * word.weight
            for i, word in enumerate(claim)
            if i not in found and word.weight >= 1 and word.key in self._places
        )
        return Alignment(_spans(window, matched), min(1.0, score / total))

    def _bounds(self, within: Span | None) -> tuple[int, int]:
        if within is None:
            return 0, len(self._words)
        return bisect_left(self._starts, within[0]), bisect_left(self._starts, within[1])

    def _window(self, claim: Sequence[Key], low: int, high: int) -> tuple[int, int]:
        """The stretch, at most about three claims long, that shares most words with the claim."""
        size = 3 * len(claim) + 12
        if high - low <= size:
            return low, high
        weights = {word.key: word.weight for word in claim}
        hits = sorted(
            k
            for key, weight in weights.items()
            if weight >= 1
            for k in self._places.get(key, ())
            if low <= k < high
        )
        best, start, left = -1.0, low, 0
        inside: Counter[str] = Counter()
        held = 0.0
        for k in hits:
            key = self._words[k].key
            held += weights[key] if not inside[key] else 0.0
            inside[key] += 1
            while k - hits[left] >= size:
                old = self._words[hits[left]].key
                inside[old] -= 1
                held -= weights[old] if not inside[old] else 0.0
                left += 1
            compact = held - 0.001 * (k - hits[left])
            if compact > best:
                best, start = compact, (hits[left] + k - size) // 2
        start = min(max(low, start), max(low, high - size))
        return start, min(high, start + size)


def _matches(claim: Sequence[Key], window: Sequence[Key]) -> tuple[list[int], Mapping[int, float]]:
    """The matched positions of the window, and the weight of each matched word of the claim."""
    pairs = _in_order(claim, window)
    found = {i: claim[i].weight * worth for i, _, worth in pairs}
    used = {j for _, j, _ in pairs}
    for i, word in enumerate(claim):
        if i in found or word.weight < 1:
            continue
        free = [
            (abs(j - i), j) for j, x in enumerate(window) if j not in used and x.key == word.key
        ]
        if free:
            used.add(min(free)[1])
            found[i] = _MOVED * word.weight
    return _near_content(window, sorted(used)), found


def _in_order(claim: Sequence[Key], window: Sequence[Key]) -> list[tuple[int, int, float]]:
    """The best matches in the same order: (claim word, window word, weight); O(claim x window)."""
    rows, columns = len(claim) + 1, len(window) + 1
    places: dict[tuple[str, float], list[int]] = {}  # most words stand in the window repeatedly
    for j, word in enumerate(window):
        places.setdefault((word.key, word.weight), []).append(j)
    # score[i][j]: the best score of the first i claim and j window words, with the cost of gaps.
    score = [[0.0] * columns for _ in range(rows)]
    step = [[0] * columns for _ in range(rows)]  # 0: skip claim word, 1: match, 2: skip window word
    for i, word in enumerate(claim, 1):
        gains = _gains(word, window, places)
        if not gains:  # no match: the scores are those without this word
            score[i] = score[i - 1]
            continue
        above, here, moves = score[i - 1], score[i], step[i]
        before = 0.0
        for j in range(1, columns):
            best, move = above[j], 0
            skipped = before - _GAP if before > 0 else before
            if skipped > best:
                best, move = skipped, 2
            if j in gains and above[j - 1] + gains[j] > best:
                best, move = above[j - 1] + gains[j], 1
            here[j], moves[j] = best, move
            before = best
    return _walk_back(claim, window, score, step)


def _gains(
    word: Key, window: Sequence[Key], places: Mapping[tuple[str, float], Sequence[int]]
) -> dict[int, float]:
    """The number of each word of the window that matches, from 1, and what the match is worth."""
    found: dict[int, float] = {}
    for at in places.values():
        if worth := _worth(word, window[at[0]]):
            found |= dict.fromkeys((j + 1 for j in at), worth * word.weight)
    return found


def _walk_back(
    claim: Sequence[Key],
    window: Sequence[Key],
    score: Sequence[Sequence[float]],
    step: Sequence[Sequence[int]],
) -> list[tuple[int, int, float]]:
    i = len(claim)
    j = max(range(len(window) + 1), key=lambda k: score[i][k])
    pairs: list[tuple[int, int, float]] = []
    while i > 0 and j > 0 and score[i][j] > 0:
        if step[i][j] == 1:
            pairs.append((i - 1, j - 1, _worth(claim[i - 1], window[j - 1])))
            i, j = i - 1, j - 1
        elif step[i][j] == 2:
            j -= 1
        else:
            i -= 1
    return pairs[::-1]


def _worth(one: Key, other: Key) -> float:
    if one.key == other.key:
        return 1.0
    if one.weight < 1 or other.weight < 1 or one.key[0] != other.key[0] or one.key[0].isdigit():
        return 0.0
    common = common_start(one.key, other.key)
    longest = max(len(one.key), len(other.key))
    return _SIMILAR if common >= 4 and common >= 0.6 * longest else 0.0


def _near_content(window: Sequence[Key], used: Sequence[int]) -> list[int]:
    """The matches, without function words that are not beside a matched content word."""
    content = {j for j in used if window[j].weight >= 1}
    near = {j + d for j in content for d in (-2, -1, 0, 1, 2)} if content else set(used)
    return [j for j in used if j in near]


def _spans(window: Sequence[Key], matched: Sequence[int]) -> tuple[Span, ...]:
    """Ranges of the matched words; adjacent words and what is between them form one range."""
    out: list[Span] = []
    last = -2
    for j in matched:
        if j == last + 1 and out:
            out[-1] = (out[-1][0], window[j].end)
        else:
            out.append((window[j].start, window[j].end))
        last = j
    return tuple(out)
