"""Replaces "he", "its" or "the film" by the name it refers to, if only one can be meant.

A wrong name would make a true claim false. So a claim is not changed if there is any doubt: if the
sentence before names a second person or thing, if its subject is not a name, or in a new paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from franq_guard.basics.words import word_set
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.clause import Clause
from franq_guard.claims.rules.finite_verb import is_adverb, main_verb, subject_start
from franq_guard.claims.rules.lexer import Word, lex
from franq_guard.claims.rules.names import complement, is_name, noun_phrase
from franq_guard.claims.rules.topics import MAX_READ, PERSONAL, Topic, after, asked
from franq_guard.claims.rules.verbs import PARTICIPLES

_POSSESSIVE = {"his": "person", "her": "person", "its": "thing", "their": "several"}
_PRONOUNS = PERSONAL.keys() | _POSSESSIVE.keys()
_EXPLETIVE = word_set("seems seemed appears appeared takes took turns turned happens rains follows")
_IS_A = re.compile(r"\b(?:is|was) (?:\w+ )?(?:an?|the|one)\b")


class Mentions:
    """Reads the sentences of an answer in order and remembers what they are about."""

    def __init__(self, question: str) -> None:
        self._topic: Topic | None = asked(question)
        self._kinds: dict[str, str | None] = {}

    def paragraph(self) -> None:
        """Begin a paragraph or list item; its pronouns are not resolved by the one before."""
        self._topic = None

    def passed(self, sentence: str) -> None:
        """Read a sentence."""
        self._topic = after(self._topic, sentence)
        self._kinds = _kinds_after(self._kinds, sentence)

    def resolved(self, answer: str, start: int, clause: Clause) -> tuple[Clause | None, str | None]:
        """The clause of the sentence at ``start`` with a name as its subject; None: not sure.

        And a note of whom or what its pronoun means, "it: Dune"; None: in doubt. A name that may be
        a person's or a thing's is enough for the note, which is too little for the claim's text:
        "It" after "Kestrel Motors built small cars".
        """
        frame = clause.frame
        place = self._subject(frame)
        if place is None:
            return None, None
        k, verb = place
        named = self._named(frame, k, verb)
        if named is not None:
            noun = replace(frame[k + 1], text=named)
            return Clause((*frame[:k], noun, *frame[k + 2 :]), clause.covered), None
        found = self._meant(answer, start, frame, k, verb)
        if found is None:
            return None, None
        topic, wanted = found
        low = frame[k].low
        note = f"{low}: {topic.name}" if topic.is_likely(low, wanted) else None
        if not topic.is_surely(wanted):
            return None, note
        name = replace(frame[k], text=topic.name + ("'s" if low in _POSSESSIVE else ""))
        return Clause((*frame[:k], name, *frame[k + 1 :]), clause.covered), note

    def _subject(self, frame: Sequence[Word]) -> tuple[int, int] | None:
        """Where the subject and the verb of a clause are, if the subject may be replaced."""
        pronouns = self._topic is not None and any(x.low in _PRONOUNS for x in frame)
        if not pronouns and not self._kinds:
            return None
        start = subject_start(frame)
        verb = main_verb(frame, start)
        if verb is None:
            return None
        k = next((k for k in range(start, verb) if not is_adverb(frame[k])), verb)
        return None if k == verb or frame[k].index < 0 or frame[k].shielded else (k, verb)

    def _meant(
        self, answer: str, start: int, frame: Sequence[Word], k: int, verb: int
    ) -> tuple[Topic, str] | None:
        """The only thing that the pronoun at ``k`` may refer to, and the pronoun's kind."""
        low = frame[k].low
        wanted = PERSONAL.get(low) if verb == k + 1 + _adverbs(frame, k + 1, verb) else None
        wanted = wanted or (_POSSESSIVE.get(low) if verb > k + 1 else None)
        if wanted is None or (low == "it" and _is_expletive(frame, verb)):
            return None
        before = answer[start : frame[k].start]
        topic = self._topic
        if any(x.is_name for x in lex(before)[1:]) or _has_verb(before):
            topic = after(topic, before)
        return (topic, wanted) if topic is not None and topic.may_be(low, wanted) else None

    def _named(self, frame: Sequence[Word], k: int, verb: int) -> str | None:
        """The name of "the film" or "this team"."""
        if frame[k].low not in {"the", "this"} or verb != k + 2 + _adverbs(frame, k + 2, verb):
            return None
        return self._kinds.get(frame[k + 1].low)


def _adverbs(frame: Sequence[Word], start: int, stop: int) -> int:
    return stop - start if all(map(is_adverb, frame[start:stop])) else -len(frame)


def _is_expletive(frame: Sequence[Word], verb: int) -> bool:
    """Whether "it" refers to nothing: "It is known that", "It takes years to", "It was he who"."""
    low = frame[verb].low
    rest = {x.low for x in frame[verb + 1 :]}
    after = frame[min(verb + 1, len(frame) - 1)].low
    if low in w.HAVE and after not in {"been", "to"}:
        return False  # "It had a gate for guests"
    if after in {"a", "an", "the", "one"} or after in PARTICIPLES:
        rest.discard("for")  # "It was a hub for trade", "It is known for its wine"
    return low in _EXPLETIVE or bool(
        low in w.AUXILIARIES
        and rest & {"that", "to", "who", "whether", "when", "how", "why", "for", "if"}
    )


def _has_verb(text: str) -> bool:
    words = lex(text)
    return bool(words) and main_verb(words, 0) is not None


def _kinds_after(kinds: dict[str, str | None], sentence: str) -> dict[str, str | None]:
    """The name for each noun after the sentence: after "Dune is a film", "the film" is Dune."""
    if not kinds and not _IS_A.search(sentence[:MAX_READ]):
        return kinds
    words = lex(sentence[:MAX_READ])
    start = subject_start(words)
    verb = main_verb(words, start)
    noun = None if verb is None else complement(words, verb)
    found = dict(kinds)
    for before, word in zip([None, *words], words, strict=False):
        single = word.low.removesuffix("s")
        mention = before is not None and before.low in {"the", "this", "its", "his", "her", "their"}
        if word is not noun and single in found and (single != word.low or not mention):
            found[single] = None  # another film, or several
    if noun is None or verb is None:
        return found
    phrase = noun_phrase(words[start:verb])
    if is_name(phrase) and not any(x.low in {"and", "&"} for x in phrase):
        name = sentence[phrase[0].start : phrase[-1].end].strip("*_")
        found[noun.low] = name if found.get(noun.low, name) == name else None
    return found
