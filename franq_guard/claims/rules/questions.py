"""What "Yes." or "No." states: the question as a statement, where its subject surely ends.

"Is the K2 available in blue?", "No." gives "The K2 is not available in blue." In "Is the pump used
in Kassel blue?" the subject may end after "pump" or after "Kassel", so no statement is made there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from franq_guard.basics.words import word_set
from franq_guard.claims.rules import verbs as v
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.finite_verb import find_verb, is_adverb
from franq_guard.claims.rules.lexer import Word, lex
from franq_guard.claims.rules.nonclaims import has_verb
from franq_guard.claims.rules.render import as_sentence, plain

ASKS = word_set("is are was were has have had do does did can could will would")
"""May open a question whose denial is the same words with "not"; "must not" denies no "must"."""
SCOPE = word_set(
    "all always and any both each either ever every few many most much neither never no nobody"
    " none nor not nothing only or several some"
)
"""With them "not" may deny another part: "Not all are red" is not "All are not red"."""
_PERSONAL = frozenset({"it", "he", "she", "they"})
_SPEAKERS = word_set("i you we me us my your our mine yours ours myself yourself ourselves")
"""In a question they mean the one who asks; in the answer, the one who answers."""
_UNSURE = SCOPE | _SPEAKERS | w.RELATIVES | w.SUBORDINATORS | w.COORDINATORS | w.CONTRASTS
_BE = frozenset({"is", "are", "was", "were"})
_DO = frozenset({"do", "does", "did"})
_ADJECTIVES = word_set(
    "available unavailable suitable unsuitable compatible incompatible able unable responsible"
    " eligible similar identical famous accessible visible capable resistant"
)
"""Never nouns, so what is before them is the subject."""
_THE = frozenset({"the", *(w.POSSESSIVES & w.THIRD_PERSON)})
_ARTICLES = _THE | {"a", "an", "this", "these", "those"}
_NO_NAME = v.FINITE_FORMS | v.GERUNDS.keys() | w.AUXILIARIES | w.PREPOSITIONS | w.DETERMINERS
"""Their capital is that of a title: "Is Kill the Messenger good?"."""
_NO_SUBJECT = w.PREPOSITIONS | w.THIRD_PERSON | v.PLAIN_BASE_FORMS | v.THIRD_PERSON_FORMS
_MARKS = frozenset({"$", "€", "£", "%"})
_MOST = 40
_LONGEST = 500
_PUT = re.compile(
    r"(?:(?:true or false|right or wrong)\b|is it (?:true|correct) that\b)"
    r"[\s:,–—-]*(?P<statement>[^.!?]+)[.!?]*"
    r"|(?P<before>[^.!?]+)[.!?:,–—-] ?(?:true or false|right or wrong)\W*",
    re.I,
)
"""A question that puts a statement to one: "True or false: the pump is blue?"."""


def statement(question: str, *, yes: bool) -> str | None:
    """What the answer "Yes." or "No." to a question states; None if that is not certain."""
    put = _PUT.fullmatch(plain(question).strip()) if len(question) < _LONGEST else None
    if put is not None:
        return _agreed(put["statement"] or put["before"], yes=yes)
    words = lex(plain(question))
    while words and words[-1].text == "?":
        words.pop()
    if not 2 < len(words) < _MOST or words[0].low not in ASKS:
        return None
    rest = words[1:]
    if any(x.low in _UNSURE or is_adverb(x) for x in rest):
        return None
    if not all(x.is_word or x.text in _MARKS for x in rest):
        return None
    size = _subject(words[0].low, rest)
    if not 0 < size < len(rest):
        return None
    verb = [words[0].low] if yes else [words[0].low, "not"]
    words_in_order = [*(x.text for x in rest[:size]), *verb, *(x.text for x in rest[size:])]
    return as_sentence(" ".join(words_in_order))


def _agreed(sentence: str, *, yes: bool) -> str | None:
    """A statement that was put to one, or its denial; None if that is not certain."""
    if yes:
        return as_sentence(sentence) if has_verb(sentence) else None
    words = lex(sentence)
    verb = find_verb(words, 0, len(words))
    if verb is None or words[verb].low not in _BE | {"can", "could", "will", "would"}:
        return None
    if any(x.low in _UNSURE or is_adverb(x) for x in words):
        return None
    if not all(x.is_word or x.text in _MARKS for x in words):
        return None
    texts = [x.text for x in words]
    return as_sentence(" ".join([*texts[: verb + 1], "not", *texts[verb + 1 :]]))


def _subject(verb: str, rest: Sequence[Word]) -> int:
    """How many words the subject has; 0 if it is not certain."""
    if rest[0].low in _PERSONAL:
        return 1
    if rest[0].low == "there":
        return 1 if verb in _BE else 0
    if verb not in _BE | _DO:
        known = _before_be(verb, rest)
        if known:
            return known
    start = 1 if rest[0].low in _THE else 0
    size = start
    while size < len(rest) and rest[size].is_name:
        size += 1
    named = size > start
    size += start if not named else 0  # "the pump"
    last = rest[size - 1].low
    if not 0 < size < len(rest) or last.endswith(("'s", "s'")) or v.is_participle(last):
        return 0
    if named and any(x.low in _NO_NAME for x in rest[start:size]):
        return 0
    after = rest[size:]
    sure = _is_predicate if verb in _BE else _is_done if verb in w.HAVE else _is_verb
    return size if sure(after, named) else 0


def _before_be(verb: str, rest: Sequence[Word]) -> int:
    """The words before the only "be" or "been": "Can the K2 pump be used ...?"."""
    found = [k for k, x in enumerate(rest) if x.low in w.AUXILIARIES]
    if len(found) != 1 or rest[found[0]].low != ("been" if verb in w.HAVE else "be"):
        return 0
    subject = {x.low for x in rest[: found[0]]}
    sure = rest[0].low in _THE or rest[0].is_name
    return found[0] if sure and not subject & _NO_SUBJECT else 0


def _is_predicate(after: Sequence[Word], named: bool) -> bool:
    """Whether the predicate after "is" begins here, and no further word of the subject."""
    first, *others = after
    if not others:
        return first.text.isalpha()  # "Is the pump blue?"
    if others[0].low == "than":
        return named
    if first.low in _ARTICLES:
        apart = (k for k, x in enumerate(after) if k and x.low in _ARTICLES)
        alone = all(after[k - 1].low in w.PREPOSITIONS for k in apart)
        return named and alone and not any(v.is_participle(x.low) for x in others)
    if first.low in w.PREPOSITIONS:
        thing = others[others[0].low in _ARTICLES :]
        return named and first.low != "of" and len(thing) == 1 and thing[0].is_name
    if others[0].low not in w.PREPOSITIONS or others[0].low == "of":
        return False
    if named and first.low in _ADJECTIVES:
        return True
    return (first.low in _ADJECTIVES or v.is_participle(first.low)) and _is_tail(others)


def _is_done(after: Sequence[Word], named: bool) -> bool:
    """Whether the participle of "has" begins here."""
    return v.is_participle(after[0].low) and (named or _is_tail(after[1:]))


def _is_verb(after: Sequence[Word], named: bool) -> bool:
    """Whether the verb of "does" or "can" begins here, and no further noun of the subject."""
    low = after[0].low
    return low in v.PLAIN_BASE_FORMS or (low in v.BASE_FORMS and _is_tail(after[1:]))


def _is_tail(words: Sequence[Word]) -> bool:
    """Whether these are phrases that leave no word over: "39 euros", "in a pool", "for 2 years".

    A word that is left over may be the predicate: in "Is the pump used in Kassel blue?" it is.
    """
    phrase: list[Word] = []
    placed = False
    for word in [*words, None]:
        if word is not None and word.low not in w.PREPOSITIONS:
            phrase.append(word)
            continue
        if (placed or phrase) and not _is_one_thing(phrase, placed):
            return False
        phrase, placed = [], True
    return True


def _is_one_thing(phrase: Sequence[Word], placed: bool) -> bool:
    """Whether it is a name, a number with its unit, "the pool", or behind a preposition "water"."""
    noun = phrase[1:] if phrase and phrase[0].low in _ARTICLES else phrase
    small = [x for x in noun if not x.is_name and not x.is_number]
    if not small:
        return bool(noun)
    if len(small) > 1 or small[0] is not noun[-1] or any(x.is_name for x in noun):
        return False
    year = noun[0].is_number and len(noun[0].text) == 4
    return not year and len(noun) < 3 and (placed or len(phrase) > 1)
