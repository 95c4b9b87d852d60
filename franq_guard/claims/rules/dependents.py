"""Stage: an addition to a clause becomes a claim whose text is the whole clause.

"Wolves live in packs of ten animals, which are led by a pair.": it is clear where the addition
begins, but not what "which" means. So no new sentence is made of it. The words before it are a
claim, since they are true without it. The words of the addition are a claim that says the clause in
full.
"""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard.basics.words import word_set
from franq_guard.claims.rules import verbs
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.agreement import number, verb_number
from franq_guard.claims.rules.clause import Clause
from franq_guard.claims.rules.doubts import describes_noun, open_clause
from franq_guard.claims.rules.finite_verb import (
    after_adverbs,
    find_verb,
    is_adverb,
    main_verb,
    opens_noun_phrase,
    subject_start,
)
from franq_guard.claims.rules.lexer import Word, comma_before
from franq_guard.claims.rules.list_doubts import COUNTS
from franq_guard.claims.rules.list_members import describes
from franq_guard.claims.rules.standing import closed

_MIN_WORDS = 2
_MIN_RELATIVE = 3
_RELATIVES = frozenset({"who", "which", "whose", "where", "whom", "when"})
_QUANTIFIERS = word_set(
    "many most some all both each none several few one two three four five six seven much half"
    " part either neither"
)
_NO_ADDITION = word_set(
    "regarding concerning considering according pending excluding ranging depending varying"
    " consisting containing assuming barring providing provided supposing supposed given granted"
    " including following during not beginning starting"
)
_SCOPE = word_set("mainly mostly especially particularly notably chiefly primarily")
# Adverbs that open a second amount: "more than oranges, about 90 mg per 100 g".
_ABOUT = frozenset({"about", "around", "nearly", "almost", "roughly", "approximately"})
_COMPARED = word_set("more less longer fewer higher lower earlier later better faster")
# With a possessive they open a description like superlatives: "its second loss".
_ORDINALS = word_set("first second third fourth fifth last only")
_MAX_GAPPED = 7
_FRONTED = w.PREPOSITIONS | w.SUBORDINATORS | w.CONTRASTS | {"just", "even"}
_NO_SUBJECT = w.COORDINATORS | w.SUBORDINATORS | w.PREPOSITIONS - {"of"} | {"no", "none"}


def dependents(clause: Clause) -> list[Clause]:
    """The clause without its additions, then the additions from left to right."""
    found: list[Clause] = []
    rest = clause
    while (comma := _addition(rest)) is not None:
        left, right = rest.cut(comma, rest.frame[:comma])
        found.append(right)
        rest = left
    aside = _interrupting(rest)
    if aside is not None:
        rest, inner = rest.take(*aside, rest.frame)
        found.append(inner)
    return [rest, *reversed(found)]


def verb_before(frame: Sequence[Word], stop: int) -> int | None:
    """The main verb before position ``stop``, or a word there that may be one."""
    start = subject_start(frame)
    main = main_verb(frame[:stop], min(start, stop))
    if main is not None:
        return main
    for k in range(1, stop):
        low, before = frame[k].low, frame[k - 1].low
        if before in w.DETERMINERS | w.PREPOSITIONS or frame[k].is_name or frame[k].shielded:
            continue
        if low in verbs.FINITE_FORMS:
            return k
    return None


def unfinished(frame: Sequence[Word]) -> bool:
    """Whether the text was cut off after a conjunction."""
    last = next((x.low for x in reversed(frame) if x.is_word), "")
    return last in w.COORDINATORS


def _addition(clause: Clause) -> int | None:
    """The comma before the last addition of the clause; None if it has none."""
    frame = clause.frame
    if any(x.text in {":", ";"} and not x.shielded for x in frame) or unfinished(frame):
        return None
    last = True
    for k in range(len(frame) - _MIN_WORDS - 1, 1, -1):
        if frame[k].is_comma and clause.can_cut(k):
            sure = last or _participle(frame[k + 1 :], frame, k)
            if sure and _is_addition(frame, k) and closed(frame[:k]):
                return k
            if not _lists(frame[k + 1 :]):
                return None
            last = False
    return None


