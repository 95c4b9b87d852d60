"""Headings and header rows that state something: "**Tom Fox**" alone, "## Answer: 9 minutes"."""

from __future__ import annotations

import re

from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.finite_verb import find_verb, subject_start
from franq_guard.claims.rules.lexer import lex
from franq_guard.claims.rules.lexicon import word_set
from franq_guard.claims.rules.nonclaims import reason
from franq_guard.claims.rules.render import plain

_ANSWER = re.compile(r"(?:(?:the|short|final|direct|quick|my) )*answer\s*:\s*\w", re.I)
_AWAITS = re.compile(r"\b(?:is|was|by|in|on|at|called|named|to|of|from)\s*:$")
"""A lead-in that is no clause without what follows: "The designer is:"."""
_NO_START = w.RELATIVES | w.SUBORDINATORS | w.COORDINATORS | w.AUXILIARIES | word_set("how why")
_PRONOUNS = word_set("i you we they he she it")
_TITLE_VERB = re.compile(r"(?<=\w )(?:Is|Are|Was|Were|Has)\b")
_APART = frozenset(";&/–—")
_MARKS = " \t*_#:\"'“”"
_FEWEST_WORDS = 4
_VALUE = re.compile(
    r"[~≈<>±]?\s*(?:[$€£¥]\s?\d[\d.,]*(?: (?:thousand|million|billion))?"
    r"|(?!(?:1[5-9]|20)\d\d\b)\d[\d.,]*\s?(?:%|°?[^\W\d_]{1,12}\d?)(?:/\w{1,5})?"
    r"|\d{1,2} [A-Z][a-z]{2,8} \d{4})$"
)
"""An amount with its unit, or a whole date; a year or a number alone may name a column."""


def heading_states(text: str, before: str, *, is_last: bool, is_first: bool) -> bool:
    """Whether a heading or bold line surely states something.

    Args:
        text: the heading.
        before: the sentence before it, or empty.
        is_last: whether nothing follows it.
        is_first: whether nothing before it states anything.
    """
    text = plain(text).strip(_MARKS)
    if reason(text) is not None:
        return False
    if _ANSWER.match(text) or _is_sentence(text):
        return True
    if before.endswith(":"):
        return is_last or _AWAITS.search(before) is not None
    return is_last and is_first


def _is_sentence(text: str) -> bool:
    """Whether it has a subject and a verb, not only a noun with a relative clause."""
    text = text.rpartition(":")[2]
    text = _TITLE_VERB.sub(lambda verb: verb.group().lower(), text)
    words = lex(text, 0, len(text))
    if not words or words[0].low in _NO_START or words[0].low.endswith(("ing", "'s")):
        return False
    start = subject_start(words)
    verb = find_verb(words, start, len(words))
    if verb is None or (verb == start and words[verb].low not in w.PRONOUN_VERBS):
        return text.endswith(".") and sum(x.is_word for x in words) >= _FEWEST_WORDS
    subject = words[start:verb]
    apart = any(x.text in _APART for x in subject) or sum(x.is_comma for x in subject) % 2
    # "Red & refined colours", "Things you should know"
    return not apart and not any(x.low in _PRONOUNS for x in subject[1:])


def header_states(cells: list[str]) -> bool:
    """Whether the header row of a table is a fact: "Boiling time | 9 minutes"."""
    return len(cells) == 2 and cells[0][:1].isalpha() and _VALUE.match(cells[1]) is not None
