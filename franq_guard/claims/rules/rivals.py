"""Other persons and things that a sentence mentions beside its subject."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from franq_guard.basics.words import CALENDAR, word_set
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.antecedents import is_person
from franq_guard.claims.rules.finite_verb import is_adverb, is_plural
from franq_guard.claims.rules.lexer import Word
from franq_guard.claims.rules.names import NO_PERSON
from franq_guard.claims.rules.professions import is_profession

_PLACED = frozenset({"in", "at", "near", "from", "into", "through", "across", "on", "since"})
_MOVED = word_set(
    "moved moves went goes emigrated immigrated migrated travelled traveled travels returned"
    " returns came sailed fled flew drove walked relocated transferred exiled deported back"
    " brought taken road trip journey move return close next"
)
"""After these words a name after "to" is a place: "moved to Rome" (but "was married to Karl")."""
_GAINED = word_set("bought inherited learned learnt received took borrowed stole got heard hid")
"""After these words a name after "from" may be a person."""
_OFFICES = word_set(
    "head founder co-founder leader president director mayor king queen prince princess duke"
    " duchess emperor empress pope bishop archbishop cardinal member citizen native resident"
    " inhabitant minister governor senator chairman chairwoman ceo chief captain commander"
    " general author editor owner co-owner graduate alumnus alumna professor ruler conqueror"
    " historian chancellor ambassador representative baron baroness count countess earl sultan"
    " shah lord champion winner creator inventor designer judge"
)
"""Such a person belongs to a place or thing ("the mayor of York"), others mostly to a person."""
_RELATED = word_set(
    "son daughter child wife husband spouse partner mother father parent brother sister twin"
    " sibling grandfather grandmother grandson granddaughter cousin uncle aunt nephew niece"
    " stepson stepdaughter widow widower girlfriend boyfriend fiancé fiancée lover friend rival"
    " enemy ally heir pupil student disciple follower teacher tutor mentor assistant servant"
)
"""What a person is to another one: any noun after "of" is a person ("the son of a smith")."""
_AFTER_NAMES = frozenset({"there", "here", "yesterday", "ago", "alone"})


def rivals(words: Sequence[Word], lead: str, *, copular: bool) -> set[str]:
    """The kinds of other things that a pronoun might mean: persons, things, several things.

    ``lead`` is the word before the first one, ``copular``: it begins with what the subject is.
    """
    found: set[str] = set()
    placed = -2  # where the comma after a place would be
    for k, run in _phrases(words):
        before = words[k - 1].low if k else ""
        if before == "of" and k > 1 and words[k - 2].low.removesuffix("s") in _RELATED:
            found.add("person")
        noun = _last(run)
        if noun.is_name and noun.low not in CALENDAR:
            governor = words[k - 2] if k > 1 else None
            near = [lead, *(x.low for x in words[: max(0, k - 1)])][-3:]
            place = _is_place(before, near) or (placed == k - 1 and _ends(words, k + len(run)))
            placed = k + len(run) if place else -2
            if not place and not (before == "of" and _holds(governor, run, is_complement=copular)):
                found.add("person")
            if not copular:
                found.add("thing")
        elif noun.is_word and not noun.is_number and not noun.is_name:
            found |= _kinds_of(run, before, is_complement=copular and k == 0)
    if any(x.low in {"and", "or"} for x in words):
        found.add("several")
    if any(x.low in {"he", "she", "him", "her", "his", "who", "whom", "whose"} for x in words):
        found.add("person")
    return found


def _last(run: Sequence[Word]) -> Word:
    """The last word of a phrase, or the name before an adverb: "met Tom yesterday"."""
    last = len(run) - 1
    while last and (is_adverb(run[last]) or run[last].low in _AFTER_NAMES):
        last -= 1
    return run[last] if run[last].is_name else run[-1]


def _is_place(preposition: str, before: Sequence[str]) -> bool:
    """Whether a name after the preposition is a place: "lived in Rome", "moved to Rome".

    ``before``: the words before the preposition.
    """
    if preposition == "to":
        return before[-1] in _MOVED
    gained = preposition == "from" and not _GAINED.isdisjoint(before)
    return preposition in _PLACED and not gained


def _ends(words: Sequence[Word], k: int) -> bool:
    """Whether no word follows directly: the second name of "in Ulm, Germany, in 1879"."""
    return k >= len(words) or not words[k].is_word


def _holds(governor: Word | None, run: Sequence[Word], *, is_complement: bool) -> bool:
    """Whether a name after "of" is no person: "a member of the Ulm Club", "the mayor of York".

    ``is_complement``: it is in the complement, which says what the subject is; elsewhere only "the
    University of Ulm" counts.
    """
    if governor is not None and governor.low in NO_PERSON:
        return True
    named = run[0].low == "the" or any(x.low in NO_PERSON for x in run)
    return is_complement and (
        governor is None or governor.is_name or governor.low in _OFFICES or named
    )


def _kinds_of(run: Sequence[Word], before: str, *, is_complement: bool) -> set[str]:
    """The kinds of things that a noun may mean.

    ``is_complement``: it is the complement, which only describes the subject.
    """
    found: set[str] = set()
    noun = run[-1]
    single = run[0].low in w.DETERMINERS and not is_plural(noun)
    if not is_complement and single and before not in {"in", "on", "at", "during"}:
        found.add("thing")
    if not is_complement and (is_person((noun,)) or is_profession(noun)):
        found.add("person")
    if noun.low.endswith("s") or noun.low in w.PLURAL_NOUNS:
        found.add("several")
    return found


def _phrases(words: Sequence[Word]) -> Iterator[tuple[int, Sequence[Word]]]:
    """Runs of words between prepositions, verbs and marks, with their positions."""
    stops = w.PREPOSITIONS | w.COORDINATORS | w.RELATIVES | w.AUXILIARIES | w.SUBORDINATORS
    start = 0
    for k, word in enumerate([*words, Word(".", -1, -1, low=".")]):
        if word.low in stops or not word.is_word:
            if k > start:
                yield start, words[start:k]
            start = k + 1
