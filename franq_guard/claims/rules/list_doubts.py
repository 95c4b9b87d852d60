"""Reasons not to split a list: it explains a noun, or may belong to another one."""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard.basics.words import CALENDAR, word_set
from franq_guard.claims.rules import verbs
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.finite_verb import is_adverb, is_plural, subject_start
from franq_guard.claims.rules.lexer import Word
from franq_guard.claims.rules.measures import one_amount

OPENERS = w.POSSESSIVES | {"a", "an", "the", "one"}
COUNTS = word_set("one two three four five six seven eight nine ten no more fewer")
# A number before the first noun may count the nouns that follow it.
_SEVERAL = COUNTS - {"no", "more", "fewer", "one"} | {"several", "various", "some"}
# One thing has one such place, so that the names after "in" belong together.
_PLACED_ONCE = frozenset({"born", "died", "buried", "situated", "located"})
_AMOUNTS = (COUNTS - {"no", "more", "fewer"}) | word_set(
    "hundred hundreds thousand thousands million billion dozen dozens few several half total"
)
_OPENED = w.DETERMINERS | w.PREPOSITIONS | {"other", "certain", "various"}
_MADE = word_set(
    "built constructed assembled woven created produced formed cooked brewed prepared derived"
    " distilled developed crafted"
)
_TITLES = word_set(
    "king queen emperor empress president chairman ceo duke prince pope lord sir captain general"
    " colonel minister director governor senator professor doctor secretary chief"
)


def explained(members: Sequence[Sequence[Word]]) -> bool:
    """Whether a later member may say what the first one is, so that there is no list of things.

    "two provinces, Anda and Bor"; "PX, a chemical used in the production of films and fabrics".
    """
    first, rest = members[0], members[1:]
    counted = first[0].low in _SEVERAL or first[0].is_number
    if counted and not all(
        m[0].low in w.DETERMINERS | COUNTS or m[0].is_number or m[0].low in w.PREPOSITIONS
        for m in rest
    ):
        return True
    return rest[-1][0].low not in OPENERS and any(
        m[0].low in {"a", "an", "the", "one"} and not (len(m) > 1 and m[1].is_name)
        for m in rest[:-1]
    )


def attached(
    frame: Sequence[Word], main: int, first: int, members: Sequence[Sequence[Word]]
) -> bool:
    """Whether two noun phrases before the joint begin like the second member.

    "known for his loyalty to his gang and his courage", "a crash of a car and a lorry".
    """
    model = members[1][0].low
    linked = [any(x.low in w.PREPOSITIONS for x in m) for m in members]
    if model not in OPENERS or len(members) > 2:
        named = frame[first - 1].low in w.BE  # "was the heir of Ott, the king and the duke"
        return model in OPENERS and named and linked[0] and not any(linked[1:])
    alike = w.POSSESSIVES if model in w.POSSESSIVES else {"a", "an"} if model != "the" else {"the"}
    placed = frame[first - 1].low in w.PREPOSITIONS
    before = frame[main + 1 : first - 1] if placed else ()
    inside = () if all(linked) and not placed else members[0][1:]
    return any(x.low in alike for x in (*before, *inside))


def one_place(frame: Sequence[Word], first: int) -> bool:
    """Whether the words name one place: "was born in Rajec, Hungary and ..."."""
    before = {x.low for x in frame[max(0, first - 3) : first]}
    return bool(before & _PLACED_ONCE) and frame[first - 1].low in {"in", "at", "near", "on", "to"}


def doubtful(
    frame: Sequence[Word],
    main: int,
    first: int,
    members: Sequence[Sequence[Word]],
    cores: Sequence[Sequence[Word]],
) -> bool:
    """Whether the list may be true only as a whole, or its members may not be alike.

    ``cores``: the members, the last one without the words after it.
    """
    if one_amount(members, cores) or _mixed(members, cores):
        return True
    if _titles(frame, main, first, members):
        return True
    if _gives_examples(frame, first):
        return False
    return (
        _acts_together(frame, first, members)
        or _one_of_two(members)
        or _goes_on(members[-1], cores[-1])
        or _amount(frame, main, first)
        or (frame[first - 1].low in w.PREPOSITIONS and _one_act(cores))
        or _of_another_noun(frame, main, first, cores)
        or _explained_by(frame, first, members)
        or any(x.low in {"those", "ones", "what"} for x in frame[:first])
        or any(x.low in {"being", "having"} for x in frame[main:])
    )


