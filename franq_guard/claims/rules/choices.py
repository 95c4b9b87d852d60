"""What "The latter." or "Neither." states: the question with the thing that was chosen.

"Does the K2 run on gas or on oil?", "The latter." gives "The K2 does run on oil." Only where it is
sure where both things begin and end.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.bare_answers import agrees, asked, lone
from franq_guard.claims.rules.questions import statement
from franq_guard.claims.rules.render import as_sentence, plain

_CHOSEN = re.compile(
    r"\W*(?:the )?(?:(?P<first>former)|(?P<second>latter)|(?P<both>both)|(?P<none>neither))"
    r"(?: of them)?\W*$",
    re.I,
)
_PAIR = re.compile(
    r"\W*(?P<verb>(?i:are|were|do|have|can|could|will|would))"
    r" (?P<first>the [\w-]+|[A-Z]\w*(?: [A-Z]\w*){0,4})"
    r" and (?P<rest>(?:the [\w-]+|[A-Z]\w*)\b.*)"
)
"""Two subjects, each a name or "the" with one word: "Are the pump and the hose red?"."""
_NOTHING = frozenset({"not", "no", "else", "more", "less", "so", "both", "neither"})
"""What is no second thing: "Is it red or not?"."""


class Answer(NamedTuple):
    """A sentence that only its question makes a statement; ``full``: which, if that is certain."""

    full: str | None


def answered(sentence: str, question: str, *, is_all: bool) -> Answer | None:
    """The answer that "Yes.", "It does." or "Both." is; None if the sentence is another one.

    ``is_all``: it is the last sentence; before others, "Certainly." is no answer.
    """
    full = chosen(sentence, question)
    if full is not None:
        return Answer(full)
    if lone(sentence) or (is_all and agrees(sentence, question)):
        return Answer(asked(sentence, question))
    return None


def chosen(sentence: str, question: str) -> str | None:
    """What such a sentence states as the answer to ``question``; None if that is not certain."""
    answer = _CHOSEN.match(sentence)
    if answer is None or not question:
        return None
    asked = plain(question).strip().rstrip("?").rstrip()
    things = _things(asked)
    if things is not None:
        return _stated(answer, *things)
    if answer["both"] or answer["none"]:
        return _of_two(asked, yes=answer["both"] is not None)
    return None


def _things(question: str) -> tuple[str, str, str] | None:
    """What is before the two things that end a question, and these: "on gas", "on oil"."""
    before, *others = re.split(r",? or ", question)
    if len(others) != 1:
        return None
    second, words = others[0].split(), before.split()
    if not second or second[0].lower() in _NOTHING or len(words) < 3:
        return None
    if len(second) == 1:
        return before.removesuffix(words[-1]), words[-1], second[0]
    if second[0].lower() not in w.PREPOSITIONS | w.DETERMINERS or second[0] not in words[1:]:
        return None
    size = words[::-1].index(second[0]) + 1
    first = " ".join(words[-size:])
    return before.removesuffix(first), first, others[0]


def _stated(answer: re.Match[str], before: str, first: str, second: str) -> str | None:
    """What is stated of two things that end the question, which begins with ``before``."""
    yes = answer["none"] is None
    one, other = (statement(f"{before}{thing}?", yes=yes) for thing in (first, second))
    if one is None or other is None:
        return None
    if answer["first"] or answer["second"]:
        return one if answer["first"] else other
    return f"{one.removesuffix('.')} {'and' if yes else 'or'} {second}."


def _of_two(question: str, *, yes: bool) -> str | None:
    """What "Both." or "Neither." states of two subjects."""
    pair = _PAIR.fullmatch(question)
    predicate = statement(f"{pair['verb']} {pair['rest']}?", yes=yes) if pair else None
    if pair is None or predicate is None:
        return None
    predicate = f"t{predicate[1:]}" if predicate.startswith("The ") else predicate
    return as_sentence(f"{pair['first']} and {predicate}")
