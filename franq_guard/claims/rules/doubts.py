"""Reasons not to split a coordination: a word that may be a noun, a list that may continue."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from franq_guard.basics.words import word_set
from franq_guard.claims.rules import verbs
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.finite_verb import (
    after_adverbs,
    find_verb,
    is_adverb,
    is_finite,
    is_past_tense,
    is_plural,
    opens_noun_phrase,
)
from franq_guard.claims.rules.lexer import Word, comma_before

# Words before a number that make it an amount, although some are prepositions as well.
_ABOUT = frozenset({"over", "under", "about", "around", "nearly", "almost", "roughly", "only"})
# Verbs with an object and what it becomes or is: "made him unpopular", "left it damaged".
_CAUSING = word_set(
    "made make makes left leave leaves kept keep keeps found find finds rendered render renders"
    " considered consider considers got get gets had have has saw see sees"
)
_PERIODS = frozenset({"hour", "day", "week", "month", "year", "time"})
_POSSIBLE = frozenset({"can", "could", "will", "would"})


def in_a_list(frame: Sequence[Word], main: int, k: int, body: int) -> bool:
    """Whether ``k`` may be inside a list of subjects: "but Tom May, Al Fox, and Jo Purdy won"."""
    if frame[body].low in w.SUBJECT_PRONOUNS or frame[k].text == ";":
        return False
    verb = after_adverbs(frame, body)
    base = frame[verb].low in verbs.BASE_FORMS and not frame[verb].is_name
    if base or is_finite(frame, verb, loose=True):
        return False
    if w.CONTRASTS & {x.low for x in frame[k:body]}:
        return False
    k -= frame[k - 1].is_comma
    last = comma_before(frame, k, main)
    if last is None or not 1 < k - last <= 7:
        return False
    inside = frame[last + 1 : k]
    return frame[last + 1].low not in w.PREPOSITIONS | w.RELATIVES | w.COORDINATORS and (
        find_verb(inside, 0, len(inside), loose=True) is None
    )


def listed_form(frame: Sequence[Word], main: int, k: int, body: int) -> bool:
    """Whether a form may describe the last noun of a list: "doors, halls, and painted rooms"."""
    verb = after_adverbs(frame, body)
    if not verbs.is_ed_form(frame[verb].low) or verb + 1 >= len(frame):
        return False
    start = k - frame[k - 1].is_comma
    last = comma_before(frame, start, main)
    if last is None or not may_be_noun(frame[verb + 1]) or is_adverb(frame[verb + 1]):
        return False
    return find_verb(frame[last + 1 : start], 0, start - last - 1, loose=True) is None


def second_subject(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether ", and A" comes before "and B have": the clause has two subjects."""
    j = next((j for j in range(k - 1, main, -1) if frame[j].low in {"and", "but"}), None)
    if j is None or not frame[j - 1].is_comma or frame[k].text == ";" or frame[k].is_comma:
        return False
    return find_verb(frame[j + 1 : k], 0, k - j - 1, loose=True) is None


def between(frame: Sequence[Word], k: int) -> bool:
    """Whether "and" at ``k`` may belong to a "between": "the line between Ulm and the sea"."""
    last = max((j for j in range(k) if frame[j].low == "between"), default=None)
    return (
        last is not None
        and frame[k].text != ";"
        and not any(x.low == "and" and not x.shielded for x in frame[last:k])
    )


def both(frame: Sequence[Word], j: int) -> bool:
    """Whether the word at ``j`` is a "both" before two predicates: "both sings and dances"."""
    return frame[j].low == "both" and (
        is_finite(frame, j + 1, loose=True)
        or frame[j + 1].low in verbs.PARTICIPLES | verbs.BASE_FORMS
    )


