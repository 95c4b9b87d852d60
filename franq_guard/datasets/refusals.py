"""Recognises answers that decline to answer; words are normalised by ``comparable_words``."""

from __future__ import annotations

import re

from franq_guard.datasets.comparable_words import texts

_SOURCE = (
    r"(?:passages?|texts?|context|documents?|information|articles?|sources?|paragraphs?|excerpts?"
    r"|snippets?|question|provided|given|above|here)"
)
_TOLD = (
    r"(?:mentioned|provided|given|stated|specified|found|available|known|disclosed|indicated"
    r"|included|answered|listed|described|clear|named)"
)
_TELL = (
    r"(?:mention|provide|give|state|specify|contain|include|say|answer|indicate|tell|discuss"
    r"|address|name|describe|list|have)"
)
_NOT = r"(?:not|isnt|arent|wasnt|werent|doesnt|dont|didnt)"
_REFUSAL = re.compile(
    r"\bi (?:dont|do not|did not|didnt) (?:have|know|see|find|recall|understand)\b"
    r"|\bi(?: a)?m (?:not (?:sure|aware|able|certain)|unable|sorry)\b"
    r"|^(?:im )?sorry\b|^i apologi[sz]e"
    r"|\bi (?:cannot|cant|can not|could not|couldnt) (?:\w+ )?(?:answer|find|tell|provide|say"
    r"|determine|assist|help|verify)\b"
    rf"|\b{_SOURCE} (?:\w+ )?(?:do|does|did)?\s?{_NOT} (?:\w+ )?{_TELL}\b"
    rf"|\b{_NOT} (?:\w+ly )?{_TOLD}(?: (?:in|by|from|within|anywhere|as) .*)?$"
    rf"|\b{_NOT} (?:\w+ly )?{_TOLD} (?:in|by|from|within) (?:\w+ )?{_SOURCE}\b"
    r"|\b(?:no|insufficient|not enough) (?:\w+ ){0,2}"
    r"(?:information|mention|context|evidence|details?)\b"
    r"|\b(?:cannot|cant|can not|could not|impossible to|unable to|not possible to|not able to) "
    r"(?:be )?(?:determined?|answer(?:ed)?|find|found|provided?|verif(?:y|ied)|known?)\b"
    r"|\bnone of passages\b|\bas ai\b|\bai (?:language )?(?:model|assistant)\b"
)
_NOTHING = frozenset(
    {
        "unknown",
        "none",
        "na",
        "n",  # "N/A": the "a" was removed as an article
        "null",
        "not applicable",
        "unclear",
        "unanswerable",
        "not sure",
        "no answer",
        "no one knows",
    }
)


def refuses(text: str) -> bool:
    """Whether ``text`` is empty, or says that the answer is unknown or not in the passages."""
    said = " ".join(texts(text))
    return not said or said in _NOTHING or _REFUSAL.search(said) is not None
