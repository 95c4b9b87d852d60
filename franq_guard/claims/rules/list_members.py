"""Decides whether the members of a list can be claims of their own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from franq_guard.basics.words import word_set
from franq_guard.claims.rules import verbs
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.agreement import number
from franq_guard.claims.rules.finite_verb import is_adverb, is_finite, is_plural, subject_start
from franq_guard.claims.rules.lexer import Word, inserted
from franq_guard.claims.rules.lexicon import lines
from franq_guard.claims.rules.list_doubts import (
    COUNTS,
    OPENERS,
    attached,
    doubtful,
    explained,
    lets_act,
    one_place,
)
from franq_guard.claims.rules.professions import is_profession

MAX_MEMBER = 9
"""The longest member, in words."""
_NO_MEMBER = w.SUBORDINATORS | word_set(
    "e.g i.e likely probably possibly due owing thanks such then according especially"
    " particularly mainly mostly usually often notably also only plus"
)
_PARTS = word_set("most many some all none several few both each")
_CREATE = frozenset({"write", "wrote", "published", "directed", "authored", "painted", "composed"})
_NOT_STATED = word_set(
    "not n't never no neither nor without only if unless whether rather instead except than because"
    " cannot don't doesn't didn't isn't aren't wasn't weren't won't can't hasn't haven't hadn't"
    " lack lacks lacked failed fails refused half third percent majority number"
)
_SHARED_TITLES = word_set(
    "lake lakes mount mounts saint saints king kings queen world part war act"
)
_ADJECTIVE_ENDS = (
    "able", "ible", "ical", "tional", "onal", "ial", "ual", "ous", "ful", "less", "ive", "ary",
    "ish", "istic", "atic", "ental",
)  # fmt: skip
_NOUNS_LIKE_ADJECTIVES = word_set(
    "material table cable vegetable archive motive library dictionary british polish spanish"
    " english finnish irish danish turkish swedish salary diary secretary missionary commentary"
    " documentary tributary boundary"
)
_ADJECTIVES = word_set(
    "new old big small large long short high low good bad great young early late rich poor hot"
    " cold red blue green black white yellow brown grey gray pink purple orange local global"
    " federal male female human economic cultural civil public private legal moral natural rural"
    " urban central northern southern eastern western upper lower inner outer modern ancient"
    " medieval hard soft strong weak fast slow safe simple complex efficient diverse tall wide deep"
    " dark light dry wet clean dirty happy sad free live cheap full empty open domestic foreign"
    " dense dynamic basic"
)
"""Adjectives that no ending shows."""
_CLOSING = frozenset({"there", "here", "too", "today", "now", "instead", "respectively"})
_SHARING = word_set(
    "north south east west upper lower old new inner outer first second third big little great"
    " northern southern eastern western central early late"
)
_PLACES = word_set(
    "new north south east west northern southern eastern western central san los las st saint santa"
    " united great hong buenos rio el la le port lake mount sri saudi"
)
"""Beginnings of the names of places, which are no part of the name before "and"."""
_BINOMIALS = frozenset(lines("binomials"))


def safe(frame: Sequence[Word], main: int, first: int, members: Sequence[Sequence[Word]]) -> bool:
    """Whether a statement about the list with these members is true of each member by itself.

    ``first`` is where the first member begins, ``main`` the verb of the clause.
    """
    if (
        _collective(frame, main, first, first + len(members[0]))
        or not _fit(members)
        or _shared_out(frame, main, first)
        or explained(members)
        or attached(frame, main, first, members)
        or one_place(frame, first)
        or lets_act(frame[first - 1], members[0])
    ):
        return False
    if frame[first - 1].text == ":" and not is_plural(frame[first - 2]):
        return False
    if (
        _identity(frame, main, first)
        or _one_name(frame, first, members)
        or _continued(frame[first - 1], members)
    ):
        return False
    cores = [*members[:-1], core(members[-1])]
    if any(not 0 < len(m) <= MAX_MEMBER or _has_verb(m) for m in cores):
        return False
    last = _before_relative(members[-1])
    governor = frame[first - 1]
    if any(is_finite(members[-1], k) for k in range(len(last))) or _tail_of_all(
        governor, members, len(cores[-1])
    ):
        return False
    if doubtful(frame, main, first, members, cores):
        return False
    if shares_article(frame, first, members[1][0]):
        rest = members[-1][len(cores[-1]) :]
        described = any(not x.is_name for x in members[0][1:-1])
        # "a keen historian and expert on bows": he may be a keen expert, and a historian of bows
        linked = bool(rest) and rest[0].low in w.PREPOSITIONS and described
        return _professions(cores) and not linked
    governed = governor.low in w.PREPOSITIONS
    if (
        _one_modifier(cores)
        or _adjectives(cores, governed=governed)
        or any(_goes_on(m) for m in members[:-1])
    ):
        return False
    if _parallel(cores):
        return len(members) > 2 or not _is_title(governor, members)
    # "attitudes and beliefs about X": about both; "acid and enzymes that digest": only the last
    rest = members[-1][len(cores[-1]) :]
    tail = bool(rest) and rest[0].low not in w.RELATIVES
    return len(members) > 2 or (not tail and _plain_pair(cores, governor))


def _tail_of_all(governor: Word, members: Sequence[Sequence[Word]], core_length: int) -> bool:
    """Whether the words after the last member may be about all members.

    "has 55% of its pupils and 60% of its teachers from Rome", "sells tea and cups, and lends".
    """
    tail = members[-1][core_length:]
    joined = any(x.low in w.COORDINATORS and not x.shielded for x in tail)
    placed = any(x.low in w.PREPOSITIONS for m in members[:-1] for x in m)
    if tail and not placed and tail[0].low in w.PREPOSITIONS - {"of"}:
        return True  # "with Ann, Bo and Cy in the leading roles"
    return joined or any(x.text == "%" and m[0].is_number for m in members for x in m)


def _before_relative(member: Sequence[Word]) -> Sequence[Word]:
    stops = (k for k, x in enumerate(member) if x.low in w.RELATIVES | w.SUBORDINATORS)
    return member[: next(stops, len(member))]


def _collective(frame: Sequence[Word], main: int, first: int, end: int) -> bool:
    """Whether it is about the list as a whole: "consists of", "Minister for Food and Health"."""
    governor = frame[first - 1]
    if first > 1 and governor.low in {"for", "of"} and frame[first - 2].is_name:
        return True
    before_list = frame[max(subject_start(frame), main - 3) : end]
    return governor.text != ":" and any(x.text in w.COLLECTIVE for x in before_list)


def _shared_out(frame: Sequence[Word], main: int, first: int) -> bool:
    """Whether the members are assigned ("respectively"), negated, or part of a condition."""
    if any(x.low in w.DEALT_OUT and not x.shielded for x in frame):
        return True
    if any(x.low == "and" and not x.shielded for x in frame[main + 1 : first]):
        return True  # "was written and performed by A and B"
    infinitive = frame[first - 1].low == "to" and frame[first].low in verbs.BASE_FORMS
    return infinitive or any(x.low in _NOT_STATED for x in frame[:first])


def _identity(frame: Sequence[Word], main: int, first: int) -> bool:
    """Whether the list names several things at once: "The two moons are Phobos and Deimos"."""
    words_between = frame[main + 1 : first]
    phrase = frame[subject_start(frame) : main]
    plural = frame[main].low in {"are", "were"} or number(phrase) == "plural"
    return frame[main].low in w.BE and plural and all(map(is_adverb, words_between))


def _one_name(frame: Sequence[Word], first: int, members: Sequence[Sequence[Word]]) -> bool:
    """Whether the names may be one name, one couple or share a word.

    "the song for Laverne and Shirley", "by Peter, Paul and Mary", "Upper and Lower Tarn",
    "Lake Erie and Ontario", "French and English versions".
    """
    named = [m for m in members if m[0].is_name or (m[0].low == "the" and m[-1].is_name)]
    if len(named) < 2:
        return False
    short = [len(core(m)) == 1 for m in members]
    governor = frame[first - 1].low
    joint = {"by", "for", "about", "as", "called", "named", "titled"}
    if governor in joint and all(short) and frame[first - 2].low != "followed":
        return True
    if governor == "with" and len(members) == 2:
        return True
    if any(len(m) == 1 and m[0].low in _SHARING for m in members[:-1]):
        return True
    if members[0][0].low in _SHARED_TITLES or "'s" in members[0][-1].low[-2:]:
        return True
    if governor == "by" and all(
        m[0].is_name and x for m, x in zip(members[1:], short[1:], strict=True)
    ):
        return True
    last = core(members[-1])
    tail = not last[-1].is_name and last[-1].is_word and len(last) > 1
    if tail and all(x.is_name or x.low == "the" for m in members[:-1] for x in m):
        return True
    if not (len(members) == 2 and short[0] and len(last) > 1 and last[0].low != "the"):
        return False
    placed = governor in {"in", "at", "from", "near", "into"} and last[0].low in _PLACES
    free = placed or governor in {"including", "against"}
    return not free or members[0][0].low in _SHARING


def _continued(governor: Word, members: Sequence[Sequence[Word]]) -> bool:
    """Whether the second of two names may belong to the first.

    "the International Maize and Wheat Institute", "Cartoon Network Australia and New Zealand".
    """
    if any(x.low == "of" for x in members[0]) and members[0][-1].is_name and members[1][0].is_name:
        return True  # "the School of Painting and Sculpture", "the Department of Parks and ..."
    if len(members) > 2:
        return False
    left, right = members[0], _without_marks(core(members[1]))
    rest = members[1][len(right) :]
    if not all(x.is_name for x in right) or (rest and rest[0].low == "of"):
        return False
    article = left[0].low == "the" and all(x.is_name for x in left[1:])
    if article and right[0].low != "the":
        return len(right) > 1 and len(left) > 1
    return (
        governor.low in w.PREPOSITIONS
        and len(left) > 2
        and all(x.is_name for x in left)
        and len(right) < len(left)
    )


def _without_marks(words: Sequence[Word]) -> Sequence[Word]:
    """The words before a bracket: "Wheat Institute (WI)"."""
    return words[: next((k for k, x in enumerate(words) if not x.is_word and k), len(words))]


def _adjectives(cores: Sequence[Sequence[Word]], *, governed: bool) -> bool:
    """Whether single words may describe the noun of the last member, or the subject.

    "modular, reusable and extensible code", "is limited and diverse", "solid, liquid or gas tanks".
    """
    singles = [m[0] for m in cores if len(m) == 1 and not m[0].is_name]
    opened = cores[-1][0].low in w.DETERMINERS | {"certain", "various", "other", "about", "around"}
    if opened or (governed and all(len(m) == 1 for m in cores)):
        return False
    if any(describes(x) for x in singles):
        return True
    lead = cores[:-1]
    if _before_nouns(cores):
        return True
    plain = all(len(m) == 1 and not m[0].is_name for m in lead)
    return (
        plain
        and len(cores[-1]) > 1
        and cores[-1][0].low != "other"
        and not any(is_plural(m[0]) for m in lead)
    )


def _one_modifier(cores: Sequence[Sequence[Word]]) -> bool:
    """Whether the first noun's modifier may hold for all: "a very fine shape, taste and smell"."""
    opened = COUNTS | w.DETERMINERS
    bare = all(
        len(c) == 1 and not (c[0].is_name or c[0].is_number or c[0].low in opened)
        for c in cores[1:]
    )
    return bare and len(cores[0]) > 2 and cores[0][0].low in {"a", "an"}


