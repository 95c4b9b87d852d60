"""What only opens a statement: "Third, Rome is big", "In summary, Rome is big", "Yes, it is big".

None of it says anything that a passage could state, and with it a model finds a false statement
less wrong. Words that bear on whether it is true stay ("Reportedly",
"According to Smith").
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from franq_guard.claims.attribution import REPORTED_IN, REPORTING_VERB
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.finite_verb import main_verb, subject_start
from franq_guard.claims.rules.lexer import lex
from franq_guard.records import Passage

__all__ = ["unopened"]

_ORDINAL = r"(?:First|Second|Third|Fourth|Fifth|Sixth|Seventh|Eighth|Ninth|Tenth)(?:ly)?"
_KEYCAP = r"(?:[0-9#*]\ufe0f?\u20e3|\U0001f51f)"
_COUNTED = re.compile(
    rf"(?:(?:{_ORDINAL}|Finally|Lastly), (?!(?i:{_ORDINAL}|and)\b)"
    rf"|(?:Step|Point) #?\d{{1,2}}[:.)] |{_KEYCAP}[:.]?\s*"
    r"|#\d{1,2}[:.)]? (?=[A-Z])"
    r"|\d{1,2}: (?=[A-Z][^:]*$))"  # "6: Element: Carbon." is a row of a table
    r"(?=\W*\w)"
)
_NOTED = re.compile(
    r"(?:(?:please )?(?:note|remember|keep in mind|bear in mind|be aware) that "
    r"|(?:(?:please )?note|important|tip|warning|caution|remember|reminder): "
    r"|(?:(?:please )?(?:remember|be sure|make sure)|(?:please )?(?:don['’]t|do not) forget) to "
    r"|please )(?=[\w\"“`'*])",
    re.I,
)
_SHOWN = r"(?:(?:provided|given|available|supplied|retrieved|above) )"
_WHERE = r"(?: (?:(?:that (?:was|were) )?(?:provided|given|supplied|retrieved)|above))"
_WHOLE = (
    rf"(?:(?:(?:both|all)(?: of)? )?(?:the|these|this|your) {_SHOWN}?"
    r"(?:contexts?|search results|knowledge base"
    rf"|(?P<named>passage|document|documentation|text|source|excerpt|snippet)s?){_WHERE}?"
    rf"|the (?:{_SHOWN}information|information{_WHERE}))"
)
"""All that was retrieved, as in "the provided documents"; ``named``: others may be meant."""
_OPENERS = tuple(
    re.compile(rf"{pattern}\s+(?=[\w\"“'*])", re.I)
    for pattern in (
        r"(?:yes|no|yep|yeah|yup|nope|sure)(?:[,;:!]|\s?[–—]|\s-)",
        r"(?:in (?:summary|conclusion|short)|to (?:summari[sz]e|sum up|conclude))[,:]",
        r"(?:overall|therefore|thus),",
        rf"(?:according to|based (?:solely |only )?on|as per|as {REPORTED_IN} (?:in|by)) {_WHOLE},",
        rf"as {_WHOLE} {REPORTING_VERB},",
        rf"{_WHOLE} (?!(?:\w+ )?claim){REPORTING_VERB} that\b",
    )
)
_NO_MAIN_CLAUSE = w.SUBORDINATORS | w.COORDINATORS | w.CONTRASTS


def unopened(text: str, passages: Sequence[Passage] = ()) -> str:
    """The text without what opens it: "Yes, ", "Third, ", "Please note that ", "In summary, ".

    What follows "Yes, " and the like must be a full clause. The words stay if the passages have
    them: "Yes, Prime Minister" is a title, and "the document" may be one that a passage names.
    """
    while True:
        start = _begin(text, passages)
        if not start:
            return text
        text = text[start].upper() + text[start + 1 :]


def _begin(text: str, passages: Sequence[Passage]) -> int:
    """Where the text begins behind one opening; 0: there is none."""
    for pattern in (_COUNTED, _NOTED):
        found = pattern.match(text)
        if found is not None:
            return found.end()
    for pattern in _OPENERS:
        found = pattern.match(text)
        if found is not None and _is_clause(text[found.end() :]):
            return 0 if _is_in_passages(found, passages) else found.end()
    return 0


def _is_clause(text: str) -> bool:
    words = lex(text)
    if words[0].low in _NO_MAIN_CLAUSE:
        return False
    start = subject_start(words)
    verb = main_verb(words, start)
    return verb is not None and (verb > start or words[verb].low in w.PRONOUN_VERBS)


def _is_in_passages(found: re.Match[str], passages: Sequence[Passage]) -> bool:
    """Whether the passages have these words and the next one, or name such a thing."""
    after = found.string[found.end() :].split(maxsplit=1)[0]
    named = found.groupdict().get("named") or found.group() + after
    pattern = re.compile(rf"\b{re.escape(named)}", re.I)
    return any(
        pattern.search(text) for passage in passages for text in (passage.title, passage.text)
    )