def _gives_examples(frame: Sequence[Word], first: int) -> bool:
    """Whether each member is an example: "including A and B", "such as A and B"."""
    governor = frame[first - 1].low
    return governor in {"including", "like"} or (
        governor == "as" and frame[first - 2].low == "such"
    )


def _mixed(members: Sequence[Sequence[Word]], cores: Sequence[Sequence[Word]]) -> bool:
    """Whether the members are of different kinds, or the last noun may belong to all.

    "making plans, lists, and planning trips"; "was 27 and 31"; "two gold and five silver medals";
    "raw material, trade, and wage inflation"; "running, full of life and joy".
    """
    definite = [_definite(m) for m in members]
    named = any(m[0].is_name for m in members)
    if (named or len(members[0]) > 3) and any(definite) != all(definite):
        return True  # "a bridge over the strait, the narrow part of Ulm Bay"
    acts = [len(c) > 1 and c[0].low in verbs.GERUNDS and not c[0].is_name for c in cores]
    if any(acts) and not all(c[0].low.endswith("ing") for c in cores):
        return True
    if all(len(c) == 1 and c[0].is_number and len(c[0].text) != 4 for c in cores):
        return True
    if any(_adjective(c) for c in cores[:-1]) or _done(cores):
        return True
    if any(x.low in w.PERSONAL_PRONOUNS and not x.is_name for m in members for x in m):
        return True  # "for health and in 2006 it rose"
    if cores[0][0].low in _SEVERAL and not any(is_plural(x) for x in cores[0][1:]):
        return True
    linked = [any(x.low in w.PREPOSITIONS - {"of"} for x in m) for m in members]
    if any(linked[1:-1]) and not linked[0]:
        return True
    before, last = cores[-2], cores[-1]
    plain = len(before) == 1 and before[0].is_word and not before[0].is_name
    single = plain and not (before[0].is_number or is_plural(before[0]))
    opened = last[0].is_name or last[0].is_number or last[0].low in _OPENED
    return len(cores) > 2 and single and len(last) > 1 and not (opened or any(acts))


def _definite(member: Sequence[Word]) -> bool:
    """Whether it begins like "the town" or "his house" (not "the Alps")."""
    first = member[0].low
    named = len(member) > 1 and member[1].is_name
    return first in w.POSSESSIVES or (first == "the" and not named)


def _adjective(core: Sequence[Word]) -> bool:
    """Whether it has no noun: "more powerful" of "more powerful and more mobile units"."""
    graded = any(x.low in {"more", "most", "less", "very"} for x in core)
    return graded and len(core) < 4 and not is_plural(core[-1])


def _done(cores: Sequence[Sequence[Word]]) -> bool:
    """Whether only the first is a participle: "have been released, plus two diaries"."""
    forms = [c[0].low in verbs.PARTICIPLES and not c[0].is_name for c in cores]
    return forms[0] and not all(forms)


def _one_act(cores: Sequence[Sequence[Word]]) -> bool:
    """Whether only the first is an -ing form: "keeps on running, full of life and joy"."""
    acts = [c[0].low in verbs.GERUNDS for c in cores]
    return acts[0] and not all(acts)


def _titles(
    frame: Sequence[Word], main: int, first: int, members: Sequence[Sequence[Word]]
) -> bool:
    """Whether one name may have several titles: "against Charles V, Emperor and King of Spain"."""
    if frame[main].low in w.BE and first == main + 1:
        return False
    named = all(x.is_name for m in members for x in m[:1])
    return named and any(x.low in _TITLES for m in members for x in m)


def _acts_together(frame: Sequence[Word], first: int, members: Sequence[Sequence[Word]]) -> bool:
    """Whether the members may do it together: "written by A and B", "built from A and B"."""
    governor, before = frame[first - 1].low, frame[first - 2].low
    if governor == "by":
        return members[0][0].low not in verbs.GERUNDS
    return governor in {"from", "of", "with", "out", "using"} and before in _MADE


