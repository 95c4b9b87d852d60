"""Whether a claim that compares the rows of a table says nothing else: every word must be known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.amounts.units import unit_of
from franq_guard.faithfulness.small.comparing.comparisons import Comparison
from franq_guard.faithfulness.small.comparing.grid import Column, Grid, Thing, Token, split
from franq_guard.faithfulness.small.comparing.scales import ALIKE, VERBS, base_form
from franq_guard.faithfulness.small.numerals import CARDINALS
from franq_guard.faithfulness.small.words import NEGATIONS, STOPWORDS, stem, words

DOUBTS: Final = NEGATIONS | word_set(
    "if or but would could may might should must after before between during about when while "
    "where unless except excluding besides apart together combined total nearly almost roughly "
    "around approximately ago once formerly usually will shall then"
)
"""A claim with one of these may say something else than that all of it compares."""
SMALL: Final = (STOPWORDS - DOUBTS) | word_set(
    "one ones list listed lists table shown given any all other others every each both rest "
    "against than compared number amount lasts lasted"
)
"""These add nothing to a comparison."""
_ADVERBS: Final = word_set(
    "much far slightly considerably significantly clearly even still also just only somewhat little"
)
"""How much more is not checked."""
_VERBS: Final = word_set(
    "carry carries carried contain get got offer own receive score serve draw drew take need use "
    "run ran go lay laid leave depart start cost weigh measure hold held reach cover stand stay "
    "earn pay produce yield bring feature provide won"
)
"""What a thing does that has the amount; "lack" and "lose" turn it round."""
_ASIDE: Final = word_set(", ( at")  # "the most seats, with 6"
_WITHIN: Final = word_set("in on of at")  # "the oldest in the sale"


@dataclass(frozen=True)
class Wording:
    """The words of a claim that compares rows in a column."""

    tokens: Sequence[Token]
    things: Sequence[Thing]
    grid: Grid
    comparison: Comparison
    column: Column
    context: str

    def says_more(self) -> bool | None:
        """Whether the claim says more than the comparison; None for words that may change it."""
        found = [self._understood(at) for at in range(len(self.tokens))]
        return None if None in found else False in found

    def _understood(self, at: int) -> bool | None:
        """Whether a word is part of what is computed; False: it adds something; None: unknown."""
        word, comparison = self.tokens[at].text, self.comparison
        if any(thing.start <= at < thing.end for thing in self.things):
            return True
        if comparison.start <= at < comparison.end or at == comparison.mark:
            return True
        if comparison.mark < at < comparison.beyond:
            return True
        if not word[0].isalnum() or word in SMALL or _is_verb(word):
            return True
        if word[0].isdigit() or word in CARDINALS:
            return self._counts(at)
        if base_form(word) in self._wanted():
            return True
        if word in _ADVERBS:
            return False
        if unit_of(word) and word in self._cell_tokens(self.things):
            return True
        return self._is_noun(at)

    def _wanted(self) -> frozenset[str]:
        alike = [group for group in ALIKE if group & self.column.words]
        return self.grid.kinds.union(self.column.words, *alike, VERBS)

    def _counts(self, at: int) -> bool | None:
        """Of a number: that of all rows ("of the five"), or one of the cells that are compared."""
        word = self.tokens[at].text
        if cardinal(word) == len(self.grid.names) and at:
            return True if self.tokens[at - 1].text in ("the", "all") else None
        if self.comparison.form == "limit" and not self.things and at < self.comparison.start:
            return True if at < 2 else None
        before = [thing for thing in self.things if thing.end <= at]
        leading = [token.text for token in self.tokens[max(0, at - 2) : at]]
        if self.comparison.form == "most" and not _ASIDE & set(leading):
            return None  # "the oldest boat with 6 seats"
        if word in self._cell_tokens(before[-1:]):
            return True
        return False if word in self._cell_tokens(self.things) else None

    def _cell_tokens(self, things: Sequence[Thing]) -> set[str]:
        return {token.text for thing in things for token in split(self.column.cells[thing.row])}

    def _is_noun(self, at: int) -> bool | None:
        """Whether a word only says what the things are: "the lightest telescope in the sale"."""
        word, known = self.tokens[at].text, _known(self.context)
        follows = self.tokens[at + 1].text if at + 1 < len(self.tokens) else ","
        ends = not follows[0].isalnum() or follows in STOPWORDS
        if not ends or base_form(word) in self.grid.cell_words | self.grid.heads:
            return None
        number = self.tokens[at - 1].text if at > 1 else ""
        if cardinal(number) == len(self.grid.names) and self._counts(at - 1):
            return True  # "of the three tents"
        if self.comparison.form == "limit":
            beside = at == 1 < self.comparison.start
        elif self.comparison.form == "most":
            beside = at == self.comparison.end
            if not beside and [token.text for token in self.tokens[at - 1 : at]] == ["the"]:
                within = at > 1 and self.tokens[at - 2].text in _WITHIN
                return True if within and word in words(self.grid.title) else None
        else:
            beside = False
        return word.removesuffix("s") in known if beside else None


@lru_cache(maxsize=64)
def _known(context: str) -> frozenset[str]:
    return frozenset(word.removesuffix("s") for word in words(context))


def _is_verb(word: str) -> bool:
    return not _VERBS.isdisjoint((word, stem(word), stem(word) + "e"))


def cardinal(word: str) -> int | None:
    """Return the number of a word or of at most four digits, else None."""
    if word in CARDINALS:
        return CARDINALS[word]
    return int(word) if word.isdecimal() and len(word) < 5 else None
