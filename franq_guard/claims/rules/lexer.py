"""A sentence as words with offsets; words in quotes, brackets and links are never split on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

_TOKEN = re.compile(
    r"(?:https?://|www\.)\S*[^\s.,;:!?)\]}\"'”’]|[^\W_]+(?:['’\-.,/&@:+][^\W_]+)*|\S"
)
_OPEN = {"(": ")", "[": "]", "{": "}", "“": "”", "«": "»", '"': '"', "`": "`"}


@dataclass(frozen=True, slots=True)
class Word:
    """A word or a single punctuation mark: ``text`` at characters ``start:end`` of the answer.

    ``index`` is its position in the sentence (-1: inserted, not in the text). ``shielded`` words
    are inside quotes, brackets or code, where a sentence is never split. ``low`` is the lower-case
    form with a straight apostrophe.
    """

    text: str
    start: int
    end: int
    index: int = -1
    shielded: bool = False
    low: str = ""

    @property
    def is_word(self) -> bool:
        """Whether it begins with a letter or a digit (a word, not a mark)."""
        return self.text[0].isalnum()

    @property
    def is_name(self) -> bool:
        """Whether it begins with an upper-case letter."""
        return self.text[0].isupper()

    @property
    def is_number(self) -> bool:
        """Whether it begins with a digit."""
        return self.text[0].isdigit()

    @property
    def is_comma(self) -> bool:
        """Whether it is a comma that separates parts of the sentence."""
        return self.text == "," and not self.shielded


def lex(text: str, start: int = 0, end: int | None = None) -> list[Word]:
    """The words of ``text[start:end]``, with offsets into ``text``; they cover all non-blanks."""
    end = len(text) if end is None else end
    words: list[Word] = []
    closers: list[str] = []
    for index, match in enumerate(_TOKEN.finditer(text, start, end)):
        token = match.group()
        low = token.lower().replace("’", "'")
        words.append(Word(token, *match.span(), index, bool(closers), low))
        if closers and token == closers[-1]:
            closers.pop()
        elif token in _OPEN:
            closers.append(_OPEN[token])
    if closers:  # an unclosed bracket or quote has no effect
        words = [replace(word, shielded=False) for word in words]
    return _with_dates(words)


def _with_dates(words: list[Word]) -> list[Word]:
    """The words with the comma of "January 4, 2018" shielded, since it separates nothing."""
    for k in range(2, len(words) - 1):
        day, year = words[k - 1].text, words[k + 1].text
        if words[k].text == "," and day.isdigit() and len(day) < 3 and year[:4].isdigit():
            words[k] = replace(words[k], shielded=True)
    return words


def comma_before(words: Sequence[Word], k: int, after: int) -> int | None:
    """Position of the last comma between the words ``after`` and ``k``; None: there is none."""
    return next((j for j in range(k - 1, after, -1) if words[j].is_comma), None)


def inserted(text: str) -> Word:
    """A word for a claim's text that is not in the sentence."""
    return Word(text, -1, -1, low=text.lower())