def _lists(tail: Sequence[Word]) -> bool:
    """Whether the words after the comma end a list of short things: "paper or plastic"."""
    joint = next((k for k, x in enumerate(tail) if x.low in {"and", "or"}), 0)
    return 0 < joint < 4 and not any(find_verb(tail, k, k + 1) for k in range(len(tail)))


def _interrupting(clause: Clause) -> tuple[int, int] | None:
    """Where an aside between the subject and its verb begins and ends: "owls, such as X, hunt"."""
    frame = clause.frame
    commas = [k for k, x in enumerate(frame) if x.is_comma]
    if len(commas) != 2 or commas[0] < 1 or frame[0].index < 0 or not clause.can_cut(commas[0]):
        return None
    first, last = commas
    before, inside, after = frame[:first], frame[first + 1 : last], frame[last + 1 :]
    if len(inside) < _MIN_WORDS or subject_start(frame) > 0 or any(x.index < 0 for x in inside):
        return None
    if any(x.low in _NO_SUBJECT or x.low in w.FINITE_AUXILIARIES for x in before):
        return None
    verb = after[after_adverbs(after, 0)].low if after else ""
    if verb not in verbs.FINITE_FORMS | w.FINITE_AUXILIARIES:
        return None
    return (first, last + 1) if _names_some(inside) or _belongs(inside) else None


def _names_some(inside: Sequence[Word]) -> bool:
    """Whether it is "such as X", "above all the berries", "mainly the young ones"."""
    if [x.low for x in inside[:2]] in (["such", "as"], ["above", "all"]):
        return len(inside) > _MIN_WORDS
    adverb = is_adverb(inside[0]) and inside[1].low in {"a", "an", "the"}
    return inside[0].low in _SCOPE or adverb  # "often the first sign"


def _belongs(inside: Sequence[Word]) -> bool:
    """Whether it is "Orrin's rivals": a noun phrase with a possessive, and no list."""
    ends = inside[0].low.endswith(("'s", "s'")) or inside[0].low in w.POSSESSIVES
    return ends and inside[0].is_word and not any(x.low in w.COORDINATORS for x in inside)


def _is_addition(frame: Sequence[Word], comma: int) -> bool:
    tail = frame[comma + 1 :]
    if any(x.index < 0 for x in tail) or sum(x.is_word for x in tail) < _MIN_WORDS:
        return False
    if tail[0].low in w.COORDINATORS:
        return False
    if _relative(tail, frame, comma) or _reason(tail):
        verb = verb_before(frame, comma)
        return verb is not None and not open_clause(frame, verb, comma)
    without_verb = (
        _participle(tail, frame, comma)
        or _scope(tail)
        or _noun(tail, frame, comma)
        or _gapped(tail, frame, comma)
    )
    if not without_verb:
        return False
    main = main_verb(frame, subject_start(frame))
    if main is not None and main < comma and open_clause(frame, main, comma):
        return False
    return _hidden_verb(frame, comma) if main is None else main < comma


def _hidden_verb(frame: Sequence[Word], comma: int) -> bool:
    """Whether the verb is before ``comma`` although it looks like a noun: "It flowers in May"."""
    if frame[0].low in _FRONTED or any(x.is_comma for x in frame[:comma]):
        return False
    return not verbs.is_ed_form(frame[comma + 1].low) and verb_before(frame, comma) is not None


def _relative(tail: Sequence[Word], frame: Sequence[Word], comma: int) -> bool:
    """Whether it is ", which ...", ", most of whom ...", ", in which ...".

    Not if it is about something further away: "Cells were taken from the marrow, which were".
    """
    if len(tail) <= _MIN_RELATIVE:
        return False
    if tail[0].low in _QUANTIFIERS and tail[1].low == "of":
        return tail[2].low in {"which", "whom", "these"}
    if tail[0].low in w.PREPOSITIONS:
        return tail[1].low in {"which", "whom", "whose"}
    if tail[0].low not in _RELATIVES:
        return False
    return tail[0].low in {"when", "where"} or not _distant(tail, frame, comma)


def _reason(tail: Sequence[Word]) -> bool:
    """Whether it is ", as most had predicted", ", since it thins the blood"."""
    return tail[0].low in {"as", "since"} and find_verb(tail, 1, len(tail)) is not None


