"""Recognises sentences that state nothing which could be true or false, and says why.

The patterns (``lexicon/nonclaims.txt``) are narrow on purpose: a claim that they match by mistake
would never be checked.
"""

from __future__ import annotations

import re

from franq_guard.claims.rules.finite_verb import find_verb
from franq_guard.claims.rules.lexer import lex
from franq_guard.claims.rules.lexicon import lines, word_set, words

_IMPERATIVES = words("imperatives")
_NO_OBJECT = word_set(
    "of is was are were has had have and or by will would can could may might who which in at"
    " for with said did does do been be must from"
)
_WITH_CLAUSE = frozenset({"make", "ensure", "check", "verify", "confirm"})
_SEQUENCE = re.compile(
    r"^(?:first|next|then|finally|now|afterwards|once done|to begin|to start|before you start"
    r"|when ready|if (?:needed|necessary|possible|in doubt|unsure)),? (?:please )?(\w+)"
    r" (?:the|a|an|your|it|them|this|that|all|some|in|on|to|for|until|with|\d)",
    re.IGNORECASE,
)
_NOTE_THAT = re.compile(
    r"^(?:please )?(?:note|remember|keep in mind|bear in mind|be aware|recall|observe)\b", re.I
)
_URL = re.compile(
    r"(?:\W*(?:see|sources?|links?|url|reference|more)?\W*)?(?:https?://|www\.)\S+\W*$", re.I
)
_CITATION = re.compile(r"(?:sources?|references?|citations?|cite)\s*:.*$|\W*(?:\[\d+\]\W*)+$", re.I)
_LEADING = re.compile(r"^[\W_]+")
_MAX_READ = 400


def reason(sentence: str) -> str | None:
    """Why ``sentence`` is not a claim; None if it is one.

    Reasons: ``no statement`` (no word at all), ``link``, ``citation``, ``question``, ``refusal``,
    ``hedge`` (about the answer or the assistant itself), ``greeting`` (pleasantries and offers to
    help too), ``lead-in`` (announces a list), ``opinion``, ``instruction``. The splitter adds
    ``unfinished`` for a last sentence that was cut off (:mod:`.unfinished`) and ``yes or no`` for
    "Yes." beside a full sentence (:mod:`.bare_answers`).
    """
    if not any(c.isalnum() for c in sentence):
        return "no statement"
    if _URL.match(sentence):
        return "link"
    if _CITATION.match(sentence):
        return "citation"
    if sentence.rstrip("\"'”’)]*_ !.").endswith(("?", "？", "؟")):
        return "question"
    text = _LEADING.sub("", sentence.replace("*", "").replace("’", "'"))
    read = text[:_MAX_READ]
    for label, pattern in _PATTERNS:
        if pattern.search(read):
            return label
    if read.endswith(":") and not _has_verb(read):
        return "lead-in"
    return "instruction" if _is_instruction(read) else None


def _has_verb(text: str) -> bool:
    found = lex(text, 0, len(text))
    return find_verb(found, 0, len(found), loose=True) is not None


def _is_instruction(text: str) -> bool:
    """Whether the sentence begins with a verb that gives an instruction."""
    if _NOTE_THAT.match(text):
        return False
    sequence = _SEQUENCE.match(text)
    if sequence and sequence.group(1).lower() in _IMPERATIVES:
        return True
    opening = text.split(None, 2)
    if len(opening) < 2 or opening[0].lower().rstrip(",") not in _IMPERATIVES:
        return False
    if not opening[0][0].isupper() or opening[1].lower().strip(",.:;") in _NO_OBJECT:
        return False
    return opening[0].lower() in _WITH_CLAUSE or not _has_subject(text)


def _has_subject(text: str) -> bool:
    """Whether a verb follows, as in "Turn signals are required", which is no instruction."""
    found = lex(text, 0, len(text))
    stop = next((k for k, word in enumerate(found) if word.is_comma), len(found))
    return find_verb(found, 1, stop) is not None


def _compiled() -> list[tuple[str, re.Pattern[str]]]:
    """The patterns of ``nonclaims.txt``, one per section, in its order."""
    parts: dict[str, str] = {}
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in lines("nonclaims"):
        name, equals, value = line.partition(" = ")
        if line.startswith("["):
            current = sections.setdefault(line.strip("[]"), [])
        elif equals and name.isupper():
            parts[name] = _expanded(value, parts)
        else:
            current.append(_expanded(line, parts))
    return [
        (label, re.compile("|".join(f"(?:{x})" for x in section), re.IGNORECASE))
        for label, section in sections.items()
    ]


def _expanded(pattern: str, parts: dict[str, str]) -> str:
    for name, value in parts.items():
        pattern = pattern.replace("{" + name + "}", value)
    return pattern


_PATTERNS = _compiled()
