"""Finds the finite verb of a clause by word forms and neighbouring words, without a tagger."""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard.basics.words import word_set
from franq_guard.claims.rules import verbs as v
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.lexer import Word


def is_adverb(word: Word) -> bool:
    """Whether the word is an adverb: in the word list, or ending in -ly."""
    low = word.low
    formed = len(low) > 4 and low.endswith("ly") and low not in w.NO_ADVERBS
    return low in w.ADVERBS or (formed and not word.is_name)


def after_adverbs(words: Sequence[Word], k: int) -> int:
    """The first position from ``k`` on that is not an adverb (or the last position)."""
    while k < len(words) - 1 and is_adverb(words[k]):
        k += 1
    return k


def opens_noun_phrase(word: Word) -> bool:
    """Whether a noun phrase surely begins here: determiner, name, number, pronoun or quote."""
    return (
        word.low in w.DETERMINERS
        or word.is_name
        or word.is_number
        or word.low in {"him", "them", "it", "that", "half"}
        or word.text in {'"', "“", "$", "€", "£"}
    )


def is_finite(words: Sequence[Word], k: int, *, loose: bool = False) -> bool:
    """Whether word ``k`` is the finite verb of a clause.

    False if unsure, so that unsure sentences are not split. ``loose`` also accepts forms that could
    be a noun or a participle; it is for clauses without a surer verb.
    """
    word = words[k]
    low = word.low
    if word.shielded or not word.is_word:
        return False
    if word.is_name:
        return low in w.PRONOUN_VERBS
    if word.index < 0 and low in v.FINITE_FORMS:
        return True  # the rules put it there
    before = _before(words, k)
    if k > 1 and words[k - 1].low == "you" and words[k - 2].low in w.LETTING:
        return False
    if low in {"will", "might", "can", "must"} and _is_noun(words, k, before):
        return False
    if low in w.PRONOUN_VERBS or low in w.FINITE_AUXILIARIES:
        return True
    if before is None or _blocks_verb(before, words, k):
        return False
    after = words[k + 1] if k + 1 < len(words) else None
    return (
        low in v.PURE_PASTS
        or (_is_past(low, before, after, loose) and not _is_modified(words, k))
        or _is_present(low, before, after, loose)
        or (_is_plural_present(low, before, after, loose) and not _is_dated(words, k))
    )


def find_verb(words: Sequence[Word], start: int, stop: int, *, loose: bool = False) -> int | None:
    """Position of the main finite verb in ``words[start:stop]``, or None.

    Verbs of restrictive relative clauses and of subordinate clauses do not count.
    """
    pending = 0
    prepositional = False  # "as a lawyer," needs no verb of its own
    for k in range(start, stop):
        low = words[k].low
        opens = low in w.SUBORDINATORS | w.CONTRASTS or (
            low in w.RELATIVES
            and (k > start or low == "who")
            and not (low == "that" and k > 0 and words[k - 1].low in w.PREPOSITIONS)
        )
        if words[k].is_comma and prepositional:
            pending, prepositional = pending - 1, False
        elif opens and not words[k].shielded:
            pending += 1
            prepositional = low in w.PREPOSITIONS
        elif is_finite(words, k, loose=loose):
            if not pending:
                return k
            pending, prepositional = pending - 1, False
    return None


def main_verb(words: Sequence[Word], start: int) -> int | None:
    """The main verb from ``start`` on: a sure one, else a loose one."""
    strict = find_verb(words, start, len(words))
    # A verb right after a conjunction is the second verb, so there must be an earlier one.
    second = strict is not None and _follows(words, strict, w.COORDINATORS)
    if strict is not None and not second and not any(x.is_comma for x in words[start:strict]):
        return strict
    loose = find_verb(words, start, len(words), loose=True)
    if loose is None or any(x.is_comma for x in words[start:loose]):
        return strict
    return loose


def subject_start(words: Sequence[Word]) -> int:
    """Where the subject begins: after fronted phrases ("In 1903, ", "However, ")."""
    start = _behind_phrase(words) or _after_time(words)
    while start < len(words) and _is_fronted(words[start]) and not _is_amount(words, start):
        comma = next(
            (
                k
                for k in range(start, len(words))
                if words[k].is_comma and not _adds(words, k + 1) and _has_verb(words, k + 1)
            ),
            None,
        )
        if comma is None:
            break
        start = comma + 1
    dated = len(words) > 2 and words[0].low in w.PREPOSITIONS and words[1].is_number
    if start == 0 and dated and not _is_amount(words, 0):
        return 2  # "In 1903 she left"
    if len(words) > 3 and words[2].low in {"later", "earlier", "ago", "before", "after"}:
        timed = words[1].low.removesuffix("s") in {"year", "month", "week", "day", "decade", "hour"}
        return 3 if start == 0 and timed else start  # "Two years later she left"
    return start


