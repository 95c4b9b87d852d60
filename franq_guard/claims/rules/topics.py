"""What a sentence is about, and whether a later pronoun may refer to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.finite_verb import main_verb, subject_start
from franq_guard.claims.rules.lexer import Word, lex
from franq_guard.claims.rules.names import (
    NO_PERSON,
    complement,
    is_described,
    is_full_name,
    is_name,
    is_person_noun,
    noun_phrase,
)
from franq_guard.claims.rules.rivals import rivals
from franq_guard.claims.rules.sexes import PRONOUN_SEXES, Sex, sex_of_name, sex_of_noun
from franq_guard.claims.rules.verbs import BASE_FORMS, PARTICIPLES

PERSONAL = {"he": "person", "she": "person", "it": "thing", "they": "several"}
MAX_READ = 400
"""How many characters of a sentence are read."""
_ALL = frozenset(PERSONAL.values())
_GROUPS = frozenset({"team", "band", "group", "family", "couple"})


@dataclass(frozen=True, slots=True)
class Topic:
    """The name that the last sentence was about.

    ``kind``: person, thing, several, unknown, noun (the sentence calls it by a noun that may be a
    thing's or a person's) or described (a thing, of a name and a noun: "the Arno mill"). ``alone``
    has the kinds of which the sentence mentioned nothing else, ``sex`` that of the person, if a
    word shows it.
    """

    name: str
    kind: str
    alone: frozenset[str]
    sex: Sex | None = None

    def may_be(self, pronoun: str, wanted: str) -> bool:
        """Whether nothing speaks against it: no other one of that kind, no other sex."""
        sex = PRONOUN_SEXES.get(pronoun)
        return wanted in self.alone and not (sex and self.sex and sex != self.sex)

    def is_surely(self, wanted: str) -> bool:
        """Whether it is of that kind."""
        if wanted == "person" and self.kind == "unknown":
            return is_full_name(self.name)
        return wanted == self.kind or (wanted == "thing" and self.kind == "noun")

    def is_likely(self, pronoun: str, wanted: str) -> bool:
        """Whether it is of that kind, or of none that is known and the pronoun fits the name."""
        if self.is_surely(wanted):
            return True
        if wanted == "person":
            return self.kind == "unknown" and self.sex == PRONOUN_SEXES[pronoun]
        if wanted == "thing":
            return self.kind == "described" or (self.kind == "unknown" and self.sex is None)
        named = self.name.lower()
        return (
            self.kind in {"thing", "unknown"} and named.startswith("the ") and named.endswith("s")
        )


def after(topic: Topic | None, text: str) -> Topic | None:
    """The topic that a pronoun may refer to after ``text``."""
    words = lex(text[:MAX_READ])
    if not words or (topic is None and not any(x.is_name for x in words[:20])):
        return None
    start = subject_start(words)
    verb = main_verb(words, start)
    aside: Sequence[Word] = ()
    commas = [k for k, x in enumerate(words) if x.is_comma and k > start]
    hidden = verb is None or any(k < verb for k in commas)
    if hidden and len(commas) > 1:  # "Marie Curie, who was born in Warsaw, won ..."
        aside = words[commas[0] + 2 : commas[1]]
        words = [*words[: commas[0]], *words[commas[1] + 1 :]]
        verb = main_verb(words, start)
    if verb is None or len(text) > MAX_READ:
        return None
    phrase = noun_phrase(words[start:verb])
    rest = [*words[verb + 1 :], *aside, *words[:start]]
    if len(phrase) == 1 and phrase[0].low in PERSONAL:
        others = rivals(rest, words[verb].low, copular=False)
        return topic and _gone_on(topic, phrase[0].low, others)
    described = is_described(phrase)
    if not (described or is_name(phrase)):
        return None
    noun = complement(words, verb)
    copular = words[verb].low in w.BE and noun is not None
    name = text[phrase[0].start : phrase[-1].end].strip("*_")
    sex = sex_of_noun(noun.low) if noun else None
    return Topic(
        name,
        "described" if described else _kind(words, verb, phrase),
        _ALL - rivals(rest, words[verb].low, copular=copular),
        None if described else sex or sex_of_name(name),
    )


def _gone_on(topic: Topic, pronoun: str, others: set[str]) -> Topic:
    """The topic after a sentence whose subject is the pronoun."""
    kind = PERSONAL[pronoun]
    if kind == "person" and not topic.may_be(pronoun, kind):
        return replace(topic, alone=topic.alone - others - {"person"})
    return replace(topic, alone=topic.alone - others, sex=topic.sex or PRONOUN_SEXES.get(pronoun))


def _kind(words: Sequence[Word], verb: int, phrase: Sequence[Word]) -> str:
    if any(x.low in {"and", "&"} for x in phrase):
        return "several"
    noun = complement(words, verb)
    if noun is not None and (noun.low in _GROUPS or noun.low in NO_PERSON):
        return "thing"
    if noun is not None:
        return "person" if is_person_noun(noun) else "noun"
    after = {x.low for x in words[verb : verb + 3]}
    if after & {"born", "died", "married", "studied", "graduated"}:
        return "person"
    if any(x.low in NO_PERSON or x.is_number for x in phrase):
        return "thing"
    return "unknown"


def asked(question: str) -> Topic | None:
    """What the question names right after its verb: "When was Ada Lovelace born?"."""
    words = lex(question[:MAX_READ])
    verb = next((k for k, x in enumerate(words[:4]) if x.low in {"was", "is", "did", "does"}), None)
    if verb is None:
        return None
    start = end = verb + 1
    if start < len(words) and words[start].low == "the":
        end += 1
    while end < len(words) and words[end].is_name:
        end += 1
    name = question[words[verb].end : words[end - 1].end].strip() if end > start else ""
    if not words[end - 1].is_name or any(x.is_name for x in words[end:]) or "'" in name:
        return None
    kinds = {"person"} if is_full_name(name) else set[str]()
    if _goes_on(words[end:]):
        kinds |= {"thing"} - rivals(words[end + 1 :], words[end].low, copular=False)
    return Topic(name, "unknown", frozenset(kinds), sex_of_name(name)) if kinds else None


def _goes_on(words: Sequence[Word]) -> bool:
    """Whether a verb or a mark follows the name, no noun as in "Is the Arno mill open?"."""
    return bool(words) and (not words[0].is_word or words[0].low in PARTICIPLES | BASE_FORMS)
