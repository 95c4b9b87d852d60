"""Sentences whose marks are in disorder: they stay whole."""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard.claims.rules.lexer import Word
from franq_guard.claims.rules.lexicon import word_set

_NO_END = word_set(
    "mr mrs ms dr st mt vs prof rev hon gen col lt sgt capt sen rep gov pres ft no fig vol approx"
)
"""Abbreviations after which no sentence ends."""


def stays_whole(words: Sequence[Word]) -> bool:
    """Whether quotes do not pair, a second sentence may begin, or a list has semicolons."""
    if sum(x.text == '"' for x in words) % 2 or any(x.text == "\\" for x in words):
        return True
    if sum(x.text == "“" for x in words) != sum(x.text == "”" for x in words):
        return True
    plain = [x for x in words if not x.shielded]
    if sum(x.text == ":" for x in plain) > 1:
        return True
    colon = next((k for k, x in enumerate(plain) if x.text == ":"), len(plain))
    return any(x.text == ";" for x in plain[colon:]) or any(
        _ends(plain, k) for k in range(1, len(plain) - 1)
    )


def _ends(words: Sequence[Word], k: int) -> bool:
    """Whether a sentence may end before the last word: "by Tom Fox Jr. Tom Fox was"."""
    if words[k].text in {"!", "?"}:
        return words[k + 1].is_word
    before = words[k - 1]
    initial = len(before.text) == 1 and before.text not in {"I", "V", "X"}
    known = before.low in _NO_END or "." in before.text or initial or k == 1
    return words[k].text == "." and words[k + 1].is_name and before.is_word and not known
