"""Writes a question that a passage answers with "No" as the statement that this makes.

Help pages are full of them: "Can I pay by card? No, we take cash." The network was trained on few
questions: to it this states that one can pay by card. And the "No" counted as a negation of what
follows. It is read as "I can not pay by card." and "we take cash."
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.rewritten import Change

__all__ = ["SAYS_NO", "VERBS", "denial", "denied"]

VERBS: Final = word_set(
    "is are was were am do does did has have had can could will would shall should may might must"
)
"""What a question that "No" answers begins with."""
_VERB: Final = "|".join(sorted(VERBS))
_BEGINS: Final = r"(?:^|(?<=\n)|(?<=[.!?:]\s)|(?<=[*_#>\-•\"“]\s)|(?<=[*_\"“]))[^\S\n]*+"
_LABEL: Final = r"(?:[*_]{0,2}\w{1,20}(?: \w{1,20})?:[*_]{0,2}\s*)?"
"""Who replies: "A:", "Answer:", "Ben:"."""
_MARKS: Final = r"[*_\"”)]{0,3}"
_NO: Final = (
    r"(?:no(?:pe)?|(?:unfortunately|sadly|sorry|i'm afraid|i’m afraid),? (?:no|not)"
    r"|not (?:yet|currently|at present|at the moment|at this time|any ?more))"
)
_OVER: Final = r"(?:[.,;:!—–]+|(?= - )|(?=\s*(?:\n|\Z)))"
"""What ends a reply: "No parking" is none."""
_DENIED: Final = re.compile(
    rf"{_BEGINS}(?P<verb>{_VERB})\s(?P<rest>(?:[^.?!\n]|\.(?=\d)){{2,200}})\?{_MARKS}\s+"
    rf"{_LABEL}{_MARKS}{_NO}{_OVER}{_MARKS}[^\S\n]*",
    re.IGNORECASE,
)
SAYS_NO: Final = re.compile(
    r"(?:^|(?<=\n)|(?<=[.!?]\s)|(?<=\bA:\s)|(?<=\bAnswer:\s))[^\S\n]*+"
    r"[\"“*_]{0,2}(?:No|Nope)(?=[,;:!—–]\s\w)"
    r"|\b[Nn]o\.\s?(?=\d)"
)
"""A "No" that denies no word of its sentence: it replies, or it is short for "number"."""
_ARTICLES: Final = word_set("the a an")
_NOT_ALL: Final = word_set("all both each every")
_BEFORE_NOUN: Final = (
    _ARTICLES | _NOT_ALL | word_set("my our your his her its their this that these those any some")
)


def denied(text: str) -> Iterator[Change]:
    """Find each question of a text that its next words answer with "No".

    The statement, a line of its own, stands for the question and the "No"; what follows stays.
    """
    for match in _DENIED.finditer(text):
        words = match["rest"].split()
        if " or " not in match["rest"] and len(words) > 1:
            said = denial(match["verb"].lower(), words) + "\n"
            yield (match.start("verb"), match.end()), said


def denial(verb: str, words: list[str]) -> str:
    """What "No" says to a question, given by its verb and its other words: "It is not open."."""
    size = _subject(words)
    subject, rest = words[:size], words[size:]
    whole = words[0].lower() in _NOT_ALL  # "Are all rooms heated? No." leaves open whether one is
    said = ["not", *subject, verb, *rest] if whole else [*subject, verb, "not", *rest]
    text = " ".join(said)
    return text[0].upper() + text[1:] + "."


def _subject(words: list[str]) -> int:
    """How many words the subject has, as far as that shows without a parser: at least one is left.

    A wrong guess leaves "The swimming is not pool heated.", which is read nearly as well.
    """
    first, second = words[0].lower(), words[1].lower()
    size = 2 if first in _BEFORE_NOUN and second not in _ARTICLES else 1
    while size < len(words) - 1 and words[size - 1][0].isupper() and words[size][0].isupper():
        size += 1
    return min(size, len(words) - 1)
