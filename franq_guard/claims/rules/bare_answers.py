"""Answers without a content word: "Yes.", "True." and "It does." state nothing beside a sentence.

Unless that sentence denies the "Yes.": then both are claims, and at least one of them is false.
Alone such an answer states what was asked, or its opposite.
"""

from __future__ import annotations

import re

from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.nonclaims import has_verb, reason
from franq_guard.claims.rules.questions import ASKS, SCOPE, statement
from franq_guard.claims.rules.render import as_sentence, plain

_FIRM_NO = r"(?:(?:definitely|absolutely|certainly|surely|of course) not|not at all)"
_TRUE_FALSE = r"(?:true|false)(?!\W*:)"
_YES_NO = (
    r"(?:yes|no|yep|yeah|yup|nope|correct|incorrect|indeed|exactly|definitely"
    rf"|{_FIRM_NO}|{_TRUE_FALSE})"
)
_POLITE = r"(?:absolutely|certainly|sure(?:ly)?|of course)"
"""Before other text a mere courtesy: "Certainly! Here is the list:"."""
_SUBJECT = "(?:it|he|she|they|we|you|i|this|that|these|those|there)"
_AUXILIARY = "|".join(sorted(re.escape(x) for x in w.FINITE_AUXILIARIES))
_ECHO = rf"(?:{_YES_NO}[,;:]? )?{_SUBJECT} (?:{_AUXILIARY})(?: not)?(?: too)?[^\w.!]*[.!]"
_ANSWER = rf"(?:{_YES_NO}|{_ECHO})"
_MARKS = r"[\"'”)*_]*"
_YES_OR_NO = re.compile(rf"\W*{_YES_NO}\W*$", re.I)
_BEGINS = re.compile(rf"\W*{_YES_NO}\b", re.I)
_BARE = re.compile(rf"\W*{_ANSWER}\W*$", re.I)
_AT_END = re.compile(rf"(?:^|\n|[.!?…:]{_MARKS}\s+){_MARKS}\W*(?:{_ANSWER}|{_POLITE})\W*$", re.I)
_SURE = re.compile(
    rf"\W*(?:yes|yep|yeah|yup|true|definitely|{_POLITE}|(?P<no>no|nope|false|{_FIRM_NO}))\W*$", re.I
)
_VALUE = re.compile(rf"\W*{_TRUE_FALSE}\W*$", re.I)
_AGREES = re.compile(rf"\W*{_POLITE}\W*$", re.I)
_ASKS_WHETHER = re.compile(
    rf"(?:.*[.!?,:]\s+)?\W*(?:(?:and|but|so) )?(?:{_AUXILIARY})\b(?! you\b)[^.!?]*\?*\W*$"
    r"|.*\b(?:true or false|right or wrong)\b",
    re.I | re.S,
)
"""What "Certainly." answers; not "Can you list them?", which asks one to do something."""
_SURE_ECHO = re.compile(
    rf"\W*(?:(?P<yes_or_no>yes|yep|yeah|yup|no|nope|true|false|definitely|{_FIRM_NO})[,;:]? )?"
    r"(?:it|he|she|they|this|these|that|there)"
    rf" (?P<verb>{_AUXILIARY})(?P<not> not)?\W*$",
    re.I,
)
_MOST_READ = 500
_POSITIVE = {"can't": "can", "cannot": "can", "won't": "will"}


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


def denied(sentence: str, question: str, after: str) -> str | None:
    """What "Yes." or "No." states, if the sentence after it surely states the opposite; else None.

    Sure is only a sentence of the question's own words in their order, with or without "not":
    "Was it red?", "Yes. It was not red." gives "It was red."
    """
    answer = _SURE.match(sentence)
    if answer is None:  # "Correct." may be about something else
        return None
    verb, *asked = _words(question) or [""]
    words = _words(after)
    low = [word.casefold() for word in words]
    wanted = [word.casefold() for word in asked]
    if verb.casefold() not in ASKS or SCOPE & {*wanted}:
        return None
    for k in (k for k, word in enumerate(low) if k and word == verb.casefold()):
        rest = k + 1 + (low[k + 1 : k + 2] == ["not"])
        if low[:k] + low[rest:] == wanted:
            says_no, is_no = rest > k + 1, answer["no"] is not None
            statement_words = [*words[: k + 1], *(["not"] if is_no else []), *words[rest:]]
            return None if says_no == is_no else as_sentence(" ".join(statement_words))
    return None


def lone(sentence: str) -> bool:
    """Whether the sentence is "Yes." or "No, it is not."; what it states depends on a question."""
    return _BARE.match(sentence.replace("’", "'")) is not None


def is_value(sentence: str) -> bool:
    """Whether it is "True" or "False", which may also be a value or the name of a part."""
    return _VALUE.match(sentence) is not None


def means_value(sentence: str, question: str, lead: str) -> bool:
    """Whether "False." is what was asked for, as in "What does it return?", or an item of a list.

    ``lead``: what leads to the list it is in: "Allowed are:".
    """
    return is_value(sentence) and (bool(lead) or not _asks_whether(question))


def agrees(sentence: str, question: str) -> bool:
    """Whether the sentence, if it is the whole answer, is the "Certainly." that says yes."""
    return _AGREES.match(sentence) is not None and _asks_whether(question)


def _asks_whether(question: str) -> bool:
    return _ASKS_WHETHER.match(question[-_MOST_READ:]) is not None


def asked(sentence: str, question: str) -> str | None:
    """What such a sentence states as the answer to ``question``; None if that is not certain."""
    text = sentence.replace("’", "'")
    answer = _SURE.match(text)
    if answer is not None:
        return statement(question, yes=answer["no"] is None)
    echo = _SURE_ECHO.match(text)
    if echo is None or not question:
        return None
    verb, says_no = echo["verb"].lower(), bool(echo["not"])
    if verb.endswith("n't") or verb == "cannot":
        verb, says_no = _POSITIVE.get(verb, verb.removesuffix("n't")), True
    yes_or_no = _SURE.match(echo["yes_or_no"] or "")
    if yes_or_no is not None and (yes_or_no["no"] is not None) != says_no:
        return None  # "Yes, it is not."
    same = question.split(maxsplit=1)[0].lower() == verb
    return statement(question, yes=not says_no) if same else None


def says_yes_or_no(answer: str) -> bool:
    """Whether such a sentence begins with "Yes" or the like, and is not just "It does."."""
    return _BEGINS.match(answer) is not None


def _words(text: str) -> list[str]:
    text = re.sub(r"n't\b", " not", plain(text).replace("’", "'"))
    return text.strip(" \t\n?.!\"'").split()


def ends_bare(text: str) -> bool:
    """Whether a text ends with what may be such a sentence: the next one decides."""
    return _AT_END.search(text[-80:].replace("’", "'")) is not None


def _states(sentence: str) -> bool:
    if not sentence or reason(sentence) is not None or _BARE.match(sentence.replace("’", "'")):
        return False
    return has_verb(sentence)