def _before_nouns(cores: Sequence[Sequence[Word]]) -> bool:
    """Whether the first bare member may go with the noun of the next.

    "lush, dreamy voices and loud drums"; "limited edition and collectible works".
    """
    first, second = cores[0], cores[1]
    bare = not first[0].is_name and first[0].low not in OPENERS | COUNTS | w.PREPOSITIONS
    bare = bare and first[0].low not in w.DETERMINERS and first[0].is_word
    bare = bare and not first[0].low.endswith("ing")
    if not bare or is_plural(first[-1]) or len(second) < 2:
        return False
    if second[0].is_name or second[0].low in w.DETERMINERS | w.PREPOSITIONS:
        return False
    return is_plural(second[-1]) and (len(cores) == 2 or len(first) == 1)


def describes(word: Word) -> bool:
    """Whether the word looks like an adjective or a participle."""
    low = word.low
    if verbs.is_participle(low) or low in _ADJECTIVES:
        return True
    return len(low) > 4 and low.endswith(_ADJECTIVE_ENDS) and low not in _NOUNS_LIKE_ADJECTIVES


def _goes_on(member: Sequence[Word]) -> bool:
    """Whether more words follow a name that is not the last: "Salem, Oregon in 1966 and ..."."""
    return member[0].is_name and any(x.low in w.PREPOSITIONS - {"of"} for x in member)