def _one_of_two(members: Sequence[Sequence[Word]]) -> bool:
    """Whether a second noun may belong to the first one's "of": "an heir of Ann and the king"."""
    linked = [any(x.low in w.PREPOSITIONS for x in m) for m in members]
    bare = all(len(m) == 1 and not m[0].is_name for m in members[1:-1])
    return linked[0] and not any(linked[1:]) and (len(members) == 2 or bare)


def _goes_on(member: Sequence[Word], core: Sequence[Word]) -> bool:
    """Whether words after the last member may be about all, or are more members.

    "knocks Ann and Bo off", "won Ann and Bo the prize", "a boat and bus ramp, a lawn".
    """
    rest = member[len(core) :]
    if rest and (rest[-1].low in w.PREPOSITIONS or rest[0].low == "per"):
        return True
    if any(x.text == '"' for x in member[2:-1]) and member[0].text != '"':
        return True  # "and its test \"has parts\""
    if core[0].is_name and any(x.low in {"a", "an", "the"} for x in core[1:]):
        return True
    after = rest[1] if len(rest) > 1 and rest[0].is_comma else None
    if after is None:
        return False
    low = after.low
    described = low in verbs.GERUNDS or verbs.is_participle(low)
    return not (described or low in w.RELATIVES | w.PREPOSITIONS or is_adverb(after))


def _explained_by(frame: Sequence[Word], first: int, members: Sequence[Sequence[Word]]) -> bool:
    """Whether a later member has its own preposition, or may explain the one before.

    "Bea Fox as Una, Tom's friend, and Al Roe as Ned"; "in Ulm from 1976, and from 1990 in Bern".
    """
    governor = frame[first - 1].low
    again = governor in w.PREPOSITIONS and any(x.low == governor for m in members[1:] for x in m)
    related = any(x.low.endswith(("'s", "s'")) for m in members[1:-1] for x in m[:-1])
    apart = members[0][0].low in w.PREPOSITIONS and len(members) == 2
    k = next(k for k, x in enumerate(frame) if x is members[1][0])
    return again or related or (apart and any(x.is_comma for x in frame[k - 2 : k]))


def _amount(frame: Sequence[Word], main: int, first: int) -> bool:
    """Whether an amount may be that of all members: "sold 6 million copies in the US and Peru"."""
    placed = frame[first - 1].low in w.PREPOSITIONS
    start = subject_start(frame) if placed else main + 1
    return any(
        frame[k].low in _AMOUNTS or (frame[k].is_number and not _dated(frame, k))
        for k in range(start, first)
        if not frame[k].shielded and frame[k + 1].text not in {".", ")"}
    )


def _dated(frame: Sequence[Word], k: int) -> bool:
    """Whether the number is a year or belongs to a date: "26 May", "in 2017"."""
    digits = frame[k].text
    beside = [*frame[max(0, k - 1) : k], *frame[k + 1 : k + 2]]
    year = len(digits) == 4 and digits.isdigit() and digits[0] in "12"
    return year or any(x.low in CALENDAR for x in beside)


def _of_another_noun(
    frame: Sequence[Word], main: int, first: int, cores: Sequence[Sequence[Word]]
) -> bool:
    """Whether a later member may go with the noun before the preposition.

    "advances in trade, higher wages and tourism"; not of names: "a house in Rome and Bern".
    """
    if frame[first - 1].low not in w.PREPOSITIONS or first - 2 <= main:
        return False
    k = next(k for k, x in enumerate(frame) if x is cores[1][0])
    added = frame[k - 1].low == "as"  # "talks with men in the North as well as Ann Lee"
    named = all(c[0].is_name or (c[0].low == "the" and c[-1].is_name) for c in cores)
    if named and not added:
        return False
    if all(c[0].low in verbs.GERUNDS for c in cores):
        return False
    inner = [x for x in frame[main + 1 : first - 1] if not is_adverb(x)]
    forms = w.AUXILIARIES | verbs.PARTICIPLES
    verbal = all(x.low in forms or verbs.is_ed_form(x.low) for x in inner)
    described = frame[main].low in w.BE and len(inner) == 1  # "is responsible for A and B"
    return not (verbal or described)


def lets_act(governor: Word, member: Sequence[Word]) -> bool:
    """Whether a verb of someone else is in the first member: "lets users post jobs and ads"."""
    return governor.low in w.LETTING and any(x.low in verbs.BASE_FORMS for x in member[1:])
