"""Whether an answer is in a language that the models were not trained on.

Asked of the whole answer, since a single claim is often too short to tell: names, numbers and words
of another language stand in many English sentences. Only an answer that is clearly in another
language is refused, so a short one may pass. Of some 14,000 English claims and answers of public
data sets 5 are refused; ``pytest -s tests/claims/test_language.py`` prints both error rates on
sentences of our own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING

from franq_guard.claims.blocks import blocks

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

__all__ = ["in_another_language", "load"]

_QUOTED = re.compile(r"“[^”]*”|„[^“”]*[“”]|«[^»]*»|\"[^\"\n]*\"|`[^`]*`|https?://\S+|\S+@\S+")
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPT_LETTERS = 4
"""Fewest letters whose script says something."""
_LETTERS, _SMALL_LETTERS = 16, 10
"""Fewest letters that the identifier is asked about, and fewest in words without a capital: single
words and names mislead it."""
_ENGLISH = frozenset(
    {"the", "and", "with", "which", "that", "this", "from", "were", "been", "their", "they", "it",
     "its", "who"}
)  # fmt: skip
_ENGLISH_SHARE = 0.1
"""Share of these words from which a text is English without asking the identifier. Other languages
that are written in Latin letters use hardly any of them."""
_UNLIKELY, _LIKELY = 0.1, 0.5
_READ = 4000
"""Characters that are read: they take 1 ms, and more would tell nothing new."""


def in_another_language(answer: str, languages: Collection[str]) -> bool:
    """Whether ``answer`` is clearly in none of ``languages``.

    Quotations, code and addresses are not looked at, unless there is nothing else. It is so where

    - English alone is wanted, and more than half of at least 4 letters are no Latin ones;
    - or at least 16 letters stand there, 10 of them in words without a capital, all of
      ``languages`` together have a probability below .1, and one other has .5 or more (py3langid).

    A text with one of the commonest English words in ten is English without further questions.

    Args:
        answer: any text.
        languages: ISO 639-1 codes, such as {"en"}.
    """
    text = unicodedata.normalize("NFKC", _own_words(answer)[:_READ])
    letters = [character for character in text if character.isalpha()]
    if len(letters) >= _SCRIPT_LETTERS and set(languages) == {"en"}:
        other = sum(not unicodedata.name(c, "").startswith("LATIN") for c in letters)
        if 2 * other > len(letters):
            return True
    words = _WORD.findall(text)
    small = sum(len(word) for word in words if not word[0].isupper())
    if len(letters) < _LETTERS or small < _SMALL_LETTERS:
        return False
    english = sum(word.lower() in _ENGLISH for word in words)
    if "en" in languages and english >= _ENGLISH_SHARE * len(words):
        return False
    found: dict[str, float] = dict(load().rank(text))
    wanted = sum(found.pop(language, 0.0) for language in set(languages))
    return wanted < _UNLIKELY and max(found.values()) >= _LIKELY


@cache
def load() -> LanguageIdentifier:
    """The identifier of 140 languages: half a second and 110 MB once, then 0.2 ms a sentence."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _own_words(answer: str) -> str:
    """The answer without code and quotations; as it is where nothing else is in it."""
    prose = "\n".join(answer[b.start : b.end] for b in blocks(answer) if b.kind != "code")
    for text in (_QUOTED.sub(" ", prose), prose):
        if any(character.isalpha() for character in text):
            return text
    return answer