def _behind_phrase(words: Sequence[Word]) -> int:
    """Where the pronoun stands in "After the war it closed"; 0 without such a phrase."""
    if not words or words[0].low not in w.PREPOSITIONS:
        return 0
    for k in range(2, min(6, len(words) - 1)):
        if words[k].is_comma or words[k - 1].low in w.PREPOSITIONS | w.COORDINATORS:
            return 0
        if words[k].low in _SUBJECTS and is_finite(words, after_adverbs(words, k + 1), loose=True):
            return k
    return 0


def _adds(words: Sequence[Word], k: int) -> bool:
    """Whether a relative clause begins at ``k``, so the comma before it ends no fronted phrase."""
    return k < len(words) and words[k].low in {"which", "who", "whose", "whom"}


_COUNTING = frozenset({"both", "only", "not", "even", "just"})
"""Adverbs that belong to the noun after them: "Both towns grew"."""
_SUBJECTS = frozenset({"he", "she", "it", "they", "we"})
_PRONOUNS_TOO = word_set("this these those both all one many others her some another each")
"""They may be a subject, though most are determiners as well."""
_TIMES = frozenset(
    {"month", "year", "week", "day", "season", "summer", "winter", "spring", "autumn"}
)
_WHICH_TIME = frozenset({"the", "that", "this", "last", "next", "each", "every", "one", "same"})


def _after_time(words: Sequence[Word]) -> int:
    """Where the clause begins after "The following month, "; 0 without such a phrase."""
    comma = next((k for k, x in enumerate(words[:5]) if x.is_comma), 0)
    timed = comma > 1 and words[comma - 1].low in _TIMES and words[0].low in _WHICH_TIME
    return comma + 1 if timed else 0


def _is_amount(words: Sequence[Word], k: int) -> bool:
    """Whether "About 900 people" or "Over 40 states" begins here."""
    amounts = {"about", "around", "over", "under", "nearly", "roughly", "approximately", "only"}
    return words[k].low in amounts and k + 1 < len(words) and words[k + 1].is_number


def _is_fronted(word: Word) -> bool:
    return (
        word.low in w.PREPOSITIONS | w.SUBORDINATORS | w.CONTRASTS | w.OPENERS
        or is_adverb(word)
        or (word.low.endswith("ing") and len(word.text) > 4)
    )


def _has_verb(words: Sequence[Word], start: int) -> bool:
    return main_verb(words, start) is not None


def subject(words: Sequence[Word]) -> tuple[Word, ...] | None:
    """The subject noun phrase of a clause without brackets; None if it is not found."""
    start = subject_start(words)
    verb = main_verb(words, start)
    if verb is None:
        return None
    if words[verb].low in w.PRONOUN_VERBS:
        return (_pronoun(words[verb]),)
    phrase = _without_brackets(words[start:verb])
    if any(x.text in {"–", "—"} and not x.shielded for x in phrase):
        return None
    while phrase and (is_adverb(phrase[-1]) or phrase[-1].low in w.OPENERS):
        if len(phrase) > 1 and phrase[-2].low in w.DETERMINERS:
            break  # "The first was made in 1984"
        phrase.pop()
    if phrase and phrase[-1].is_comma:  # an aside ends here: it began at the first comma
        phrase = phrase[: next(k for k, x in enumerate(phrase) if x.is_comma)]
    while len(phrase) > 1 and is_adverb(phrase[0]) and phrase[0].low not in _COUNTING:
        phrase.pop(0)
    opens = phrase and (phrase[0].is_word or phrase[0].text in {'"', "“", "*"})
    return tuple(phrase) if opens and len(phrase) <= 14 else None


def is_past_tense(word: Word) -> bool:
    """Whether a finite verb stands in the past tense."""
    low = word.low
    if low in w.AUXILIARIES:
        return low in {"was", "were", "had", "did", "wasn't", "weren't", "hadn't", "didn't"}
    return low in v.PURE_PASTS or low in v.SHARED_PASTS or v.is_ed_form(low)


def _pronoun(word: Word) -> Word:
    cut = word.low.index("'")
    return Word(word.text[:cut], word.start, word.start + cut, word.index, low=word.low[:cut])


def _without_brackets(words: Sequence[Word]) -> list[Word]:
    """The words without "(an aside)"; a bracket right after a word belongs to it: "O(n)"."""
    out: list[Word] = []
    depth = 0
    end = -1
    for word in words:
        depth += word.text == "(" and (depth > 0 or word.start != end)
        if not depth:
            out.append(word)
        depth -= word.text == ")" and depth > 0
        end = word.end
    return out


