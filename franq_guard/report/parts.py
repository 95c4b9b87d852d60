"""Cuts a text where spans begin and end, so that each piece can be marked separately."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from franq_guard.claims import first_statements
from franq_guard.records import Span, Verdict

__all__ = ["listed", "parts"]


def parts(text: str, owners: Sequence[Sequence[Span]]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The pieces of ``text`` in order, each with the indices of the owners whose spans cover it.

    Args:
        text: the text to cut; the pieces joined give the same text.
        owners: (n,), the spans of each owner; parts outside the text are ignored.
    """
    begin: defaultdict[int, list[int]] = defaultdict(list)
    end: defaultdict[int, list[int]] = defaultdict(list)
    for i, spans in enumerate(owners):
        for start, stop in spans:
            if 0 <= start < stop <= len(text):
                begin[start].append(i)
                end[stop].append(i)
    inside: Counter[int] = Counter()
    for here, there in pairwise(sorted({0, len(text), *begin, *end})):
        inside.update(begin[here])
        inside.subtract(end[here])
        inside = +inside  # without those that have ended
        yield text[here:there], tuple(sorted(inside))


def listed(verdicts: Sequence[Verdict]) -> list[tuple[Verdict, int]]:
    """Each verdict once, with how often the answer states that claim with that label.

    A model stuck in a loop repeats a claim many times, but readers want to see it only once.
    """
    first = first_statements([verdict.claim for verdict in verdicts])
    keys = [(i, verdict.label) for i, verdict in zip(first, verdicts, strict=True)]
    counts = Counter(keys)
    shown = {key: verdict for key, verdict in reversed(list(zip(keys, verdicts, strict=True)))}
    return [(shown[key], counts[key]) for key in dict.fromkeys(keys)]
