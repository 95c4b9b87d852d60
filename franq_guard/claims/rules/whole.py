"""Sentences whose marks are in disorder: they stay whole."""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard.claims.rules.lexer import Word
from franq_guard.claims.rules.lexicon import word_set

_MAY_END = word_set("jr sr inc corp ltd co etc ii iii iv v vi vii viii")
"""Abbreviations after which a sentence may end, and the numbers of kings."""


def stays_whole(words: Sequence[Word]) -> bool:
    """Whether quotes do not pair, a second sentence may begin, or a list has semicolons."""
    if sum(x.text == '"' for x in words) % 2 or any(x.text == "\\" for x in words):
        return True
    if sum(x.text == "“" for x in words) != sum(x.text == "”" for x in words):
        return True
    plain = [x for x in words if not x.shielded]
    colon = next((k for k, x in enumerate(plain) if x.text == ":"), len(plain))
    return any(x.text == ";" for x in plain[colon:]) or any(
        _ends(plain, k) for k in range(1, len(plain) - 1)
    )


def _ends(words: Sequence[Word], k: int) -> bool:
    """Whether a sentence may end before the last word: "by Tom Fox Jr. Tom Fox was"."""
    if words[k].text in {"!", "?"}:
        return words[k + 1].is_word
    return words[k].text == "." and words[k - 1].low in _MAY_END and words[k + 1].is_name
