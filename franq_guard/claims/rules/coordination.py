"""Stage: clauses joined by semicolons or conjunctions, and predicates that share a subject."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from franq_guard.basics.words import word_set
from franq_guard.claims.rules import verbs
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.clause import Clause
from franq_guard.claims.rules.doubts import (
    bare_predicate,
    between,
    both,
    broken,
    in_a_list,
    listed_form,
    loose_participle,
    no_clause,
    no_verb,
    open_event,
    purpose,
    reported_clause,
    says_who,
    second_subject,
    two_modifiers,
    two_participles,
    within,
)
from franq_guard.claims.rules.finite_verb import (
    after_adverbs,
    find_verb,
    is_finite,
    main_verb,
    opens_noun_phrase,
    subject_start,
)
from franq_guard.claims.rules.lexer import Word
from franq_guard.claims.rules.nouns_or_verbs import ambiguous_noun, open_list
from franq_guard.claims.rules.predicates import (
    another_voice,
    base_predicate,
    carried_words,
    same_tense,
)
from franq_guard.claims.rules.scope import limited, simple, unsure_verb
from franq_guard.claims.rules.standing import parts

_MAX_SUBJECT = 12
_CORRELATIVES = frozenset({"only", "either", "neither", "whether", "rather"})
_THINKING = word_set("thought thinks believed believes said says say argued argues hoped hopes")
_WITHOUT_THAT = word_set(
    "said says say stated argued argues believed believes thought thinks hoped hopes feared knew"
    " knows concluded explained explains estimated warned warns told"
)
"""After these a clause may follow without "that"."""
_SAYING = frozenset({"know", "think", "guess", "mean", "see", "say"})
_NOT_ONLY = frozenset({"only", "just", "merely", "simply"})
# Words that open a clause which needs a verb of its own before "and" can join two sentences.
_WAITING = w.CONTRASTS | word_set(
    "if that whether because when unless what since where how as who whose whom which"
)
_SPLICE = w.PERSONAL_PRONOUNS | {"these", "this"}
_QUANTIFIERS = word_set("about around over under nearly more less only at")


def independent(clause: Clause) -> list[Clause]:
    """The clause split before a mark with a full clause after it: "; it ...", ", but he ..."."""
    return _split(clause, strong_only=True)


def coordinated(clause: Clause) -> list[Clause]:
    """The clause split at every safe coordination; just the clause if there is none."""
    return _split(clause, strong_only=False)


def _split(clause: Clause, *, strong_only: bool) -> list[Clause]:
    done: list[Clause] = []
    rest = clause
    while (cut := _first_cut(rest, strong_only)) is not None:
        left, rest = cut
        done.append(left)
    return [*done, rest]


def _first_cut(clause: Clause, strong_only: bool) -> tuple[Clause, Clause] | None:
    frame = clause.frame
    if frame and frame[0].low in w.CONTRASTS:
        return _fronted_contrast(clause)
    start = subject_start(frame)
    main = main_verb(frame, start)
    if main is None or limited(frame, start, main) or unsure_verb(frame, main):
        return None
    for k in range(main + 1, len(frame) - 1):
        if frame[k].shielded or not clause.can_cut(k):
            continue
        for cut in _cuts_at(clause, k, main, strong_only):
            if parts(cut) is not None:
                return cut
    return None


def _fronted_contrast(clause: Clause) -> tuple[Clause, Clause] | None:
    """Split "Although X, Y": it states X and Y."""
    frame = clause.frame
    for k in range(2, len(frame) - 2):
        if frame[k].is_comma and clause.can_cut(k):
            first = find_verb(frame, 1, k, loose=True)
            if any(x.low in {"if", "unless"} for x in frame[:k]):
                return None  # "While dogs swim if they must, cats drown"
            if first is not None and _opens_clause(frame, k + 1, first):
                left, right = clause.cut(k + 1, ())
                return parts((Clause(left.frame[1:], left.covered), right))
    return None


def _cuts_at(
    clause: Clause, k: int, main: int, strong_only: bool
) -> Iterator[tuple[Clause, Clause]]:
    """The cuts before position ``k`` where a clause or predicate may begin, likeliest first."""
    frame = clause.frame
    skip = _connective(frame, k)
    body = k + skip
    if skip == 0 or body >= len(frame) - 1 or _holds_together(frame, main, k, body):
        return
    strong = frame[k].text == ";" or (frame[k].is_comma and skip > 1)
    bare_comma = frame[k].is_comma and skip == 1
    contrast = strong and frame[body - 1].low in w.CONTRASTS
    reported = _reported(frame, main, k)
    unsure = bare_comma and not _after_bare_comma(frame, k, body, main)
    if unsure or (contrast and reported is not None):
        return
    if not strong and (
        (strong_only and not bare_comma) or (reported is None and _open(frame, main, k))
    ):
        return
    if _waiting(frame, main, k, reported) or _in_list(frame, main, k, body):
        return
    if frame[body].low == "that":
        reporting = next((j for j in range(main, k) if _reports(frame, j)), None)
        if reporting is not None:
            yield clause.cut(k, frame[: reporting + 1], skip=skip)
        return
    others = bare_comma and frame[body].low in {"others", "another", "then"}
    if reported is None and _opens_clause(frame, body, main, sure=strong or others):
        yield clause.cut(k, (), skip=skip)
    if frame[k].text == ";" and find_verb(frame, body, len(frame)) is not None:
        yield clause.cut(k, (), skip=skip)
    carried = None if strong_only else _carried(frame, main, k, body, reported)
    if carried is not None:
        yield clause.cut(k, carried, skip=skip)


def _carried(
    frame: Sequence[Word], main: int, k: int, body: int, reported: int | None
) -> tuple[Word, ...] | None:
    """What a predicate at ``body`` surely shares with the first one; None: it is not sure."""
    bare_comma = frame[k].is_comma and body == k + 1
    verb = after_adverbs(frame, body)
    if any(x.low in w.CONTRASTS and not x.shielded for x in frame[main:k]):
        return None  # "A grew, while B, a club, lost and left"
    if any(_own_subject(frame, j, k) for j in range(main + 1, k)):
        return None  # "It was well received and viewers changed it and used it"
    if reported is not None and any(x.is_comma for x in frame[k - 1 : k + 1]):
        return None  # "They agreed that A was good, but were unsure"
    cleft = frame[main - 1].low == "it" and any(x.low in {"that", "who"} for x in frame[main:k])
    if cleft or any(x.low == "not" for x in frame[body:verb]):
        return None  # "It was there that Ann taught, and wrote"; "but not seen as a risk"
    if loose_participle(frame, k, body, bare_comma=bare_comma) or ambiguous_noun(frame, k, verb):
        return None
    ends = verb + 1 < len(frame) and frame[verb + 1].is_comma  # "core, specialised, and key areas"
    if bare_comma and (ends or another_voice(frame, main, verb)):
        return None
    return carried_words(frame, main if reported is None else reported, body, reported)


def _own_subject(frame: Sequence[Word], j: int, k: int) -> bool:
    """Whether a conjunction at ``j`` joins a clause with a subject of its own before ``k``."""
    if frame[j].low not in w.COORDINATORS or frame[j].shielded:
        return False
    verb = find_verb(frame, j + 1, k, loose=True)
    return verb is not None and after_adverbs(frame, j + 1) != verb


def _in_list(frame: Sequence[Word], main: int, k: int, body: int) -> bool:
    listed = in_a_list(frame, main, k, body) or listed_form(frame, main, k, body)
    return listed or open_list(frame, main, k) or second_subject(frame, main, k)


def _holds_together(frame: Sequence[Word], main: int, k: int, body: int) -> bool:
    """Whether the words around ``k`` make sense only together."""
    linked = frame[k - 1].low in w.OPENERS and frame[k - 2].is_comma  # "It grew, however, they"
    for j in range(main, k):
        if frame[j].low == "so" and find_verb(frame, j + 1, k, loose=True) is None:
            return True  # "so Ann and Bo can hide"
    if frame[main].low in _THINKING and find_verb(frame, main + 1, k, loose=True) is None:
        return True  # "thought the net and the web would grow"
    explains = frame[k].text != ";" and (
        _after_colon(frame, main, k) or reported_clause(frame, main, k)
    )
    if explains or linked or within(frame, main, k) or open_event(frame, main, k):
        return True
    return _shared(frame, main, k, body) or purpose(frame, k, body)


def _shared(frame: Sequence[Word], main: int, k: int, body: int) -> bool:
    """Whether the words before ``k`` are incomplete without those after it."""
    if two_modifiers(frame, k, body) or two_participles(frame, k, body) or between(frame, k):
        return True
    if frame[k - 1].low in w.PREPOSITIONS or bare_predicate(frame, main, k):
        return True  # "the burden of, or has to pay, the tax"
    # "not only old but rich", "both sings and dances"
    start = subject_start(frame)
    if any(x.low == "not" and y.low in _NOT_ONLY for x, y in pairwise(frame[start : main + 1])):
        return True
    return any(frame[j].low in _CORRELATIVES or both(frame, j) for j in range(main, k))


def _after_bare_comma(frame: Sequence[Word], k: int, body: int, main: int) -> bool:
    """Whether a comma alone surely ends a clause: a series follows, and the clause is simple."""
    quoted = frame[body].text in {'"', "“"}
    if frame[k - 1].low in w.COMPLEMENT_VERBS | _SAYING:
        return False  # "you know, he has"
    return _series(frame, body, main) and simple(frame, k) and not quoted


def _after_colon(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether the words before ``k`` may only open what follows a colon: ": while riding, he"."""
    return any(x.text == ":" and not x.shielded for x in frame[main:k])


