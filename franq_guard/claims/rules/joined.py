"""Stage: a second predicate after "and" whose subject is not certain.

"Migraine is a headache that lasts hours and often affects one side.": the words before "and" are a
claim, whatever "affects" belongs to. The words from "and" on are a claim that says the clause in
full.
"""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard.basics.words import word_set
from franq_guard.claims.rules import verbs
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.clause import Clause
from franq_guard.claims.rules.dependents import unfinished, verb_before
from franq_guard.claims.rules.doubts import (
    both,
    has_object,
    in_a_list,
    infinitive,
    two_modifiers,
    two_participles,
)
from franq_guard.claims.rules.finite_verb import (
    after_adverbs,
    is_finite,
    is_past_tense,
    main_verb,
    opens_noun_phrase,
    subject_start,
)
from franq_guard.claims.rules.lexer import Word
from franq_guard.claims.rules.nouns_or_verbs import ATTRIBUTIVE, noun_list, open_list
from franq_guard.claims.rules.standing import closed

_NOT_FREE = (w.SUBORDINATORS | w.CONTRASTS | w.COLLECTIVE | w.DEALT_OUT) - {"as"} | word_set(
    "not n't never no nobody none few little hardly only rather than"
    " denied denies deny doubted doubt doubts unlike without"
)
"""With one of these words the clause may be true only as a whole."""
_MIN_WORDS = 3


def joined(clause: Clause) -> list[Clause]:
    """The clause up to a predicate or a parallel part after "and", then that part."""
    frame = clause.frame
    for k in range(len(frame) - _MIN_WORDS, _MIN_WORDS - 1, -1):
        if frame[k].low != "and" or frame[k].shielded:
            continue
        k -= frame[k - 1].is_comma
        if not clause.can_cut(k) or _incomplete(frame, k):
            return [clause]
        main = _verb(frame, k)
        if main is None or not _free(frame, main, k):
            return [clause]
        body = k + 1 + frame[k].is_comma
        that = _second_that(frame, main, k, body)
        if that is not None:
            left, right = clause.cut(k, frame[:that], skip=body - k)
            return [*joined(left), right]
        if _listed(frame, main, k, body) or two_modifiers(frame, k, body):
            return [clause]
        if _predicate(frame, main, k, body) or _mirrored(frame, main, k, body):
            left, right = clause.cut(k, frame[:k])
            return [*joined(left), right]
        return [clause]
    return [clause]


def _listed(frame: Sequence[Word], main: int, k: int, body: int) -> bool:
    return noun_list(frame, main, k, body) or open_list(frame, main, k)


def _incomplete(frame: Sequence[Word], k: int) -> bool:
    """Whether the words before ``k`` or the clause lack something: "takes in and cares for"."""
    if frame[0].low in {"just", "like", "as"} or frame[k - 1].low in w.PREPOSITIONS:
        return True
    if any(x.text == ":" and not x.shielded for x in frame[:k]):
        return True
    return not closed(frame[:k]) or unfinished(frame) or _without_object(frame, k)


def _without_object(frame: Sequence[Word], k: int) -> bool:
    """Whether the verb before ``k`` may share its object: "he who caught and died from it"."""
    if two_participles(frame, k, k + 1):
        return True
    if frame[k - 2].is_comma and is_finite(frame, k - 1, loose=True):
        return True  # "set records, began and came to stand for it"
    if frame[k - 2].low not in w.RELATIVES | w.SUBJECT_PRONOUNS:
        return False
    verb = is_finite(frame, k - 1, loose=True)
    return verb and frame[k - 1].low not in verbs.INTRANSITIVE_PASTS


def _verb(frame: Sequence[Word], k: int) -> int | None:
    main = main_verb(frame, subject_start(frame))
    if main is not None:
        return main
    main = verb_before(frame, k)
    # "Remove the lid, clean the fan and ...": an earlier verb was not found
    return None if main is None or frame[main - 1].is_comma else main


def _free(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether the words before ``k`` are true by themselves."""
    if any(x.low in _NOT_FREE or x.low.endswith("n't") for x in frame[:k] if not x.shielded):
        return False
    return main < k - 1 and not any(both(frame, j) for j in range(main, k))


def _second_that(frame: Sequence[Word], main: int, k: int, body: int) -> int | None:
    """The "that" of "showed that A and that B"; None if there is no second one."""
    thats = [j for j in range(main + 1, k) if frame[j].low == "that" and not frame[j].shielded]
    return thats[0] if frame[body].low == "that" and len(thats) == 1 else None


def _predicate(frame: Sequence[Word], main: int, k: int, body: int) -> bool:
    """Whether a verb in the tense of the first one follows."""
    j = after_adverbs(frame, body)
    word = frame[j]
    if j + 2 >= len(frame) or word.is_name or word.shielded or in_a_list(frame, main, k, body):
        return False
    after = frame[j + 1]
    if word.low in w.FINITE_AUXILIARIES:
        return True
    if _series(frame, main, k):
        return False
    if is_past_tense(frame[main]):
        known = word.low in verbs.PURE_PASTS | verbs.INTRANSITIVE_PASTS
        sure = known or opens_noun_phrase(after) or after.low in w.PREPOSITIONS
        return is_past_tense(word) and after.low != "by" and after.is_word and sure
    placed = after.low in w.PREPOSITIONS - {"of"} or opens_noun_phrase(after)
    if frame[main].low in verbs.THIRD_PERSON_FORMS | {"is"}:
        # "the issues and challenges common to"
        described = frame[j + 2].low in w.PREPOSITIONS
        alone = after.is_word and after.low != "of" and not described
        sure = placed or (alone and word.low not in ATTRIBUTIVE)
        return word.low in verbs.THIRD_PERSON_FORMS and sure
    if infinitive(frame, main, body) or frame[main].low in w.AUXILIARIES:
        return False
    return word.low in verbs.BASE_FORMS and placed and has_object(frame, j)


def _series(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether a verb follows a comma alone: "He trained, kept a diet | and ran"."""
    after = [frame[after_adverbs(frame, j + 1)] for j in range(main, k) if frame[j].is_comma]
    return any(is_past_tense(x) and x.low not in w.AUXILIARIES for x in after)


def _mirrored(frame: Sequence[Word], main: int, k: int, body: int) -> bool:
    """Whether both sides end alike: "5 mg for adults and 2.5 mg for children"."""
    tail = frame[body:]
    if frame[k].is_comma or any(x.is_comma for x in frame[max(main, k - 5) : k]):
        return False
    placed = tail[0].low in w.PREPOSITIONS - {"of"} and len(tail) > 2 and tail[1].is_number
    if placed:
        return tail[0].low in {x.low for x in frame[main + 1 : k]}
    if not (opens_noun_phrase(tail[0]) or tail[0].low in {"again", "hers"}):
        return False
    if (tail[0].is_name and frame[k - 1].is_name) or any(
        x.is_comma or x.low in w.COORDINATORS or x.low in verbs.GERUNDS for x in tail
    ):
        return False
    second = next((j for j, x in enumerate(tail) if x.low in w.PREPOSITIONS), 0)
    near = [x.low for x in frame[max(main + 1, k - 6) : k]]
    if frame[k - 1].text[-1].isupper() or any(x.low in {"being", "having"} for x in tail):
        return False  # "on a non-PAX and PAX basis"
    if any(x.low in w.PREPOSITIONS - {"of"} for x in tail[second + 1 :]):
        return False  # "five cups for men and four for women in a single day"
    alone = not w.RELATIVES & set(near)
    return second > 0 and alone and tail[second].low in set(near) - {"of"}