def _is_noun(words: Sequence[Word], k: int, before: Word | None) -> bool:
    """Whether "will", "can" or "might" is a noun: "at will", "the can.", "with all its might"."""
    ends = k + 1 >= len(words) or not words[k + 1].is_word
    after_noun_opener = before is not None and (
        before.low in w.PREPOSITIONS or before.low in w.POSSESSIVES or before.low in {"a", "the"}
    )
    return ends or after_noun_opener


def _before(words: Sequence[Word], k: int) -> Word | None:
    """The word before ``k``, adverbs (", however," too) left out."""
    while k > 0 and (is_adverb(words[k - 1]) or _parenthetical(words, k)):
        k -= 3 if words[k - 1].is_comma else 1
    return words[k - 1] if k > 0 else None


def _parenthetical(words: Sequence[Word], k: int) -> bool:
    return (
        k > 3
        and words[k - 1].is_comma
        and words[k - 3].is_comma
        and (words[k - 2].low in w.OPENERS or is_adverb(words[k - 2]))
    )


def _follows(words: Sequence[Word], k: int, kinds: frozenset[str]) -> bool:
    before = _before(words, k)
    return before is not None and before.low in kinds


def _blocks_verb(before: Word, words: Sequence[Word], k: int) -> bool:
    """Whether the word before makes a verb form a noun or participle: "the", "of", "has"."""
    low = before.low
    if low in _PRONOUNS_TOO:
        return False
    return (
        low in w.DETERMINERS
        or (low in w.PREPOSITIONS and low != "out")
        or (low in w.AUXILIARIES and words[k].low not in w.AUXILIARIES)
        or low in w.PRONOUN_VERBS
        or low in {"-", "/"}
    )


# "titled", "called" and the like are a main verb before these: "called him a hero".
_AFTER_NAMED = w.POSSESSIVES | {"him", "them", "it"}


def _is_past(low: str, before: Word, after: Word | None, loose: bool) -> bool:
    if not (low in v.SHARED_PASTS or v.is_ed_form(low)) or after is None or after.low == "by":
        return False
    if low in w.NAMING:
        placed = after.low in {"at", "on", "for"} and low != "based"
        return placed or (loose and after.low in _AFTER_NAMED)
    if before.low in {"he", "she", "it", "they", "who", "which", "we", "i"}:
        return True
    if opens_noun_phrase(after) or low in v.INTRANSITIVE_PASTS:
        return True
    if after.low in w.PREPOSITIONS or not after.is_word:
        return loose
    return after.low not in w.COORDINATORS and (loose or not is_adverb(after))


def _is_modified(words: Sequence[Word], k: int) -> bool:
    """Whether the form is an adjective: "highly trained teachers"."""
    return (
        words[k - 1].low.endswith("ly")
        and k + 1 < len(words)
        and words[k + 1].is_word
        and not opens_noun_phrase(words[k + 1])
        and words[k + 1].low not in w.PREPOSITIONS
    )


def _is_present(low: str, before: Word, after: Word | None, loose: bool) -> bool:
    if low not in v.THIRD_PERSON_FORMS or after is None:
        return False
    if before.low in {"he", "she", "it", "who", "which"}:
        return True
    if low not in v.PLURAL_NOUN_TOO or (before.is_name and after.low == "to"):
        return True
    if after.low in w.FINITE_AUXILIARIES or after.low in {"of", *w.COORDINATORS}:
        return False
    if loose:
        return (after.is_word or after.is_comma) and not is_plural(before)
    return opens_noun_phrase(after)


def _is_dated(words: Sequence[Word], k: int) -> bool:
    """Whether it is a noun after a year: "the 2016 film"."""
    year = k > 1 and len(words[k - 1].text) == 4 and words[k - 1].text.isdigit()
    return year and words[k - 2].low in w.DETERMINERS


def _is_plural_present(low: str, before: Word, after: Word | None, loose: bool) -> bool:
    if after is None or low not in v.BASE_FORMS:
        return False
    if before.low in {"they", "we", "you", "i", "who"}:
        return True
    if before.is_number and before.low[-1].isalpha():
        return False  # "his 4th place"
    if low in v.PLAIN_BASE_FORMS:
        return is_plural(before) or before.low in {"which", "that"}
    return loose and is_plural(before) and (after.is_word or opens_noun_phrase(after))


def is_plural(word: Word) -> bool:
    """Whether the noun looks plural."""
    low = word.low
    return (
        word.is_number
        or low in w.PLURAL_NOUNS
        or (low.endswith("s") and not low.endswith(("ss", "'s", "us", "is")) and word.is_word)
    )
