"""Answers without a content word: "Yes." and "It does." state nothing beside a full sentence."""

from __future__ import annotations

import re

from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.finite_verb import find_verb
from franq_guard.claims.rules.lexer import lex
from franq_guard.claims.rules.nonclaims import reason

_YES_NO = r"(?:yes|no|yep|yeah|yup|nope|correct|incorrect|indeed|exactly)"
_SUBJECT = "(?:it|he|she|they|we|you|i|this|that|these|those|there)"
_AUXILIARY = "|".join(sorted(re.escape(x) for x in w.FINITE_AUXILIARIES))
_ECHO = rf"(?:{_YES_NO}[,;:]? )?{_SUBJECT} (?:{_AUXILIARY})(?: not)?(?: too)?\W*[.!]"
_ANSWER = rf"(?:{_YES_NO}|{_ECHO})"
_MARKS = r"[\"'”)*_]*"
_YES_OR_NO = re.compile(rf"\W*{_YES_NO}\W*$", re.I)
_BARE = re.compile(rf"\W*{_ANSWER}\W*$", re.I)
_AT_END = re.compile(rf"(?:^|\n|[.!?…:]{_MARKS}\s+){_MARKS}\W*{_ANSWER}\W*$", re.I)


def is_bare(sentence: str, before: str, after: str) -> bool:
    """Whether the sentence is "Yes." or "It does." and a sentence beside it is the statement.

    Args:
        sentence: the sentence.
        before: the one before it in its paragraph, or empty; "Yes." may answer it.
        after: the one after it, or empty.
    """
    text = sentence.replace("’", "'")
    if not _BARE.match(text):
        return False
    return _states(after) or (not _YES_OR_NO.match(text) and _states(before))


def ends_bare(text: str) -> bool:
    """Whether a text ends with what may be such a sentence: the next one decides."""
    return _AT_END.search(text[-80:].replace("’", "'")) is not None


def _states(sentence: str) -> bool:
    if not sentence or reason(sentence) is not None or _BARE.match(sentence.replace("’", "'")):
        return False
    words = lex(sentence, 0, len(sentence))
    return find_verb(words, 0, len(words), loose=True) is not None
