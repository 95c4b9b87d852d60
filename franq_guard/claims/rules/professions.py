"""What persons are: "writer", "film director", "critic"."""

from __future__ import annotations

from franq_guard.claims.rules.lexer import Word
from franq_guard.claims.rules.lexicon import words

_ENDS = ("er", "or", "ist", "ian", "man", "woman", "ess", "eer", "yst")
_PERSONS = words("professions")
_NO_PERSON = words("no_professions")


def is_profession(word: Word) -> bool:
    """Whether the noun surely says what a person is or does."""
    low = word.low.rsplit("-", 1)[-1]
    return low in _PERSONS or (low.endswith(_ENDS) and low not in _NO_PERSON and not word.is_name)