def has_object(frame: Sequence[Word], k: int) -> bool:
    """Whether the next words show that a base form is a verb ("and object to" is unclear)."""
    if k + 1 >= len(frame) or not frame[k + 1].is_word or frame[k + 1].low in w.COORDINATORS:
        return False
    after = frame[min(k + 2, len(frame) - 1)].low
    purpose = frame[k + 1].low == "to" and after in verbs.BASE_FORMS
    noun = frame[k].low in verbs.NOUNS_TOO and frame[k - 2].low in verbs.NOUNS_TOO
    placed = purpose or (frame[k + 1].low in w.PREPOSITIONS - {"to", "of"} and not noun)
    return frame[k].low not in verbs.NOUNS_TOO or placed or opens_noun_phrase(frame[k + 1])


def amount(frame: Sequence[Word], k: int) -> bool:
    """Whether an amount begins at ``k``: "over 42,000", "about ten"."""
    return k + 1 < len(frame) and frame[k].low in _ABOUT and frame[k + 1].is_number


def complement(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether the form at ``k`` may be about the object: "made him unpopular and vilified"."""
    low = frame[k].low
    form = verbs.is_participle(low)
    own_object = k + 1 < len(frame) and opens_noun_phrase(frame[k + 1])
    if not form or low in verbs.INTRANSITIVE_PASTS or own_object:
        return False
    held = frame[main].low in w.FINITE_AUXILIARIES - w.HAVE
    verb = after_adverbs(frame, main + 1) if held else main
    if verb + 1 >= len(frame) or frame[verb + 1].low in w.PREPOSITIONS:
        return False  # "is made in the skin"
    caused = frame[verb].low in _CAUSING
    if frame[verb].low not in w.HAVE:
        return caused
    first, inner = frame[after_adverbs(frame, verb + 1)].low, frame[verb + 2 : k]
    if verbs.is_participle(first):
        return False
    return caused and any(verbs.is_participle(x.low) for x in inner)


def has_described(frame: Sequence[Word], main: int, body: int) -> bool:
    """Whether "had" may be the only verb, of what is described: "had limited water and faced"."""
    if frame[main].low in w.HAVE and any(x.low == "by" for x in frame[body + 1 : body + 2]):
        return True  # "has trips led by Ann and paid by Bo"
    k = after_adverbs(frame, main + 1)
    formed = verbs.is_participle(frame[k].low)
    if frame[main].low != "had" or not formed or k + 1 >= len(frame):
        return False
    return may_be_noun(frame[k + 1]) and not is_adverb(frame[k + 1])


def noun_before_verb(frame: Sequence[Word], main: int) -> bool:
    """Whether the main verb may be a noun: "Stock markets list common shares"."""
    after = frame[main + 1 : main + 3]
    bare = main == 1 and frame[0].low not in w.SUBJECT_PRONOUNS
    if not bare or frame[main].low not in verbs.PLURAL_NOUN_TOO or len(after) < 2:
        return False
    other = after[0].low in verbs.BASE_FORMS and after[1].is_word
    return other and after[1].low not in w.PREPOSITIONS | w.COORDINATORS


def purpose(frame: Sequence[Word], k: int, body: int) -> bool:
    """Whether it is a purpose, no fact: "fix it, so your computer can run"."""
    so = any(x.low == "so" for x in frame[k:body])
    return so and any(x.low in _POSSIBLE for x in frame[body : body + 9])


def open_event(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether a verb without its object ends a clause: "after Ann hit and hurt a man"."""
    last, doer = frame[k - 1], frame[k - 2]
    if frame[k].is_comma or last.low not in verbs.FINITE_FORMS - verbs.INTRANSITIVE_PASTS:
        return False
    opened = any(x.low in w.SUBORDINATORS and not x.shielded for x in frame[main + 1 : k])
    return opened and (doer.is_name or doer.low in w.SUBJECT_PRONOUNS)


def within(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether ``k`` may be inside a clause on a place: "a town in which X, and Y"."""
    return any(
        (
            frame[j].low == "which"
            and frame[j - 1].low in w.PREPOSITIONS
            and j > 1
            and not frame[j - 2].is_comma
        )
        or (frame[j].low == "where" and not frame[j - 1].is_comma)
        for j in range(main + 1, k)
    )


def modifier(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether an -ed form may go with an adjective before it: "a vulnerable yet determined boy"."""
    if not verbs.is_ed_form(frame[k].low) or k + 1 >= len(frame) or k < 3:
        return False
    after, before, opener = frame[k + 1], frame[k - 2], frame[k - 3]
    if not may_be_noun(after) or is_adverb(after):
        return False
    noun = frame[main].low in w.BE and frame[after_adverbs(frame, main + 1)].low in {"a", "an"}
    return noun or (opener.low in {"a", "an"} and before.is_word)


def two_modifiers(frame: Sequence[Word], k: int, body: int) -> bool:
    """Whether adverbs are joined, not predicates: "the politically and socially active town"."""
    return frame[k - 1].low.endswith("ly") and frame[body].low.endswith("ly")


def maybe_adjective(frame: Sequence[Word], k: int) -> bool:
    """Whether an -ed form may be an adjective: "classic and established writers"."""
    after = frame[min(k + 1, len(frame) - 1)]
    described = verbs.is_ed_form(frame[k].low) and may_be_noun(after)
    return described and not is_adverb(after) and frame[k].low not in verbs.INTRANSITIVE_PASTS


def may_be_noun(after: Word) -> bool:
    """Whether the word after an -ed form may be the noun that it describes."""
    return after.is_word and not opens_noun_phrase(after) and after.low not in w.PREPOSITIONS


def says_who(frame: Sequence[Word], body: int) -> bool:
    """Whether the clause only says that the words before it were said: ", it has been said"."""
    last = next((x for x in reversed(frame) if x.is_word), frame[-1])
    return last.low in w.COMPLEMENT_VERBS and len(frame) - body <= 6


def broken(words: Sequence[Word]) -> bool:
    """Whether these words cannot be a subject.

    That is if they contain a comma, a clause mark or "but", or a conjunction after a number, after
    a mark or at the end.
    """
    marks = any(x.is_comma or x.low == "but" or x.text in {";", ":", "–", "—"} for x in words)
    joined = any(
        x.low in w.COORDINATORS and (y.is_number or not x.is_word) for y, x in pairwise(words)
    )
    return marks or joined or (bool(words) and words[-1].low in w.COORDINATORS)


def bare_predicate(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether the first verb has no object of its own yet: "was designed and built by X"."""
    words_between = frame[main + 1 : k]
    if not frame[k].low.isalpha() or (words_between and frame[main].low not in w.AUXILIARIES):
        return False
    if frame[k - 2].low in {"most", "more", "less", "very", "highly", "so"}:
        return True  # "most influential and respected": two adjectives
    return all(
        is_adverb(x) or x.low in w.AUXILIARIES or x.low in verbs.PARTICIPLES for x in words_between
    )


def no_clause(frame: Sequence[Word], body: int) -> bool:
    """Whether it is a participle after "while", or a predicate: "while dropping X against Rice"."""
    if _no_subject(frame, body):
        return True
    gerund = frame[body - 1].low in w.CONTRASTS and frame[body].low in verbs.GERUNDS
    return gerund and find_verb(frame, body + 1, len(frame)) is None


def _no_subject(frame: Sequence[Word], body: int) -> bool:
    """Whether it may be a predicate: "but hopes new owners like it", "and staying fixed on X"."""
    if body + 1 >= len(frame):
        return False
    first, after = frame[body], frame[body + 1]
    if first.is_name or is_adverb(after) or after.low in w.PREPOSITIONS | w.COORDINATORS:
        return False
    if first.low in verbs.GERUNDS:
        return verbs.is_ed_form(after.low)
    return first.low in verbs.THIRD_PERSON_FORMS and not is_finite(frame, body + 1, loose=True)


def no_verb(frame: Sequence[Word], main: int, body: int, verb: int) -> bool:
    """Whether the verb found may be none: "and 2 inclined railways", "and B hailed as a hero"."""
    counting = verb == body + 1 and frame[body].is_number
    noun = verbs.is_ed_form(frame[verb].low) or frame[verb].low in verbs.NOUNS_TOO
    amount_first = frame[body].is_number or frame[body].low in _ABOUT | {"more", "less"}
    records = amount_first and frame[verb].low in verbs.PLURAL_NOUN_TOO
    counted = (counting and noun) or records  # "more than 30 million records worldwide"
    after = frame[verb + 1] if verb + 1 < len(frame) else None
    bare = not opens_noun_phrase(frame[body]) and frame[body].low not in w.SUBJECT_PRONOUNS
    past = verbs.is_ed_form(frame[verb].low) or frame[verb].low in verbs.SHARED_PASTS
    form = past and not is_plural(frame[verb - 1])
    survived = frame[verb].low in verbs.INTRANSITIVE_PASTS
    # "and flame broiled!", "and two students injured."
    ends = ((form and bare) or (past and not survived)) and (after is None or not after.is_word)
    return counted or ends or _gapped_passive(frame, main, verb)


def _gapped_passive(frame: Sequence[Word], main: int, verb: int) -> bool:
    """Whether "was" may be left out: "A was named the heir, and B hailed as a hero"."""
    first = frame[after_adverbs(frame, main + 1)].low
    passive = frame[main].low in w.BE and verbs.is_participle(first)
    after = frame[verb + 1].low if verb + 1 < len(frame) else ""
    form = frame[verb].low not in verbs.INTRANSITIVE_PASTS | verbs.PURE_PASTS
    return passive and form and is_past_tense(frame[verb]) and after in {"as", "by"}


def open_clause(frame: Sequence[Word], main: int, comma: int) -> bool:
    """Whether a clause began before ``comma`` without its verb: "is that the text, including"."""
    return any(
        frame[k].low in {"that", "how", "what", "whether"}
        and frame[k - 1].low not in w.PREPOSITIONS
        and find_verb(frame, k + 1, comma, loose=True) is None
        for k in range(main + 1, comma)
    )


def reported_clause(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether a clause follows a participle before ``k``: ", noting the bird was rare and"."""
    return any(
        frame[j].low in verbs.GERUNDS
        and frame[j - 1].is_comma
        and find_verb(frame, j + 1, k) is not None
        for j in range(main + 1, k)
    )


def loose_participle(frame: Sequence[Word], k: int, body: int, *, bare_comma: bool) -> bool:
    """Whether a participle may be about the noun before it: "the head, widely known as X"."""
    j = after_adverbs(frame, body)
    low = frame[j].low
    if frame[body].low == "then":
        return False
    if not verbs.is_participle(low) or low in verbs.PURE_PASTS:
        return False
    if bare_comma and low == "compared":
        return True  # "It earned 5 million, compared to a loss, and grew"
    series = any(x.low == "and" and not x.shielded for x in frame[k:])
    named = low in w.NAMING or not series
    return (bare_comma and named) or (frame[k].text == ";" and body == k + 1)


def two_participles(frame: Sequence[Word], k: int, body: int) -> bool:
    """Whether the words around "and" may share what follows: "a song arranged and sung by X"."""
    low = frame[after_adverbs(frame, body)].low
    formed = verbs.is_participle(low)
    before = frame[k - 1].low
    part = before.rsplit("-", 1)[-1]  # "Ulm-backed and installed"
    left = verbs.is_ed_form(part) or before in verbs.PARTICIPLES - verbs.BASE_FORMS
    # "was sold, with parts made by many and badly bound"; "of dogs being lost and sold"
    added = any(
        frame[j].low == "being" or (frame[j].is_comma and frame[j + 1].low == "with")
        for j in range(k - 1)
    )
    return frame[k].low == "and" and formed and (left or added)


def infinitive(frame: Sequence[Word], main: int, body: int) -> bool:
    """Whether a base form may continue an infinitive: "can help to grow and feed X"."""
    return any(
        frame[j].low == "to" and not opens_noun_phrase(frame[j + 1]) for j in range(main, body - 1)
    )


def describes_noun(frame: Sequence[Word], comma: int, k: int) -> bool:
    """Whether the -ing form at ``k`` may describe a noun: "a gentle, soothing end"."""
    opened = comma > 1 and frame[comma - 2].low in {"a", "an"}
    return opened and frame[comma - 1].low not in _PERIODS and may_be_noun(frame[k + 1])
