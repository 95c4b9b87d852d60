"""Stage: splits a list of things at the end of a clause into one claim for each thing."""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard.claims.rules import verbs
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.clause import Clause
from franq_guard.claims.rules.doubts import noun_before_verb
from franq_guard.claims.rules.finite_verb import is_adverb, main_verb, subject_start
from franq_guard.claims.rules.lexer import Word, inserted
from franq_guard.claims.rules.list_doubts import COUNTS, OPENERS
from franq_guard.claims.rules.list_members import (
    MAX_MEMBER,
    safe,
    shares_article,
)
from franq_guard.claims.rules.standing import stands

_JOINTS = frozenset({"and", "or", "as"})
_NATION_ENDS = ("an", "ish", "ese", "ch", "sh", "iss", "i", "eek", "ai", "ino", "ic")


def enumerated(clause: Clause) -> list[Clause]:
    """One clause per member of a final list, or just the clause if splitting is not safe."""
    frame = clause.frame
    if not any(x.low in _JOINTS for x in frame):
        return [clause]
    main = main_verb(frame, subject_start(frame))
    joint = None if main is None else _last_joint(frame, main)
    if main is None or joint is None or noun_before_verb(frame, main):
        return [clause]
    separators = _separators(frame, main, joint)
    while separators:
        first = _first_member(frame, main, separators)
        owned = all(map(clause.can_cut, separators))
        if (
            owned
            and first is not None
            and safe(frame, main, first, _members(frame, first, separators))
        ):
            found = _split(clause, _prefix_end(frame, main, first, separators), separators)
            if all(map(stands, found)):
                return found
        if frame[_body(frame, separators[0])].low not in w.PREPOSITIONS | w.RELATIVES:
            break
        separators = separators[1:]
    return [clause]


def _last_joint(frame: Sequence[Word], main: int) -> int | None:
    """Position of the last "and" of the clause (or of "as well as")."""
    for k in range(len(frame) - 2, main + 1, -1):
        word = frame[k]
        if word.shielded or word.index < 0:
            continue
        if word.low == "but":
            return None  # "for traders and clerks but red was for lords"
        if word.low == "and" or (word.low == "or" and _possible(frame, main)):
            return k
        if word.low == "as" and [x.low for x in frame[k + 1 : k + 3]] == ["well", "as"]:
            return k
    return None


def _possible(frame: Sequence[Word], main: int) -> bool:
    """Whether "or" joins possibilities, each true by itself: "may cause pain or fever"."""
    return frame[main].low in {"can", "may", "could", "might"}


def _separators(frame: Sequence[Word], main: int, joint: int) -> list[int]:
    """Positions of the comma or conjunction before each further member, in order."""
    out = [joint - 1 if frame[joint - 1].is_comma else joint]
    since = 0
    for k in range(out[0] - 1, main, -1):
        if frame[k].is_comma and frame[k].index >= 0:
            out.append(k)
            since = 0
        elif (frame[k].low in w.COORDINATORS and not frame[k].shielded) or since > MAX_MEMBER:
            break
        since += 1
    return out[::-1]


def _body(frame: Sequence[Word], separator: int) -> int:
    """Where the member after ``separator`` begins."""
    k = separator
    while k < len(frame) - 1 and (frame[k].is_comma or frame[k].low in {"and", "or", "also"}):
        k += 1
    phrase = [x.low for x in frame[k : k + 3]] == ["as", "well", "as"]
    return min(k + 3, len(frame) - 1) if phrase else k


def _first_member(frame: Sequence[Word], main: int, separators: Sequence[int]) -> int | None:
    """Where the first member begins: right after a verb, a preposition or a colon."""
    model = frame[min(_body(frame, separators[0]), len(frame) - 1)]
    other_article = None
    for k in range(separators[0] - 1, max(main, separators[0] - MAX_MEMBER - 1), -1):
        word = frame[k]
        if model.low in w.PREPOSITIONS:
            if word.low == model.low and not word.shielded:
                return k
        elif word.shielded:
            continue
        elif _governs(frame, k - 1, main) and not is_adverb(word):
            if _begins(frame, main, k, model, separators):
                return k
            if not (_alike(word, model) or shares_article(frame, k, model)):
                return other_article
            if (word.low == "the") == (model.low == "the"):
                return k
            other_article = _possible_start(frame, k, other_article)
        elif word.low in w.AUXILIARIES | w.RELATIVES:
            return other_article
    return other_article