def _fit(members: Sequence[Sequence[Word]]) -> bool:
    """Whether the members begin alike and are things."""
    heads = [m[0] for m in members if m]
    if any(x.low == "followed" for m in members[1:] for x in m[:2]):
        return False
    gerunds = [x.low in verbs.GERUNDS for x in heads]
    if gerunds[:1] == [True] and len(members[0]) > 1 and not any(gerunds[1:]):
        return False  # "will be serving breakfast, lunch and tea"
    parts = [x.low in _PARTS for x in heads]  # "61 tattoos, most of them on his back"
    placed = [x.low in w.PREPOSITIONS for x in heads]
    if len(heads) < len(members) or any(parts) != all(parts) or any(placed) != all(placed):
        return False
    if any(is_adverb(m[0]) and (len(m) < 2 or m[1].low in w.PREPOSITIONS) for m in members):
        return False
    if any(a[-1].low.endswith("ly") and b[0].low.endswith("ly") for a, b in pairwise(members)):
        return False
    if len(members[-1]) == 1 and heads[-1].low in {"more", "others", "so"}:
        return False
    if any(x.low in w.COORDINATORS and not x.shielded for m in members for x in m):
        return False
    if any(map(_past_form, members[1:])) or any(map(_with_object, members)):
        return False
    return not any(x.low in _NO_MEMBER or _verbal(x, len(members)) for x in heads)


