"""A clause while a sentence is being split: which words belong to it, and its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from franq_guard.claims.rules.lexer import Word
from franq_guard.records import Span


@dataclass(frozen=True, slots=True)
class Clause:
    """Part of a sentence that states one thing.

    ``frame`` has the words of its text, in order: those it covers, words carried over from another
    clause (a shared subject) and inserted words. ``covered`` has the words of the sentence that
    belong to it, in order; every word of a sentence, including marks and conjunctions, belongs to
    exactly one clause.
    """

    frame: tuple[Word, ...]
    covered: tuple[Word, ...]

    def spans(self) -> tuple[Span, ...]:
        """Ranges of the answer with the words it covers; adjacent words are in one range."""
        out: list[Span] = []
        last = -2
        for word in self.covered:
            if word.index == last + 1:
                out[-1] = (out[-1][0], word.end)
            else:
                out.append((word.start, word.end))
            last = word.index
        return tuple(out)

    def can_cut(self, position: int) -> bool:
        """Whether it covers words (not only carried ones) on both sides of ``position``."""
        return self.covered[0].index < self.frame[position].index <= self.covered[-1].index

    def cut(
        self, position: int, carried: Sequence[Word], *, skip: int = 0
    ) -> tuple[Clause, Clause]:
        """Two clauses: the words before frame ``position``, and the words from there on.

        The text of the second one is ``carried`` and the words after the first ``skip`` words (a
        comma, a conjunction); the skipped words belong to it, but are not in its text.
        """
        border = self.frame[position].index
        left = Clause(self.frame[:position], tuple(x for x in self.covered if x.index < border))
        right = Clause(
            (*carried, *self.frame[position + skip :]),
            tuple(x for x in self.covered if x.index >= border),
        )
        return left, right

    def take(self, start: int, end: int, frame: Sequence[Word]) -> tuple[Clause, Clause]:
        """The clause without frame positions ``start:end``, and the one that covers them.

        The words of the second one's text are ``frame``.
        """
        taken = {x.index for x in self.frame[start:end]}
        rest = Clause(
            self.frame[:start] + self.frame[end:],
            tuple(x for x in self.covered if x.index not in taken),
        )
        return rest, Clause(tuple(frame), tuple(x for x in self.covered if x.index in taken))