def _distant(tail: Sequence[Word], frame: Sequence[Word], comma: int) -> bool:
    start = comma
    while start > 0 and frame[start - 1].is_word and frame[start - 1].low not in w.PREPOSITIONS:
        start -= 1
        if frame[start].low in w.DETERMINERS:
            break
    if frame[start - 1].low in w.COORDINATORS:
        return True  # "Ann and her sister, who"
    plural = verb_number(tail, after_adverbs(tail, 1)) == "plural"
    return plural and number(frame[start:comma]) == "singular"


def _participle(tail: Sequence[Word], frame: Sequence[Word], comma: int) -> bool:
    """Whether it is ", replacing the kuna", ", compared with 35%"."""
    k = after_adverbs(tail, 0)
    low = tail[k].low
    if low in _NO_ADDITION or tail[k].is_name or k + 1 >= len(tail) or not tail[k + 1].is_word:
        return False
    before = comma_before(frame, comma, 0) or comma
    if frame[before + 1].low in w.PREPOSITIONS and low not in verbs.GERUNDS:
        return False  # "one of six, in addition to her, named in the book"
    if 0 < comma - before < 5 and _noun_follows(frame, before + 1, tail, k):
        return False  # "a director, actor, founding member of it"
    if low in verbs.GERUNDS:
        if describes_noun(frame, comma, comma + 1 + k):
            return False
        return not (frame[comma - 1].low.endswith("ing") or describes(frame[comma - 1]))
    formed = verbs.is_participle(low)
    return formed and tail[k + 1].low in w.PREPOSITIONS


def _noun_follows(frame: Sequence[Word], start: int, tail: Sequence[Word], k: int) -> bool:
    """Whether the form at ``k`` may describe a noun, in a list that began at ``start``."""
    inside = frame[start : len(frame) - len(tail)]
    after = tail[k + 1]
    bare = not opens_noun_phrase(after) and after.low not in w.PREPOSITIONS
    return bare and find_verb(inside, 0, len(inside), loose=True) is None


def _scope(tail: Sequence[Word]) -> bool:
    """Whether it is ", mainly in India", ", up 12% from 2020" or ", longer than anyone"."""
    if tail[0].low in _SCOPE:
        return True
    if tail[0].low in {"up", "down"}:
        return tail[1].is_number or tail[1].low == "from"
    if tail[0].low in _ABOUT:
        return tail[1].is_number or tail[1].low in COUNTS
    if _part_of_them(tail):
        return True
    if tail[0].low in _QUANTIFIERS:
        return tail[1].low in w.PREPOSITIONS - {"of"}
    return tail[0].low in _COMPARED and tail[1].low == "than"


def _part_of_them(tail: Sequence[Word]) -> bool:
    """Whether it is ", most of them sailors", ", a third of it in cash"."""
    of = next((k for k, x in enumerate(tail[:4]) if x.low == "of"), 0)
    part = tail[0].low in _QUANTIFIERS or (tail[0].low in {"a", "an"} and of == 2)
    return 0 < of < len(tail) - 2 and part and tail[of + 1].low in {"them", "it"}


def _noun(tail: Sequence[Word], frame: Sequence[Word], comma: int) -> bool:
    """Whether it is ", a post he held until 1999", ", the seat of the council"."""
    if tail[0].low in {"its", "his", "her", "their"}:
        return tail[1].low.endswith("est") or tail[1].low in _ORDINALS
    if tail[0].low not in {"a", "an", "the", "one"} or not tail[1].is_word or tail[1].is_name:
        return False
    superlative = tail[0].low == "the" and tail[1].low.endswith("st")
    listed = any(x.is_comma for x in frame[subject_start(frame) : comma])
    return not (listed or superlative) and not any(
        x.low in w.COORDINATORS and not x.shielded for x in tail
    )


def _gapped(tail: Sequence[Word], frame: Sequence[Word], comma: int) -> bool:
    """Whether it is "Acrylic paint dries in an hour, oil paint in a day."."""
    if len(tail) > _MAX_GAPPED or tail[0].is_name or any(x.is_comma for x in frame[:comma]):
        return False
    if describes(frame[comma - 1]):
        return False  # "a practical, logical approach to it"
    second = next((k for k, x in enumerate(tail) if x.low in w.PREPOSITIONS), 0)
    near = {x.low for x in frame[max(_MIN_WORDS, comma - 4) : comma]}
    return second > 0 and tail[second].low in near
