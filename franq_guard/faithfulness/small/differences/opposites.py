"""Finds a word of a claim whose opposite stands in its place in a sentence: rose, fell.

An encoder gives such a claim nearly the score of the true one, since all other words agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.words import NEGATIONS, stem

_PAIRS: Final = """
rise rises rising rose risen increase grow grew grown growth gain climb soar surge
 / fall falls falling fell fallen decrease decline drop dropped shrink shrank reduce reduction
raise raised / lower lowered reduce cut
more / fewer less
most / least fewest
above over / below under beneath underneath
before earlier prior / after later afterwards
early earlier earliest / late later latest
first / last
begin begins began begun beginning start started / end ended finish close closed stop stopped
open opened opens opening / close closed closes closing shut
opened / closed
large larger largest big bigger biggest greater greatest / small smaller smallest tiny
high higher highest / low lower lowest
long longer longest / short shorter shortest
old older oldest / new newer newest young younger youngest
elder / younger
tall taller tallest / short shorter shortest
fast faster fastest quick quicker quickest / slow slower slowest
heavy heavier heaviest / light lighter lightest
strong stronger strongest / weak weaker weakest
good better best / bad worse worst poor poorer
rich richer richest / poor poorer poorest
cheap cheaper cheapest / expensive dear costly
wide wider widest broad broader / narrow narrower narrowest
thick thicker thickest / thin thinner thinnest
deep deeper deepest / shallow shallower shallowest
hot hotter hottest warm warmer warmest / cold colder coldest cool cooler coolest
dry drier driest / wet wetter wettest
near nearer nearest close closest / far farther farthest further furthest distant
hard harder hardest difficult / easy easier easiest
soft softer softest / hard harder hardest
bright brighter / dark darker dim
loud louder / quiet quieter
light lighter / dark darker
north northern northernmost northward / south southern southernmost southward
east eastern easternmost eastward / west western westernmost westward
northeast northeastern / southwest southwestern southeast southeastern northwest northwestern
northwest northwestern / southeast southeastern southwest southwestern
left / right
upper / lower
top / bottom
front / back rear
inside indoor indoors / outside outdoor outdoors
inner interior internal / outer exterior external
allow allowed permit permitted / ban banned forbid forbidden forbade prohibit prohibited
accept accepted approve approved approval / reject rejected rejection refuse refused refusal
include included inclusive / exclude excluded exclusive
win won winning winner / lose lost losing loser
gain gained / lose lost loss
profit profitable / loss
buy bought purchase purchased / sell sold
lend lent / borrow borrowed
deposit / withdraw withdrew withdrawal
import imported / export exported
male males man men boy boys / female females woman women girl girls
father fathers / mother mothers
son sons / daughter daughters
brother brothers / sister sisters
husband husbands / wife wives
king / queen
prince / princess
uncle / aunt
nephew / niece
grandfather / grandmother
grandson / granddaughter
born birth / died death dead
alive living / dead
arrive arrived arrival / leave left depart departed departure
enter entered entry entrance / exit exited leave left
join joined / leave left quit
public / private
positive / negative
success succeed / failure fail failed
passed / failed
major majority / minor minority
urban / rural
domestic / foreign international
true / false
correct correctly right / wrong wrongly
summer / winter
spring / autumn
day daytime / night nighttime
morning / afternoon evening
always usually often frequently / rarely seldom
common / rare uncommon
voluntary optional / compulsory mandatory obligatory required
present / absent
enable enabled / disable disabled
lock locked / unlock unlocked
attack attacked / defend defended
ally allied allies friend / enemy enemies
love loved / hate hated
maximum max / minimum min
expand expanded expansion / contract contracted contraction shrink shrank
lengthen lengthened / shorten shortened
widen widened / narrow narrowed
safe / dangerous
full / empty
improve improved improvement / worsen worsened deteriorate deteriorated
strengthen strengthened / weaken weakened
support supported / oppose opposed opposition
encourage encouraged / discourage discouraged
agree agreed agreement / disagree disagreed disagreement
confirm confirmed / deny denies denied
admit admitted / deny denies denied
appear appeared / disappear disappeared vanish vanished
hire hired / fire fired dismiss dismissed
build built construct constructed / demolish demolished destroy destroyed
vertical vertically / horizontal horizontally
clockwise / anticlockwise counterclockwise
senior / junior
ancestor ancestors / descendant descendants
alkaline / acidic
guilty / innocent
temporary temporarily / permanent permanently
amateur / professional
married / divorced unmarried
ascending ascend ascended / descending descend descended
simple simpler simplest / complex complicated
ancient / modern
natural / artificial synthetic
heat heated heating / cool cooled cooling
hardware / software
offline / online
credit / debit
income revenue / expense expenses expenditure
freeze froze frozen / melt melted
fill filled / empty emptied
push pushed / pull pulled
upstream / downstream
upstairs / downstairs
uphill / downhill
dusk sunset / dawn sunrise
asleep / awake
optimistic / pessimistic
victory / defeat
won / drew
remember remembered / forget forgot forgotten
attached attach / detached detach
connected connect / disconnected disconnect
even / odd
praise praised / criticise criticised criticize criticized pan panned condemn condemned
complete completed / cancel cancelled canceled abandon abandoned
few / many most
able / unable
black / white
same identical / different
"""
"""One pair a line: any word before the stroke is the opposite of any word after it."""
_PREFIXES: Final = ("un", "in", "im", "ir", "il", "dis", "non")
_SHORTEST: Final = 4
"""A word with a prefix negates the rest of it if that has so many letters: valid, invalid."""
_WORD: Final = re.compile(r"\w+(?:[.,]\d+)*|['’]t\b")
_IDLE: Final = word_set("a an the of is are was were be been being has had have that which")
"""Words that two texts with the same meaning often have or lack."""
_LONGEST: Final = 3
"""Opposites replace each other if at most so many words differ there."""
_NEAR: Final = 4
"""Negations so near change what is opposed: not allowed, banned."""


def opposite_key(stemmed: str) -> str:
    """The form in which a stem is compared here: "decrease" is that of "decreased", "decreas"."""
    return stemmed.removesuffix("e")


def _stem(word: str) -> str:
    return opposite_key(stem(word))


def _known() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _PAIRS.replace("\n /", " /").strip().splitlines():
        sides = [{_stem(word) for word in side.split()} for side in line.split("/")]
        for one, other in (sides, sides[::-1]):
            for word in one:
                found.setdefault(word, set()).update(other - one)
    return {word: frozenset(others) for word, others in found.items()}


_OPPOSITES: Final = _known()


def opposed(claim: str, sentence: str) -> frozenset[str]:
    """The words of a claim whose opposite stands in their place in a sentence that is nearly equal.

    Each as :func:`opposite_key` has it. None if only one of the two texts is negated there: "not
    allowed" is "banned".

    Args:
        claim: a sentence.
        sentence: the one of the context nearest to it.
    """
    own, other = _words(claim), _words(sentence)
    found: set[str] = set()
    for a, b, c, d in _gaps(own, other):
        around = own[max(0, a - _NEAR) : b + _NEAR], other[max(0, c - _NEAR) : d + _NEAR]
        if (
            b - a <= _LONGEST
            and d - c <= _LONGEST
            and _is_negated(around[0]) == _is_negated(around[1])
        ):
            found.update(_opposites(own[a:b], other[c:d], own, other))
    return frozenset(found)


def _opposites(
    here: Sequence[str], there: Sequence[str], own: Sequence[str], other: Sequence[str]
) -> list[str]:
    left = [word for word in there if word not in own]
    return [
        word
        for word in here
        if word not in other and any(_opposed_stems(word, opposite) for opposite in left)
    ]


def _opposed_stems(one: str, other: str) -> bool:
    """Whether two words are opposites, by the list or by a prefix: valid, invalid."""
    return other in _OPPOSITES.get(one, ()) or _prefixed(one, other) or _prefixed(other, one)


def _prefixed(long: str, short: str) -> bool:
    return len(short) >= _SHORTEST and any(long == prefix + short for prefix in _PREFIXES)


def _gaps(own: Sequence[str], other: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Where words replace each other; at an end of the claim the sentence may have more words."""
    steps = SequenceMatcher(None, own, other, autojunk=False).get_opcodes()
    for _, a, b, c, d in (step for step in steps if step[0] == "replace"):
        room = b - a + 1
        if b == len(own):
            yield a, b, c, min(d, c + room)
        else:
            yield a, b, (max(c, d - room) if a == 0 else c), d


def _is_negated(words: Sequence[str]) -> bool:
    return sum(word in NEGATIONS for word in words) % 2 == 1


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    found = (word.lower() for word in _WORD.findall(text))
    plain = ("not" if word in ("'t", "’t") else word for word in found)
    return tuple(word if word in NEGATIONS else _stem(word) for word in plain if word not in _IDLE)
