"""Noun phrases that are names, and what the sentence says that their bearer is."""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard.basics.words import word_set
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.agreement import head
from franq_guard.claims.rules.antecedents import PEOPLE
from franq_guard.claims.rules.finite_verb import after_adverbs, is_adverb, is_plural
from franq_guard.claims.rules.lexer import Word
from franq_guard.claims.rules.professions import is_profession
from franq_guard.claims.rules.verbs import GERUNDS

_LINKS = frozenset(
    {"of", "the", "de", "van", "von", "da", "la", "der", "di", "le", "el", "al", "bin"}
)
_PERSONS = word_set(
    "resident participant inhabitant correspondent dissident opponent descendant immigrant emigrant"
    " adolescent superintendent expert pioneer head"
)
NO_PERSON = word_set(
    "the new old united north south east west northern southern eastern western saint st mount lake"
    " river sea ocean university college school company inc corp ltd group party band league cup"
    " war battle act treaty city county state republic kingdom empire church bank museum bridge"
    " tower castle park street road airport station hospital council committee ministry"
    " department agency"
    " union club fc society institute award prize festival day book film album song series show"
    " foundation association federation organization organisation conference model"
    " project"
)


def noun_phrase(words: Sequence[Word]) -> Sequence[Word]:
    """A subject without adverbs; none if a name may begin with one: "First Light"."""
    if len(words) > 1 and words[0].low in w.ADVERBS and words[1].is_name:
        return ()
    return [x for x in words if not is_adverb(x)]


def is_name(phrase: Sequence[Word]) -> bool:
    """Whether the phrase is a name and nothing else: "Ada Lovelace", "the River Mell"."""
    if not phrase or not any(x.is_name and x.low not in w.DETERMINERS for x in phrase):
        return False
    if phrase[0].low in GERUNDS or phrase[0].low in {"here", "there", "i"}:
        return False  # "Having left the town, he ...": any first word has a capital
    inner = phrase[1:] if phrase[0].low == "the" else phrase
    return (
        all(
            (x.is_name and not x.low.endswith("'s") and x.low not in w.THIRD_PERSON | w.DETERMINERS)
            or x.low in _LINKS
            or x.text == "."
            or (x.low in {"and", "&"} and 0 < k < len(inner) - 1)
            for k, x in enumerate(inner)
        )
        and bool(inner)
        and inner[0].is_name
    )


def is_person_noun(word: Word) -> bool:
    """Whether the noun surely says what a person is: "smith", "sister" (not "tower")."""
    return word.low in PEOPLE | _PERSONS or is_profession(word)


def is_described(phrase: Sequence[Word]) -> bool:
    """Whether it names a thing with a noun or number: "the Arno mill", "the river Mell", "Plan 21".

    Not "the Arno smith" and "the smith Arno".
    """
    words = phrase[1:] if phrase and phrase[0].low == "the" else phrase
    named = [x for x in words if x.is_name and not x.low.endswith("'s")]
    nouns = [x for x in words if not (x.is_name or x.is_number)]
    if not named or len(named) == len(words) or any(not x.is_word for x in words):
        return False
    if named[0].low in w.DETERMINERS | w.THIRD_PERSON | w.ADVERBS:
        return False
    if not nouns:
        return not any(x.low.endswith("'s") for x in words)
    only = nouns[0]
    beside = len(nouns) == 1 and phrase[0].low == "the" and only in (words[0], words[-1])
    return beside and not (is_person_noun(only) or is_plural(only) or only.low in w.COORDINATORS)


def is_full_name(name: str) -> bool:
    """Whether it looks like the first and last name of a person."""
    parts = name.replace(".", " ").split()
    return 1 < len(parts) < 6 and not any(x.lower() in NO_PERSON for x in parts)


def complement(words: Sequence[Word], verb: int) -> Word | None:
    """The noun of "is a German painter"."""
    if words[verb].low not in {"is", "was"} or verb + 2 >= len(words):
        return None
    k = after_adverbs(words, verb + 1)
    if words[k].low not in {"a", "an", "the", "one"}:
        return None
    inside: list[Word] = []
    for word in words[k + 1 :]:
        stops = w.PREPOSITIONS | w.RELATIVES | w.COORDINATORS | w.AUXILIARIES
        if not word.is_word or word.low in stops:
            break
        inside.append(word)
    found = head(inside)
    return None if found is None or found.is_name or found.is_number else found
