"""Replaces "he", "its" or "the film" by the name it refers to, if only one can be meant.

A wrong name would make a true claim false. So a claim is not changed if there is any doubt: if the
sentence before names a second person or thing, if its subject is not a name, or in a new paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.agreement import head
from franq_guard.claims.rules.antecedents import is_person
from franq_guard.claims.rules.clause import Clause
from franq_guard.claims.rules.finite_verb import is_adverb, main_verb, subject_start
from franq_guard.claims.rules.lexer import Word, lex
from franq_guard.claims.rules.lexicon import word_set
from franq_guard.claims.rules.verbs import GERUNDS, PARTICIPLES

_PERSONAL = {"he": "person", "she": "person", "it": "thing", "they": "several"}
_POSSESSIVE = {"his": "person", "her": "person", "its": "thing", "their": "several"}
_PRONOUNS = _PERSONAL.keys() | _POSSESSIVE.keys()
_LINKS = frozenset(
    {"of", "the", "de", "van", "von", "da", "la", "der", "di", "le", "el", "al", "bin"}
)
_PLACED = frozenset({"in", "at", "near", "from", "to", "into", "through", "across", "on", "since"})
_NO_PERSON = word_set(
    "the new old united north south east west northern southern eastern western saint st mount lake"
    " river sea ocean university college school company inc corp ltd group party band league cup"
    " war battle act treaty city county state republic kingdom empire church bank museum bridge"
    " tower castle park street road airport station hospital council committee ministry"
    " department agency"
    " union club fc society institute award prize festival day book film album song series show"
    " institute foundation association federation organization organisation conference model"
    " project"
)
_EXPLETIVE = word_set("seems seemed appears appeared takes took turns turned happens rains follows")
_TOLD = re.compile(r"\b(?:is|was) (?:\w+ )?(?:an?|the|one)\b")
_MAX_READ = 400


@dataclass(frozen=True, slots=True)
class Topic:
    """The name that the last sentence was about: ``kind`` is person, thing, several or unknown.

    ``alone`` has the kinds of which the sentence mentioned nothing else.
    """

    name: str
    kind: str
    alone: frozenset[str]


class Mentions:
    """Reads the sentences of an answer in order and remembers what they are about."""

    def __init__(self, question: str) -> None:
        self._topic: Topic | None = _asked(question)
        self._kinds: dict[str, str | None] = {}

    def paragraph(self) -> None:
        """Begin a paragraph or list item; its pronouns are not resolved by the one before."""
        self._topic = None

    def passed(self, sentence: str) -> None:
        """Read a sentence."""
        self._topic = _after(self._topic, sentence)
        self._kinds = _kinds_after(self._kinds, sentence)

    def resolved(self, answer: str, start: int, clause: Clause) -> Clause | None:
        """The clause of the sentence at ``start`` with a name as its subject; None: not sure."""
        frame = clause.frame
        pronouns = self._topic is not None and any(x.low in _PRONOUNS for x in frame)
        if not pronouns and not self._kinds:
            return None
        verb = main_verb(frame, subject_start(frame))
        if verb is None:
            return None
        k = next((k for k in range(subject_start(frame), verb) if not is_adverb(frame[k])), verb)
        word = frame[k]
        if k == verb or word.index < 0 or word.shielded:
            return None
        name = self._pronoun(answer, start, frame, k, verb)
        if name is not None:
            end = "'s" if word.low in _POSSESSIVE else ""
            return Clause((*frame[:k], replace(word, text=name + end), *frame[k + 1 :]), clause.own)
        named = self._named(frame, k, verb)
        if named is None:
            return None
        return Clause((*frame[:k], replace(frame[k + 1], text=named), *frame[k + 2 :]), clause.own)

    def _pronoun(
        self, answer: str, start: int, frame: Sequence[Word], k: int, verb: int
    ) -> str | None:
        low = frame[k].low
        wanted = _PERSONAL.get(low) if verb == k + 1 + _adverbs(frame, k + 1, verb) else None
        wanted = wanted or (_POSSESSIVE.get(low) if verb > k + 1 else None)
        if wanted is None or (low == "it" and _is_expletive(frame, verb)):
            return None
        before = answer[start : frame[k].start]
        topic = self._topic
        if any(x.is_name for x in lex(before, 0, len(before))[1:]) or _has_verb(before):
            topic = _after(topic, before)
        if (
            topic is None
            or wanted not in topic.alone
            or topic.kind not in {wanted, "unknown", "told"}
        ):
            return None
        sure = wanted == topic.kind or (wanted == "person" and _full_name(topic.name))
        return topic.name if sure or (wanted == "thing" and topic.kind == "told") else None

    def _named(self, frame: Sequence[Word], k: int, verb: int) -> str | None:
        """The name of "the film" or "this team"."""
        if frame[k].low not in {"the", "this"} or verb != k + 2 + _adverbs(frame, k + 2, verb):
            return None
        return self._kinds.get(frame[k + 1].low)


def _adverbs(frame: Sequence[Word], start: int, stop: int) -> int:
    return stop - start if all(map(is_adverb, frame[start:stop])) else -len(frame)


def _after(topic: Topic | None, text: str) -> Topic | None:
    """The topic that a pronoun may refer to after ``text``."""
    words = lex(text[:_MAX_READ], 0, min(len(text), _MAX_READ))
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
    if verb is None or len(text) > _MAX_READ:
        return None
    phrase = _phrase(words[start:verb])
    rest = [*words[verb + 1 :], *aside, *words[:start]]
    if len(phrase) == 1 and phrase[0].low in _PERSONAL:
        if topic is None:
            return None
        others = _others(rest, copular=False)
        return replace(topic, alone=topic.alone - others)
    if not _is_name(phrase):
        return None
    copular = words[verb].low in w.BE and not _participle_follows(words, verb)
    name = text[phrase[0].start : phrase[-1].end].strip("*_")
    return Topic(
        name,
        _kind(words, verb, phrase),
        frozenset(_PERSONAL.values()) - _others(rest, copular=copular),
    )


def _kind(words: Sequence[Word], verb: int, phrase: Sequence[Word]) -> str:
    if any(x.low in {"and", "&"} for x in phrase):
        return "several"
    told = _complement(words, verb)
    if told is not None:
        return "person" if is_person((told,)) else "thing" if told.low in _NO_PERSON else "told"
    after = {x.low for x in words[verb : verb + 3]}
    if after & {"born", "died", "married", "studied", "graduated"}:
        return "person"
    if any(x.low in _NO_PERSON or x.is_number for x in phrase):
        return "thing"
    return "unknown"


def _complement(words: Sequence[Word], verb: int) -> Word | None:
    """The noun of "is a German painter"."""
    if words[verb].low not in {"is", "was"} or verb + 2 >= len(words):
        return None
    k = verb + 1
    while k < len(words) - 1 and is_adverb(words[k]):
        k += 1
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


def _participle_follows(words: Sequence[Word], verb: int) -> bool:
    return _complement(words, verb) is None


def _others(words: Sequence[Word], *, copular: bool) -> set[str]:
    """The kinds of other things that a pronoun might mean: persons, things, several things."""
    found: set[str] = set()
    for k, run in _phrases(words):
        before = words[k - 1].low if k else ""
        noun = run[-1]
        if noun.is_name and noun.low not in w.MONTHS:
            if before not in _PLACED and not (copular and before == "of"):
                found.add("person")
            if not copular:
                found.add("thing")
        elif noun.is_word and not noun.is_number and not noun.is_name:
            found |= _kinds_of(run, before, told=copular and k == 0)
    if any(x.low in {"and", "or"} for x in words):
        found.add("several")
    if any(x.low in {"he", "she", "him", "her", "his", "who", "whom", "whose"} for x in words):
        found.add("person")
    return found


def _kinds_of(run: Sequence[Word], before: str, *, told: bool) -> set[str]:
    """The kinds of things that a noun may mean; ``told``: it only describes the subject."""
    found: set[str] = set()
    noun = run[-1]
    if not told and run[0].low in w.DETERMINERS and before not in {"in", "on", "at", "during"}:
        found.add("thing")
    if not told and is_person((noun,)):
        found.add("person")
    if noun.low.endswith("s") or noun.low in w.PLURAL_NOUNS:
        found.add("several")
    return found


def _phrases(words: Sequence[Word]) -> Iterator[tuple[int, Sequence[Word]]]:
    """Runs of words between prepositions, verbs and marks, with their positions."""
    stops = w.PREPOSITIONS | w.COORDINATORS | w.RELATIVES | w.AUXILIARIES | w.SUBORDINATORS | {"or"}
    start = 0
    for k, word in enumerate([*words, Word(".", -1, -1, low=".")]):
        if word.low in stops or not word.is_word:
            if k > start:
                yield start, words[start:k]
            start = k + 1


def _phrase(words: Sequence[Word]) -> Sequence[Word]:
    """A subject without adverbs; none if a name may begin with one: "First Light"."""
    if len(words) > 1 and words[0].low in w.ADVERBS and words[1].is_name:
        return ()
    return [x for x in words if not is_adverb(x)]


def _is_name(phrase: Sequence[Word]) -> bool:
    """Whether the phrase is a name and nothing else: "Ada Lovelace", "the River Mell"."""
    if not phrase or not any(x.is_name and x.low not in w.DETERMINERS for x in phrase):
        return False
    if phrase[0].low in GERUNDS or phrase[0].low in {"here", "there"}:
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


def _full_name(name: str) -> bool:
    """Whether it looks like the first and last name of a person."""
    parts = name.replace(".", " ").split()
    return 1 < len(parts) < 6 and not any(x.lower() in _NO_PERSON for x in parts)


def _is_expletive(frame: Sequence[Word], verb: int) -> bool:
    """Whether "it" refers to nothing: "It is known that", "It takes years to", "It was he who"."""
    low = frame[verb].low
    rest = {x.low for x in frame[verb + 1 :]}
    after = frame[min(verb + 1, len(frame) - 1)].low
    if after in {"a", "an", "the", "one"} or after in PARTICIPLES:
        rest.discard("for")  # "It was a hub for trade", "It is known for its wine"
    return low in _EXPLETIVE or bool(
        low in w.AUXILIARIES
        and rest & {"that", "to", "who", "whether", "when", "how", "why", "for", "if"}
    )


def _has_verb(text: str) -> bool:
    words = lex(text, 0, len(text))
    return bool(words) and main_verb(words, 0) is not None


def _kinds_after(kinds: dict[str, str | None], sentence: str) -> dict[str, str | None]:
    """The name for each noun after the sentence: after "Dune is a film", "the film" is Dune."""
    if not kinds and not _TOLD.search(sentence[:_MAX_READ]):
        return kinds
    words = lex(sentence[:_MAX_READ], 0, min(len(sentence), _MAX_READ))
    start = subject_start(words)
    verb = main_verb(words, start)
    told = None if verb is None else _complement(words, verb)
    found = dict(kinds)
    for before, word in zip([None, *words], words, strict=False):
        single = word.low.removesuffix("s")
        mention = before is not None and before.low in {"the", "this", "its", "his", "her", "their"}
        if word is not told and single in found and (single != word.low or not mention):
            found[single] = None  # another film, or several
    if told is None or verb is None:
        return found
    phrase = _phrase(words[start:verb])
    if _is_name(phrase) and not any(x.low in {"and", "&"} for x in phrase):
        name = sentence[phrase[0].start : phrase[-1].end].strip("*_")
        found[told.low] = name if found.get(told.low, name) == name else None
    return found


def _asked(question: str) -> Topic | None:
    """The one person whom the question names: "When was Ada Lovelace born?"."""
    words = lex(question[:_MAX_READ], 0, min(len(question), _MAX_READ))
    verb = next((k for k, x in enumerate(words[:4]) if x.low in {"was", "is", "did", "does"}), None)
    if verb is None:
        return None
    end = verb + 1
    while end < len(words) and words[end].is_name:
        end += 1
    name = question[words[verb].end : words[end - 1].end].strip() if end > verb + 1 else ""
    if any(x.is_name for x in words[end:]) or not _full_name(name) or "'" in name:
        return None
    return Topic(name, "unknown", frozenset({"person"}))