def _possible_start(frame: Sequence[Word], k: int, found: int | None) -> int | None:
    """``found``, or ``k`` if the list may begin there although the next article is another one."""
    placed = frame[k].low in OPENERS and frame[k - 1].low in w.PREPOSITIONS
    return k if found is None and not placed else found


def _begins(
    frame: Sequence[Word], main: int, k: int, model: Word, separators: Sequence[int]
) -> bool:
    """Whether a list surely begins at ``k``, even if its next member begins in another way.

    "the Netherlands, Belgium and Suriname"; "starts with fever, a cough and red eyes".
    """
    if frame[k].low == "the" and frame[k + 1].is_name and model.is_name:
        return True
    if len(separators) < 2 or separators[0] - k > 4:
        return False
    near = k - 1 == main or (k - 2 == main and frame[k - 1].low in w.PREPOSITIONS)
    return near and frame[k].is_word and not (frame[k].is_name or model.is_name)


def _governs(frame: Sequence[Word], k: int, main: int) -> bool:
    word = frame[k]
    if k < main or word.shielded:
        return False
    return (
        k == main
        or word.text == ":"
        or (word.low in w.PREPOSITIONS and word.low != "of" and not word.is_name)
        or (word.low in w.AUXILIARIES and word.low not in w.MODALS)
        or (frame[k - 1].low in w.MODALS and word.low in verbs.BASE_FORMS)
        or (word.low == "of" and frame[k - 1].low in {"capital", "author", "director", "founder"})
        or all(is_adverb(x) or x.low in w.AUXILIARIES for x in frame[main : k + 1])
        or _is_participle(frame, k, main)
    )


def _is_participle(frame: Sequence[Word], k: int, main: int) -> bool:
    """Whether it is a verb after auxiliaries: "was named X and Y", "can borrow X and Y"."""
    form = frame[k].low in verbs.PARTICIPLES | verbs.BASE_FORMS
    return form and all(x.low in w.AUXILIARIES or is_adverb(x) for x in frame[main:k])


def _alike(word: Word, model: Word) -> bool:
    if model.is_name or word.is_name:
        return word.is_name and model.is_name
    if word.is_number != model.is_number and not (word.low in COUNTS or model.low in COUNTS):
        return False
    if model.low in COUNTS and word.low in COUNTS:
        return True
    if model.low in OPENERS or word.low in OPENERS:
        return word.low in OPENERS and model.low in OPENERS
    return word.is_word


def _end(frame: Sequence[Word]) -> int:
    end = len(frame)
    while end > 0 and not frame[end - 1].is_word and frame[end - 1].text in ".!?;,":
        end -= 1
    return end


def _prefix_end(frame: Sequence[Word], main: int, first: int, separators: Sequence[int]) -> int:
    """Where the shared words end: "an English court writer and critic" shares "an English"."""
    if not shares_article(frame, first, frame[_body(frame, separators[0])]):
        return first
    nation = frame[first + 1].is_name and frame[first + 1].low.endswith(_NATION_ENDS)
    if any(frame[_body(frame, k)].is_name for k in separators):
        nation = False  # "a French writer and Spanish critic"
    return first + 2 if nation and first + 2 < separators[0] else first + 1


def _split(clause: Clause, prefix: int, separators: Sequence[int]) -> list[Clause]:
    frame = clause.frame
    out: list[Clause] = []
    rest = clause
    for k in reversed(separators):
        position = next(i for i, x in enumerate(rest.frame) if x is frame[k])
        body = _body(frame, k)
        rest, last = rest.cut(position, _agreeing(frame[:prefix], frame[body]), skip=body - k)
        out.append(last)
    return [rest, *reversed(out)]


def _agreeing(carried: Sequence[Word], word: Word) -> Sequence[Word]:
    """The shared words with "a" or "an" as the next word requires."""
    if not carried or carried[-1].low not in {"a", "an"}:
        return carried
    return (*carried[:-1], inserted("an" if word.low[0] in "aeiou" else "a"))


def _members(frame: Sequence[Word], first: int, separators: Sequence[int]) -> list[Sequence[Word]]:
    edges = [first, *(_body(frame, k) for k in separators)]
    return [frame[a:b] for a, b in zip(edges, [*separators, _end(frame)], strict=True)]
