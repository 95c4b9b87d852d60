"""Finds what the texts beside a claim have that refutes it: a sentence, or the cells of a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from franq_guard.faithfulness.small.comparing.compared import compared
from franq_guard.faithfulness.small.cut import Cut, Texts, nearest, read_together
from franq_guard.faithfulness.small.plain import as_seen
from franq_guard.faithfulness.small.replaced import Replaced, best_match, replaced
from franq_guard.faithfulness.small.tables.cells import misplaced

__all__ = ["NUMBER_ALONE", "Refuted", "changed", "refuted"]

NUMBER_ALONE: Final = Replaced(number_replaced=2.0)
"""Of a claim that differs in one number alone; so does one that a table refutes."""


class Refuted(NamedTuple):
    """What refutes a claim: sentences, each with its log-odds; passages that have such a table."""

    sentences: dict[str, float]
    tables: frozenset[int]

    def by(self, chunk: str) -> float:
        """The log-odds by which a chunk of a passage refutes the claim, 0 for none."""
        found = (odds for sentence, odds in self.sentences.items() if _has(chunk, sentence))
        return max(found, default=0.0)


def refuted(
    contexts: Sequence[Texts],
    claims: Sequence[str],
    odds: Callable[[Replaced], float],
) -> list[Refuted]:
    """What refutes each claim in one fact alone.

    Args:
        contexts: for each claim, the texts of its passages.
        claims: as many.
        odds: the log-odds of what a claim replaces, :meth:`.Blend.against`.
    """
    sentences: list[dict[str, float]] = [{} for _ in claims]
    tables: list[frozenset[int]] = [frozenset() for _ in claims]
    for index, part, context in read_together(contexts, claims):
        near = [context.sentences[i] for i in nearest(part, context.sentences)]
        told = _without_rows(near, context)
        value = odds(replaced(part, told, context.whole))
        sentence = best_match(part, told)
        if value and sentence:
            sentences[index][sentence] = max(value, sentences[index].get(sentence, 0.0))
        if _by_cells(part, context.source):
            tables[index] |= _tables(part, contexts[index])
    return [Refuted(*found) for found in zip(sentences, tables, strict=True)]


def changed(part: str, near: Sequence[str], context: Cut) -> Replaced:
    """What a piece of a claim replaces, by the sentences nearest to it and by tables.

    A value from another cell is one that was replaced, and so is what a claim that compares cells
    should say.
    """
    found = replaced(part, near, context.whole)
    if context.rows:
        unknown = found.number_unknown
        found = replaced(part, _without_rows(near, context), context.whole)
        number = max(found.number_replaced, unknown)
        found = found._replace(number_replaced=number, number_unknown=unknown)
    if _by_cells(part, context.source):
        found = found._replace(
            number_replaced=max(1.0, found.number_replaced),
            name_replaced=max(1.0, found.name_replaced),
            number_unknown=max(1.0, found.number_unknown),
        )
    return found


def _without_rows(sentences: Sequence[str], context: Cut) -> list[str]:
    """The sentences to align with a claim: the words of a table's row have no order."""
    return [sentence for sentence in sentences if sentence not in context.rows]


def _by_cells(part: str, source: str) -> bool:
    """Whether the tables of a text have other values in the cells that a claim is about."""
    return misplaced(part, source) or compared(part, source) is False


def _tables(part: str, texts: Texts) -> frozenset[int]:
    sources = enumerate(map(as_seen, texts))
    return frozenset(place for place, source in sources if _by_cells(part, source))


def _has(chunk: str, sentence: str) -> bool:
    """Whether the sentence stands there whole: "Zone: 4" does not stand in "Zone: 40"."""
    return bool(re.search(rf"(?<!\w){re.escape(sentence)}(?!\w)", chunk))
