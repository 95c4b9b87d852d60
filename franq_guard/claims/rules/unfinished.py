"""Recognises a last sentence that was cut off before it says anything: "... in 1412. The".

A model that reached its limit of tokens stops anywhere. Only a piece that surely says nothing is
recognised: what would be checked otherwise is not checked then. "He was born in 1922 in the" has
said something and stays a claim.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from franq_guard.basics.words import word_set
from franq_guard.claims.rules import verbs as v
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.finite_verb import is_adverb, is_finite, is_plural
from franq_guard.claims.rules.lexer import Word, lex
from franq_guard.claims.rules.nonclaims import reason

_ENDED = re.compile(r"[.!…][\"'”’)\]*_]*(?:\s*\[[\d, ]+\])*$")
_OPEN = re.compile(r"[^\W_]$|[,-]$")
_MARKS = frozenset("()[]{}:;–—/|*_`\\=")
_NO_STATEMENT = frozenset({"question", "greeting", "lead-in"})
_ANSWERS = re.compile(r"\b(?:answers?|questions?|asks?|asked|following|follows|below)\b", re.I)
_ENGLISH = word_set("the and of he she it his her its they their with by to")
_NEVER_LAST = word_set(
    "a an the its my your our their every of to for from with by at in on into about between among"
    " during against per via upon onto toward towards under as like than including despite that"
    " which who whose where whether because if when while although though and or but nor not also"
    " only very even is are was were am be been being has have had will would can could may might"
    " must shall should"
)
"""Words that hardly ever end a sentence."""
_PARTICLE_VERBS = word_set("went goes go move moved came come gave give gives carried passed stood")
_EMPTY = word_set("able home part one due similar likely")
"""What says nothing after "is" without the words that follow: "is part of the"."""
_FRONTED = word_set("in on at during before by from since until under over after")
_JOINS = frozenset({"of", "and", "or", "who", "which", "that", ".", ","})
_MOST = 300


def unfinished(piece: str, before: str) -> bool:
    """Whether the last piece of an English answer was cut off and surely says nothing yet.

    Args:
        piece: what follows the last whole sentence.
        before: that sentence, of the same paragraph; empty if there is none.
    """
    if not before or not _ENDED.search(before) or not _OPEN.search(piece):
        return False
    if len(piece) > _MOST or not piece[0].isalpha() or not _follows_prose(piece, before):
        return False
    words = lex(f"{piece}.")
    if any(x.text in _MARKS for x in words) or words[0].low in {"yes", "no"}:
        return False
    left = len(words) - 1
    while left and _dangles(words, left - 1):
        left -= 1
    verb = next((k for k in range(left) if _is_verb(words, k)), None)
    if verb is None:
        answers = left and (_ANSWERS.search(before) or _is_name(words, left))
        return not answers and not _may_state(words, left)
    cut = left < len(words) - 1
    if words[left].is_comma and words[0].low not in w.SUBORDINATORS | w.CONTRASTS:
        return False  # "Two patients died, and"
    return cut and not _may_state(words, verb) and _is_bare(words, verb, left)


def _is_name(words: Sequence[Word], left: int) -> bool:
    """Whether nothing dangles and no little word opens it: "Michael Harper" may be the answer."""
    little = w.DETERMINERS | w.PREPOSITIONS | w.SUBJECT_PRONOUNS | w.OPENERS | w.SUBORDINATORS
    return left == len(words) - 1 and words[0].low not in little


def _follows_prose(piece: str, before: str) -> bool:
    """Whether the sentence before is an English statement, which a short answer does not follow."""
    words = lex(before)
    return (
        reason(before) not in _NO_STATEMENT
        and any(_is_verb(words, k) or (k and _may_be_verb(words, k)) for k in range(len(words) - 1))
        and any(x.low in _ENGLISH for x in (*words, *lex(piece)))
    )


def _is_verb(words: Sequence[Word], k: int) -> bool:
    return words[k].low in w.FINITE_AUXILIARIES or is_finite(words, k, loose=True)


def _dangles(words: Sequence[Word], k: int) -> bool:
    """Whether no sentence ends with word ``k``; "went on" and "came in" may be the end."""
    low = words[k].low
    if low in {"in", "on", "by"} and k and words[k - 1].low in _PARTICLE_VERBS:
        return False
    return low in _NEVER_LAST or low == "," or low.endswith("'s")


def _is_bare(words: Sequence[Word], verb: int, left: int) -> bool:
    """Whether ``words[verb:left]`` is only a verb: "was born", "is the capital" before "of"."""
    if words[verb].low in v.INTRANSITIVE_PASTS and words[left].low in w.PREPOSITIONS:
        return False  # "He died in"
    k = verb + 1
    helped = words[verb].low in w.AUXILIARIES or words[verb].low in w.PRONOUN_VERBS
    while k < left and (
        words[k].is_comma or is_adverb(words[k]) or (helped and _is_part(words[k]))
    ):
        k += 1
    noun = left - k == 2 and words[k].low == "the" and words[left].low == "of"
    return k == left or (helped and noun)


def _is_part(word: Word) -> bool:
    """Whether the word belongs to "was" or "has" before it: "was known", "has been", "is part"."""
    low = word.low
    known = low in w.AUXILIARIES | v.PARTICIPLES | _EMPTY | {"to"}
    return not word.is_name and (known or v.is_ed_form(low))


def _may_state(words: Sequence[Word], left: int) -> bool:
    """Whether ``words[:left]``, without a known verb, may state something all the same."""
    commas = sum(x.is_comma for x in words[:left])
    opens = words[0].low in w.OPENERS or is_adverb(words[0])
    fronted = words[0].low in _FRONTED or (opens and words[1].is_comma)
    if commas > (1 if fronted else 0):
        return True
    if left > 1 and all(x.text.isupper() for x in words[:left]):
        return True
    if words[0].low in w.SUBJECT_PRONOUNS - {"this", "that", "these", "those"}:
        return any(not is_adverb(x) for x in words[1:left])
    return any(_may_be_verb(words, k) for k in range(1, left))


def _may_be_verb(words: Sequence[Word], k: int) -> bool:
    """Whether the word may be a verb that is in no list, or a participle that states something."""
    word, low = words[k], words[k].low
    if not word.is_word or word.is_name or word.is_number or is_adverb(word):
        return False
    if low in w.PREPOSITIONS | w.DETERMINERS | w.COORDINATORS | w.SUBORDINATORS | w.RELATIVES:
        return False
    before = next((x for x in reversed(words[:k]) if not is_adverb(x)), word)
    if before.low in w.PREPOSITIONS:
        return low in v.GERUNDS
    if before.low in w.DETERMINERS or before.low.endswith("'s") or before.is_number:
        return False
    if v.is_participle(low) or low in v.GERUNDS:
        return True
    if low.endswith("s") and is_plural(word):
        return words[k + 1].low not in _JOINS
    return is_plural(before)
