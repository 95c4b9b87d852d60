"""Ends and joints of a sentence that was put together anew."""

from __future__ import annotations

import re
from collections.abc import Sequence

from franq_guard.claims.sentences import HIGH_NUMBERS

__all__ = ["EDGE", "TERMINAL", "joined", "noted", "tidy"]

EDGE = " \t\n,;:–—"
_ENDS = "[.!?…。！？]"
_MARKS = r"[\"”’')\]*_`]"
TERMINAL = re.compile(
    rf"(?<!{_ENDS}){_ENDS}++{_MARKS}*{HIGH_NUMBERS}$"
    rf"|(?<!{_ENDS})(?:{_ENDS}++|(?<!{_MARKS})){_MARKS}*(?:\[\^?\d{{1,3}}\])*$"
)
_HANGING = re.compile(r"[\s,;:–—]+(?:and|or|but|while|whereas)$|[,;:–—]\s*(?:yet|so)$", re.I)
"""Conjunctions that join nothing any more; not "to do so" and "not yet"."""
_NOTE_MARK = re.compile(r"\[\^?\d{1,3}\]")


def noted(sentence: str, notes: Sequence[str], mark: str) -> str:
    """The sentence with the notes that it lacks, behind its full stop if they were there."""
    lacking = "".join(note for note in notes if note.strip() not in sentence)
    if lacking and mark == f".{lacking}":
        return sentence.removesuffix(".") + mark
    end = TERMINAL.search(sentence) if lacking else None
    return sentence[: end.start()] + lacking + sentence[end.start() :] if end else sentence


def joined(parts: Sequence[str]) -> str:
    """The parts with blanks between words, none before marks, and no doubled blank or comma."""
    out = ""
    for part in parts:
        if out and not out[-1].isspace() and part[:1].isalnum():
            out += " "
        out += part
    out = re.sub(r"(?<!\s)\s+([,;.!?])", r"\1", re.sub(r"[ \t]{2,}", " ", out.strip()))
    return re.sub(r",{2,}", ",", out)  # of two claims, each with its comma


def tidy(sentence: str, mark: str) -> str:
    """Remove a trailing comma or conjunction, restore the final mark, pair the emphasis marks."""
    body = sentence.removesuffix(mark) if mark else sentence
    body = body.rstrip(EDGE)
    mark = _still_open(body, mark)
    while (hanging := _HANGING.search(body)) is not None:
        body = body[: hanging.start()].rstrip(EDGE)
    sentence = body + mark
    for marker in ("**", "__", "`"):
        if sentence.count(marker) % 2:
            sentence = sentence.replace(marker, "")
    return sentence


def _still_open(body: str, mark: str) -> str:
    """``mark`` without closing quotes and brackets whose opening ones were removed."""
    for opener, closer in (("(", ")"), ("[", "]"), ("“", "”"), ('"', '"')):
        if opener == closer:
            gone = closer in mark and body.count(closer) % 2 == 0
        else:
            gone = closer in mark and body.count(opener) <= body.count(closer)
        if gone and not _NOTE_MARK.search(mark):
            mark = mark.replace(closer, "")
    return mark
