"""Whether an answer is in a language that the models were not trained on.

The whole answer is examined, because a single claim is often too short: many English sentences have
names, numbers and words of another language. Only an answer that is clearly in another language is
rejected, so a short one may be accepted. Of about 14,000 English claims and answers of public data
sets 5 are rejected; ``pytest -s tests/claims/test_language.py`` prints both error rates on
sentences of our own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING

from franq_guard.claims.blocks import blocks
from franq_guard.claims.forms import may_become_json

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

__all__ = ["in_another_language", "load"]

_QUOTED = re.compile(r"“[^”]*”|„[^“”]*[“”]|«[^»]*»|\"[^\"\n]*\"|`[^`]*`|https?://\S+|\S+@\S+")
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPT_LETTERS = 4
"""The fewest letters from which a text is judged by its script."""
_LETTERS, _SMALL_LETTERS = 16, 10
"""The fewest letters for which the language identifier is used, and how many of them must be in
words without a capital: single words and names mislead it."""
_ENGLISH = frozenset(
    {"the", "and", "with", "which", "that", "this", "from", "were", "been", "their", "they", "it",
     "its", "who"}
)  # fmt: skip
_ENGLISH_SHARE = 0.1
"""With at least this share of these words a text is English, and the identifier is not used. Other
languages in Latin letters hardly use any of these words."""
_UNLIKELY, _LIKELY = 0.1, 0.5
_READ = 4000
"""How many characters are examined: this takes 1 ms, and more would not change the result."""
_PARSED = 4 * _READ
"""They are looked for among so many at the beginning of the answer, which takes another ms, so that
the work for each part of a streamed answer does not grow with the answer."""


def in_another_language(answer: str, languages: Collection[str]) -> bool:
    """Whether ``answer`` is clearly in none of ``languages``.

    Quotations, code and addresses are ignored, unless there is nothing else. An answer is accepted
    if its first 16,000 characters are nothing else and more follow. It is rejected

    - if only English is accepted, and more than half of at least 4 letters are not Latin;
    - or if it has at least 16 letters, 10 of them in words without a capital, all of ``languages``
      together have a probability below .1, and another language has .5 or more (py3langid).

    A text in which one word in ten is a very common English word is always accepted as English.

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
    """The identifier of 140 languages; loading takes 0.5 s and 110 MB, a sentence 0.2 ms."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _own_words(answer: str) -> str:
    """The beginning of the answer without code and quotations.

    If it has nothing else: the answer as it is, or nothing if the answer is longer.
    """
    begun = answer[:_PARSED]
    is_cut = len(answer) > _PARSED
    if is_cut and may_become_json(begun):  # which is known of a whole answer alone
        return ""
    prose = "\n".join(begun[b.start : b.end] for b in blocks(begun) if b.kind != "code")
    for text in (_QUOTED.sub(" ", prose), prose):
        if any(character.isalpha() for character in text):
            return text
    return "" if is_cut else answer
