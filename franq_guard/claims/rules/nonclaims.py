"""Recognises sentences that state nothing which could be true or false, and says why.

The patterns (``lexicon/nonclaims.txt``) are narrow on purpose: a claim that they match by mistake
would never be checked.
"""

from __future__ import annotations

import re

from franq_guard.claims.rules.finite_verb import find_verb
from franq_guard.claims.rules.lexer import lex
from franq_guard.claims.rules.lexicon import lines

_URL = re.compile(
    r"(?:\W*+(?:see|sources?|links?|url|reference|website|(?:(?:learn|read|find|see) )?more"
    r"(?: info(?:rmation)?| details)?(?: at| here| on)?)?\W*+)?(?:https?://|www\.)\S++\W*+$",
    re.I,
)  # ++ and *+: no run of marks is read twice
_SOURCES = r"(?:sources?|references?|citations?|cite)(?:\(s\))?"
_IN_ROUND = r"(?:[^()]|\([^()]*\))*"
_CITATION = re.compile(
    rf"{_SOURCES}\s*:.*$|[*_]{{1,3}}{_SOURCES}[*_]{{0,2}}\s*:[*_]{{0,2}}\s*[\w\[].*$"
    rf"|[*_]{{0,3}}\([*_]{{0,3}}{_SOURCES}[*_]{{0,2}}\s*:{_IN_ROUND}(?:\)\W*)?$"
    r"|\W*(?:\[\d+\]\W*)+$",
    re.I,
)
"""What only names a source; not what follows it: "(Source: passage 1) It is red."."""
_LABEL = re.compile(r"(?:(?:please |important )?note|disclaimer|caveat|limitations?)\s*:\s+", re.I)
"""What calls a sentence one about the answer: "Note: I could not find the price."."""
_TAG = re.compile(r"\W*(?:<[/|]?\w+[/|]?>|\[![A-Z]+\])\W*")
"""What a model's template left ("</answer>"), and what begins a note on GitHub ("[!NOTE]")."""
_TITLE = re.compile(
    r"\W*?(?:[\"“][^\"“”]{0,80}[^\"“”\s,.!?…][\"”]\s+(?=[a-z])"
    r"|\*[^*]{0,80}[^*\s,.!?…]\*\s+(?=(?:is|was)\b))"
)
"""A title that begins a sentence: '"I Don't Like Mondays" is a song'."""
_NAMED_AT_END = re.compile(r"(?P<before>[^\"“”]*[^\s\"“”,:(—–-])\s+[\"“][^\"“”]*\?[\"”]\W*$")
_ASKING = re.compile(
    r"\W*(?:who|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|will|would"
    r"|have|has|had|should)\b|.*\b(?:ask\w*|question\w*|wonder\w*|answer\w*)\b",
    re.I | re.S,
)
_OF_ANSWER = frozenset({"refusal", "hedge"})
_LEADING = re.compile(r"^[\W_]+")
_MAX_READ = 400


def reason(sentence: str) -> str | None:
    """Why ``sentence`` is not a claim; None if it is one.

    Reasons: ``no statement`` (no word, or a lone tag), ``link``, ``citation``, ``question``,
    ``refusal``, ``hedge`` (about the answer or the assistant itself), ``greeting`` (pleasantries
    and offers to help too), ``lead-in`` (announces a list), ``opinion``, ``instruction`` (whom to
    ask or where to read on, as in "See passage 2."; what else to do is a claim). The splitter adds
    ``unfinished`` for a last sentence that was cut off (:mod:`.unfinished`) and ``yes or no`` for
    "Yes." beside a full sentence, or to a question whose words do not surely tell what it states
    (:mod:`.bare_answers`).
    """
    sentence = sentence.replace("ℹ", "*")  # the one emoji that counts as a letter
    if not any(c.isalnum() for c in sentence) or _TAG.fullmatch(sentence):
        return "no statement"
    if _URL.match(sentence):
        return "link"
    if _CITATION.match(sentence):
        return "citation"
    if sentence.rstrip("\"'”’)]*_ !.").endswith(("?", "？", "؟")) and not _names_title(sentence):
        return "question"
    text = _TITLE.sub("Title ", sentence, count=1) if _TITLE.match(sentence) else sentence
    text = _LEADING.sub("", text.replace("*", "").replace("’", "'"))
    read = text[:_MAX_READ]
    labelled = _LABEL.match(read)
    for label, pattern in _PATTERNS:
        if pattern.search(read):
            return label
        if labelled and label in _OF_ANSWER and pattern.search(read[labelled.end() :]):
            return label
    return "lead-in" if read.endswith(":") and not has_verb(read) else None


def _names_title(sentence: str) -> bool:
    """Whether the question at its end is a title that it names: 'Her song is "Who Is It?"'."""
    named = _NAMED_AT_END.match(sentence)
    return named is not None and not _ASKING.match(named["before"]) and has_verb(named["before"])


def has_verb(text: str) -> bool:
    """Whether a word of the text may be a finite verb."""
    found = lex(text)
    return find_verb(found, 0, len(found), loose=True) is not None


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