def _connective(frame: Sequence[Word], k: int) -> int:
    """How many words at ``k`` join the next clause: "; and", ", but", "and", ","; 0 if none do."""
    word = frame[k]
    following = frame[k + 1]
    joins = 1 if following.low in w.COORDINATORS - {"nor"} | w.CONTRASTS | {"so"} else 0
    if "or" in {word.low, following.low} or (
        following.low == "so" and k + 2 < len(frame) and frame[k + 2].low == "that"
    ):
        return 0  # neither half of "A or B" is stated; "so that" names a purpose
    if following.low == "even" and k + 2 < len(frame) and frame[k + 2].low in {"though", "if"}:
        joins = 2 if frame[k + 2].low == "though" else 0
    if word.text == ";" or word.is_comma:
        return 1 + joins
    if word.text in {"—", "–"}:
        return 2 if joins == 1 else 0
    return 1 if word.low in {"and", "but", "whereas"} else 0


_SUBORDINATE = (
    (w.SUBORDINATORS - {"as", "since", "once", "so"}) | w.RELATIVES | w.CONTRASTS | {"how", "why"}
)


def _open(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether the words before ``k`` end inside a subordinate or relative clause."""
    return any(
        find_verb(frame, j + 1, k, loose=True) is not None for j in _subordinators(frame, main, k)
    )


def _waiting(frame: Sequence[Word], main: int, k: int, reported: int | None) -> bool:
    """Whether a clause began before ``k`` whose verb, or its object, is still to come."""
    if reported is not None and bare_predicate(frame, reported, k):
        return True
    return any(
        find_verb(frame, j + 1, k, loose=_sure_clause(frame, j)) is None
        and find_verb(frame, k + 1, len(frame), loose=True) is not None
        for j in _subordinators(frame, main, k)
        if frame[j].low in _WAITING and frame[j - 1].low not in {"than", "as", "like"}
    )


def _sure_clause(frame: Sequence[Word], j: int) -> bool:
    """Whether a verb may be looked for loosely after ``j``: not after "that", but "that offers"."""
    return frame[j].low != "that" or is_finite(frame, j + 1, loose=True)


def _subordinators(frame: Sequence[Word], main: int, k: int) -> list[int]:
    return [
        j
        for j in range(main + 1, k)
        if not frame[j].shielded
        and (
            frame[j].low in _SUBORDINATE
            or (frame[j].low == "since" and frame[j + 1].low in w.DETERMINERS)
            or (frame[j].low == "as" and frame[j - 1].is_comma)
        )
    ]


def _reports(frame: Sequence[Word], j: int) -> bool:
    """Whether it is a verb like "claims" (not "his claims")."""
    noun = frame[j - 1].low in w.DETERMINERS | w.PREPOSITIONS
    if frame[j].low not in _WITHOUT_THAT and frame[j + 1].low != "that":
        return False
    return frame[j].low in w.COMPLEMENT_VERBS and not noun


def _reported(frame: Sequence[Word], main: int, k: int) -> int | None:
    """The verb of reported speech ("She said that A was ..."); None if there is none."""
    for j in range(main, k - 1):
        if _reports(frame, j):
            start = j + 2 if frame[j + 1].low == "that" else j + 1
            verb = find_verb(frame, start, k) or find_verb(frame, start, k, loose=True)
            if verb is not None and verb > start - (start == j + 1):
                return verb
    return None


def _opens_clause(frame: Sequence[Word], body: int, main: int, *, sure: bool = True) -> bool:
    """Whether a subject and its finite verb begin at ``body``.

    ``sure``: a comma or a semicolon before it makes a new clause likely, so any noun may begin it.
    """
    body = after_adverbs(frame, body)
    first = frame[body]
    if first.low in w.PRONOUN_VERBS:
        return True
    if first.low in {"how", "why", *w.RELATIVES - {"that"}} or no_clause(frame, body):
        return False
    if first.low in w.PREPOSITIONS | w.SUBORDINATORS and first.low not in _QUANTIFIERS:
        return sure and not frame[body - 1].is_comma and _fronted(frame, body)
    if is_finite(frame, body) or not (first.is_word or first.text in {'"', "“", "*"}):
        return False
    stop = min(len(frame), body + _MAX_SUBJECT)
    opens = opens_noun_phrase(first) or first.low in w.SUBJECT_PRONOUNS | _QUANTIFIERS
    verb = find_verb(frame, body, stop)
    if verb is None and (sure or opens):
        verb = _loose_verb(frame, body, stop) if sure else _closing_verb(frame, body)
    if verb is not None and no_verb(frame, main, body, verb):
        return False
    if verb is not None and frame[body - 1].is_comma and _uncertain(frame, body, verb):
        return False
    if verb is None:
        verb = _same_verb(frame, main, body, stop)
    if verb is not None and not opens:
        opens = frame[verb].low == frame[main].low or frame[verb].low in w.FINITE_AUXILIARIES
    return verb is not None and verb > body and (opens or sure) and not broken(frame[body:verb])


def _uncertain(frame: Sequence[Word], body: int, verb: int) -> bool:
    """Whether a list may go on after a comma alone: ", folk songs inspired X", ", A and B were"."""
    joined = any(x.low in w.COORDINATORS for x in frame[body:verb])
    return joined or verbs.is_ed_form(frame[verb].low)


def _same_verb(frame: Sequence[Word], main: int, body: int, stop: int) -> int | None:
    """The first clause's verb once more, if no relative clause comes before it."""
    verb = next((j for j in range(body + 1, stop) if frame[j].low == frame[main].low), None)
    if verb is not None and any(x.low in w.RELATIVES for x in frame[body:verb]):
        return None
    return verb


def _loose_verb(frame: Sequence[Word], body: int, stop: int) -> int | None:
    """A word that may be a verb, if no conjunction makes its subject unclear."""
    verb = find_verb(frame, body, stop, loose=True)
    if verb is None or any(x.low in w.COORDINATORS for x in frame[body:verb]):
        return None
    form = frame[verb].low
    held = form in verbs.SHARED_PASTS and form not in verbs.INTRANSITIVE_PASTS
    after = frame[verb + 1].low if verb + 1 < len(frame) else ""
    return None if held and after in w.PREPOSITIONS else verb  # "the second games held in Rome"


def _fronted(frame: Sequence[Word], body: int) -> bool:
    """Whether a clause begins with a fronted phrase: ", but in 1804, he ..."."""
    for k in range(body + 1, min(len(frame), body + _MAX_SUBJECT)):
        if frame[k].is_comma:
            return find_verb(frame, k + 1, len(frame)) is not None
    return body + 2 < len(frame) and frame[body + 2].low in w.SUBJECT_PRONOUNS


def _closing_verb(frame: Sequence[Word], body: int) -> int | None:
    """A past form at the very end: "and all 155 people on board survived."."""
    last = len(frame) - 2
    ends = last > body and not frame[-1].is_word and frame[last].low not in w.NAMING
    if not ends or any(x.low in w.SUBORDINATORS | w.RELATIVES for x in frame[body:last]):
        return None
    return last if frame[last].low in verbs.INTRANSITIVE_PASTS else None


def _series(frame: Sequence[Word], body: int, main: int) -> bool:
    """Whether a comma alone may join: before "others", or if a conjunction joins a later part."""
    if frame[body].low in {"others", "another", "then"}:
        return True
    if frame[body].low in _SPLICE and is_finite(frame, after_adverbs(frame, body + 1)):
        return not says_who(frame, body)
    for k in range(body + 1, len(frame) - 1):
        if frame[k].low in {"and", "or", "but"} and not frame[k].shielded:
            j = after_adverbs(frame, k + 1)
            predicate = is_finite(frame, j) or frame[j].low in verbs.PARTICIPLES
            if predicate or same_tense(frame, main, j) or _opens_clause(frame, j, main):
                return True
            if base_predicate(frame, main, k + 1) is not None:
                return True
    return False