def shares_article(frame: Sequence[Word], k: int, model: Word) -> bool:
    """Whether one article serves both: "was an English writer and critic"."""
    linked = frame[k - 1].low in w.BE | {"became", "becomes"}
    return linked and frame[k].low in {"a", "an"} and model.low not in OPENERS


def core(member: Sequence[Word]) -> Sequence[Word]:
    """The last member without what may follow it ("and critic who lived in Rome")."""
    for k, word in enumerate(member):
        if k and (word.low in w.PREPOSITIONS | w.RELATIVES | _CLOSING or word.is_comma):
            return member[:k]
    return member


def _verbal(word: Word, count: int) -> bool:
    """Whether the form is a verb and not a noun, so that the list is not one of things."""
    low = word.low
    verbal = low in verbs.PLAIN_BASE_FORMS or low in verbs.PURE_PASTS
    return verbal or (count == 2 and low in verbs.GERUNDS)


def _past_form(member: Sequence[Word]) -> bool:
    """Whether a member may begin with a verb: "posed with a tiger, fed geese, and ..."."""
    return len(member) > 1 and member[0].low in verbs.SHARED_PASTS | w.NAMING


def _with_object(member: Sequence[Word]) -> bool:
    """Whether a member may be a verb and its object: "displays maps", not "plays by her"."""
    words = core(member)
    form = words[0].low in verbs.THIRD_PERSON_FORMS and not words[0].is_name
    if len(words) < 2 or not form or not words[1].is_word:
        return False
    return not (describes(words[1]) or is_adverb(words[1]) or words[1].low in verbs.GERUNDS)


def _professions(cores: Sequence[Sequence[Word]]) -> bool:
    """Whether persons are described ("a writer and critic"), not a thing ("a large old town")."""
    if any(x.low in w.PREPOSITIONS for x in cores[0]):
        return False
    return all(is_profession(core[-1]) for core in cores)


def _is_title(governor: Word, members: Sequence[Sequence[Word]]) -> bool:
    """Whether it is one title: "wrote Crime and Punishment in 1866"."""
    creates = verbs.BASE_OF.get(governor.low, governor.low) in _CREATE
    return creates and all(len(m) == 1 or m[1].low in w.PREPOSITIONS for m in members)


def _parallel(members: Sequence[Sequence[Word]]) -> bool:
    """All names, all with a determiner or a count, or all with the same preposition."""
    heads = [m[0] for m in members]
    return (
        all(m[0].is_name or (m[0].low == "the" and m[-1].is_name) for m in members)
        or all(x.low in OPENERS for x in heads)
        or all(x.low in COUNTS or x.is_number for x in heads)
        or (heads[0].low in w.PREPOSITIONS and all(x.low == heads[0].low for x in heads))
    )


def _plain_pair(members: Sequence[Sequence[Word]], governor: Word) -> bool:
    """Whether two bare nouns follow the verb ("reads novels and poems"), not a fixed pair."""
    left, right = members
    if f"{left[-1].low} {right[-1].low}" in _BINOMIALS or len(right) > 3:
        return False
    if governor.low in w.PREPOSITIONS - {"as", "including", "against", "from"}:
        return False
    if any(not x.is_word for x in (*left, *right)):
        return False
    return len(left) <= 4


def _has_verb(member: Sequence[Word]) -> bool:
    ends = member[-1].low in verbs.PLAIN_BASE_FORMS  # "as strong winds and rain continue"
    words = (*member, inserted(".")) if ends else member
    return any(is_finite(words, k) or x.low in w.RELATIVES for k, x in enumerate(member))
