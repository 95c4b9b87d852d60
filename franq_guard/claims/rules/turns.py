"""Where a sentence that begins as no statement goes on to state something: "..., but it is red".

Only a clause with its own subject and a finite verb counts. One that goes on about what the
passages or the assistant cannot say is part of the refusal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from franq_guard.basics.words import word_set
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.clause import Clause
from franq_guard.claims.rules.finite_verb import (
    find_verb,
    is_adverb,
    is_finite,
    subject_start,
)
from franq_guard.claims.rules.lexer import lex
from franq_guard.claims.rules.nonclaims import reason
from franq_guard.claims.rules.verbs import THIRD_PERSON_FORMS
from franq_guard.records import Span

_CONTRAST = (
    r"(?<!help)(?<!\s)(?:\s*[,;]|\s+[–—-])?\s+(?:but|although|though|whereas|however|yet)\b,?\s+"
)
_TURN = re.compile(rf"{_CONTRAST}|;\s+|(?<!\s)\s+[–—]\s+|,\s+(?:and|so)\s+", re.I)
_CAUSE = re.compile(r",\s+(?:since|because)\s+", re.I)
_COLON = re.compile(r"(?<!\d):\s+")
_COMMA = re.compile(
    rf"[,!]\s+(?=(?-i:[A-Z])|(?:{'|'.join(sorted(w.DETERMINERS | w.SUBJECT_PRONOUNS))})\b)", re.I
)
_THAT = re.compile(
    r"\b(?:can|could|may|might|must|should|will) (?:(?:also|now|only|therefore) )?"
    r"(?:say|see|tell you|confirm|state|report|add|find|verify|check|read|know|consider|learn)\b"
    r"(?: (?:in|from|on) (?:\w+ ){1,3})?\s*that\s+"
    r"|\b(?:enough|agree more|doubt|deny) that\s+"
    r"|^my \w+ is that\s+|^as an? [\w ]{1,40},? i (?:\w+ )?(?:confirm|say|state|report) that\s+",
    re.I,
)
_ONLY = re.compile(
    r"(?<!\s)(?:(?:\s*[,;]|\s+[–—-]|\s+but)\s+(?:but\s+)?(?:(?:it|they|(?:the|this|these) \w+)\s+)?"
    r"(?:only|just|merely|simply)(?: (?:says?|states?|mentions?|notes?|tells? us|indicates?))?"
    r"|,?\s+(?:other than|except|apart from|beyond(?= the fact\b))(?: the fact)?) that\s+",
    re.I,
)
"""After what the passages do not say, what they do: "..., only that it is red"."""
_SAYING = re.compile(
    r"^\W*(?:let's|let me|let us|i will|i'll|i'm going to) (?:\w+ ){0,4}?(?:say|add|note|clarify"
    r"|mention|confirm|repeat|stress|emphasi[sz]e|point out|(?:tell|remind) you)(?:ing)? that\s+",
    re.I,
)
_EQUATION = re.compile(r"(?:[^:=]{0,80}=)?[^:=]{0,80}\d[^:=]{0,20}=[^:=\w]{0,4}\d")
"""What is computed: "4 × 5 = 20"; not "x = 5", which is only set."""
_DASH = re.compile(r"(?<!\s)\s+[–—]\s+")
_REGRET = re.compile(
    r"^\W*(?:i'm|i am) (?:(?:very|so|truly) )?"
    r"(?:afraid|sorry to (?:say|report|tell you|inform you))(?: that\b)?\s+"
    r"(?!(?:of|to|for)\b)(?=\w)",
    re.I,
)
_CONCESSION = re.compile(r"\W*(?:while|although|(?:even )?though)\b", re.I)
_ANY_COMMA = re.compile(r",\s+")
_SORRY = re.compile(
    r"\W*(?:(?:i'm|i am) )?(?:very |so |truly )?(?:sorry|afraid|unfortunately)$", re.I
)
_MOST = 20
"""How many places of a sentence are tried, which keeps the time linear."""
_SILENT = re.compile(
    r"\b(?:not?|nothing|cannot|insufficient|unable|without|only|unclear|unknown|impossible|limited"
    r"|lacks?|fails?|\w+n't)\b.{0,60}"
    r"\b(?:information|details?|mention\w*|provid\w+|specif\w+|context|passages?|documents?|text"
    r"|sources?|answer\w*|questions?|determin\w+|known|available|given|stat(?:ed?|es|ing)|data"
    r"|evidence|enough|found?|find|says?|tell|confirm\w*|conclu\w+|possible|clear|explicit\w*"
    r"|access|scope|sufficient|indicat\w+|include[sd]?|contains?)\b"
    r"|^it(?:'s| is) the (?:answer|only one)\b"
    r"|^(?:they|it|(?:the|these|this) (?:context|passages?|documents?|texts?|sources?|articles?))"
    r" (?:(?:do|does|only|also) )*(?:mention|describe|discuss|cover|note|refer|list|talk)s?\b"
    r"(?!.*(?:\d|\bthat\b|\b(?-i:[A-Z])))",
    re.I,
)
"""The passages or the assistant cannot say something, or what the passages are about."""
_KNOWING = re.compile(
    r"(?:i|we) (?:\w+ )?(?:know|believe|think|recall|remember|understand|assume|suspect|see|found)"
    r" (?:that )?",
    re.I,
)
_MARKS = " \"'“”‘’«»()`*_"
_TALKERS = word_set("i we you i'm i've i'd i'll we're we've we'd we'll you're you've you'd you'll")
_OF_SPEAKER = word_set("i personally honestly frankly")
"""How an opinion begins that is surely about the thing, unlike "It is the best, which ..."."""
_RATES = word_set("better best good great nice perfect ideal worse worst beautiful easier nicer")
_NO_START = (w.RELATIVES - {"that"}) | w.COORDINATORS | word_set("if whether how why")
_TURNS = {
    "refusal": (_TURN, _CAUSE, _COLON, _THAT, _ONLY),
    "hedge": (_TURN, _CAUSE, _COLON, _THAT),
    "greeting": (_TURN, _CAUSE, _COLON, _COMMA),
    "lead-in": (_COLON, _COMMA, _DASH, _SAYING),
    "opinion": (_TURN, _CAUSE),
    "instruction": (_CAUSE, _COLON, _THAT),
    "citation": (_COLON,),
}
"""Where a statement may begin, by what the sentence begins as."""
_LISTS = re.compile(
    r",?\s+(?P<rest>and\s+(?:(?:it|they|he|she) )?(?:also )?(?:(?:include|contain|offer|provide"
    r"|feature|cover|support|need|require|come|consist)s?|included|contained|offered|provided|has"
    r"|have|had|is|are|was|were)|(?<=,\s)including)\b[^,]*:\W*$",
    re.I,
)
"""The end of a lead-in that states something first: "... and includes the following:"."""
_LONGEST = 400
"""A longer sentence is hardly a lead-in, which also keeps the time linear."""
_BEFORE = re.compile(rf"{_CONTRAST}|;\s+|,\s+and\s+", re.I)
_ASKING = re.compile(
    rf"(?:{'|'.join(sorted(w.AUXILIARIES | w.RELATIVES - {'that'}))}|whose|how|why|when|if)\b", re.I
)
"""How a question begins."""
_BEFORE_ASKING = re.compile(
    rf"(?:{_BEFORE.pattern}|(?<!\s)\s+[–—]\s+|,\s+so\s+)(?={_ASKING.pattern})", re.I
)
_ENDS = {"refusal": _BEFORE, "question": _BEFORE_ASKING}
"""What joins a statement and the refusal or question that ends its sentence."""


class Turn(NamedTuple):
    """A sentence in two parts, of which one states something.

    Attributes:
        cut: where the first part ends; 0 if it only opens the statement: "You can see that".
        rest: where the second part begins, behind the conjunction or mark that joins them.
        states_first: whether the statement is the first part.
    """

    cut: int
    rest: int
    states_first: bool = False


def turn(sentence: str, why: str) -> Turn | None:
    """Where a sentence that is no claim (``why``, from :func:`.reason`) states something after all.

    None if it does so nowhere.
    """
    regret = _REGRET.match(sentence) if why == "refusal" else None
    if regret and reason(statement := sentence[regret.end() :]) is None:
        return Turn(0, regret.end()) if _states(statement, of_us=True) else None
    kinds = _TURNS.get(why, ())
    found = {
        (0 if kind in (_THAT, _SAYING) else m.start(), m.end())
        for kind in kinds
        for m in kind.finditer(sentence)
    }
    if why == "refusal":
        sorry = (m for m in _COMMA.finditer(sentence) if _SORRY.match(sentence[: m.start()]))
        found.update(m.span() for m in sorry)
        if _CONCESSION.match(sentence):
            found.update(_after_concession(sentence))
    for cut, rest in sorted(found, key=lambda x: x[1])[:_MOST]:
        statement = sentence[rest:]
        if reason(statement) is None and (_states(statement) or _EQUATION.match(statement)):
            return Turn(cut, rest)
    if why == "lead-in":
        return _list_at_end(sentence)
    if why == "question" and _ASKING.match(sentence.lstrip(_MARKS)):
        return None
    joints = _ENDS.get(why)
    return _at_end(sentence, why, joints) if joints else None


def facts_beside(opinion: Sequence[Clause]) -> list[Clause]:
    """The clauses of an opinion that state a fact: "I like Pro, which costs $15".

    Only those that surely are about what the opinion names, with a number or a name behind it.
    """
    if opinion[0].covered[0].low not in _OF_SPEAKER:
        return []
    found: list[Clause] = []
    for clause in opinion[1:]:
        begins, after = clause.covered[0], clause.covered[min(1, len(clause.covered) - 1)]
        goes_on = found and begins.low == "and" and begins.index == found[-1].covered[-1].index + 1
        is_aside = begins.is_comma and after.low in {"which", "who", "whose"}
        of_thing = clause.frame[0].index > 0 and clause.frame[0].low not in w.SUBJECT_PRONOUNS
        has_fact = any(x.is_number or x.is_name for x in clause.covered[1:])
        has_fact = has_fact and not any(x.low in _RATES for x in clause.covered)
        if (goes_on or is_aside) and of_thing and has_fact:
            found.append(clause)
    return found


def _after_concession(sentence: str) -> list[Span]:
    """The comma that ends "While the passages do not give its price, size or age, ...".

    That is the first one with a clause between it and the next comma; none where no clause is.
    """
    commas = [m.span() for m in islice(_ANY_COMMA.finditer(sentence), _MOST)]
    ends = [*(start for start, _ in commas[1:]), len(sentence)]
    clauses = zip(commas, ends, strict=False)
    return [span for span, end in clauses if _states(sentence[span[1] : end])][:1]


def _at_end(sentence: str, why: str, joints: re.Pattern[str]) -> Turn | None:
    """The turn of "It is red, but its price is not given", "It is red - do you like it?"."""
    for m in islice(joints.finditer(sentence), _MOST):
        opening = sentence[: m.start()]
        states = reason(opening) is None and _states(opening)
        if states and reason(sentence[m.end() :]) == why:
            return Turn(*m.span(), states_first=True)
    return None


def _list_at_end(sentence: str) -> Turn | None:
    """The turn of "It costs 9 euros and includes the following:", also without "It"."""
    found = _LISTS.search(sentence) if len(sentence) <= _LONGEST else None
    if found is None or reason(opening := sentence[: found.start()]) is not None:
        return None
    if opening.split(maxsplit=1)[0].lower() in THIRD_PERSON_FORMS:
        opening = f"It {opening[0].lower()}{opening[1:]}"
    vague = found["rest"].lower() == "including" and not any(map(str.isdigit, opening))
    states = not vague and _states(opening)  # vague: "It has many uses, including:"
    return Turn(found.start(), found.start("rest"), states_first=True) if states else None


def _states(text: str, *, of_us: bool = False) -> bool:
    """Whether it is a clause that states something about the world.

    ``of_us``: what it says of "we" or "you" counts: "We do not ship to Norway".
    """
    text = text.strip(_MARKS)
    known = _KNOWING.match(text)
    if known:
        text = text[known.end() :]
    words = lex(text)
    if not words or words[0].low in _NO_START or _SILENT.search(text):
        return False
    if words[0].low == "that" and not is_finite(words, min(1, len(words) - 1)):
        return False
    start = subject_start(words)
    verb = find_verb(words, start, len(words))
    if verb is None or (words[start].low in _TALKERS and not of_us):
        return False
    if words[verb].low in w.AUXILIARIES | w.PRONOUN_VERBS and not any(
        x.is_word and not is_adverb(x) for x in words[verb + 1 :]
    ):
        return False  # "I think it is"
    return verb > start or words[verb].low in w.PRONOUN_VERBS
