"""Decides whether an answer states a gold answer, by matching normalised aliases.

Words are compared as :mod:`~franq_guard.datasets.comparable_words` spells them (case, accents,
punctuation, articles, numbers, dates).

``correct``: the answer's first line is an alias (after "Answer:", "It is" and the like), or holds
one as consecutive whole words. Of a line longer than ``MAX_WORDS`` only the first sentence counts.
Middle names may be left out of a name of three or more capitalised words, and what an alias has in
brackets ("Buffalo (or Bison)"); an alias all in one case matches singular and plural alike.

An alias does not count as stated if it is

- negated: a negation at most three words before it in the same clause ("not in Paris", "rather than
  Paris") or right after it ("Paris is not");
- one of several alternatives ("Paris or London", "Paris/London") unless each of them states an
  alias; a bare list joined by "and" of which less than half states one; any but the first of a bare
  list of three or more without "and";
- a number, if the answer contains other numbers that are not in the question (the day of a date is
  ignored, and a year in a date may match);
- one letter, or contained in the question, unless it is the whole answer;
  "yes" and "no" only count at the beginning.

``not_attempted``: nothing is said, or a refusal ("I don't know", "the passages do not mention
...") without a gold answer after "but" or "however". ``incorrect``: all else; so is a surname for a
full name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, Protocol

from franq_guard.basics.words import word_set
from franq_guard.claims.rules.words import AUXILIARIES, PREPOSITIONS
from franq_guard.datasets.comparable_words import Word, texts, words
from franq_guard.datasets.refusals import refuses

Grade = Literal["correct", "incorrect", "not_attempted", "error"]
"""``error``: the grader could not decide (an unreadable reply); alias matching never returns it."""

MAX_WORDS = 40
"""Of a line with more words only the first sentence counts as the answer."""


class Grader(Protocol):
    """Grades one answer; any function with this signature can be used."""

    def __call__(self, question: str, answer: str, aliases: Sequence[str]) -> Grade:
        """The grade of ``answer`` to ``question`` whose right answers are ``aliases``."""
        ...


_LABEL = re.compile(r"^\W*(?:(?:final |short |correct )?answer\s*\d*\s*[:\-]|a:)\s*", re.IGNORECASE)
_LEAD = re.compile(
    r"^(?:answer is|correct answer is|(?:it|this|that|he|she|they|there) (?:is|was|are|were|s))\b ?"
)
_TURN = re.compile(r"\b(?:but|however|though|although)\b", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d[\d.:-]*(?:st|nd|rd|th|s)?")
_NEGATORS = word_set(
    "not never nor neither without except unlike cannot excluding isnt wasnt arent werent dont"
    " doesnt didnt hasnt hadnt havent wont wouldnt cant couldnt"
)
_NEGATION_REACH = 3
_SHORT_ITEM = 5
_BARE_ITEM = 4


def grade(answer: str, aliases: Sequence[str], *, question: str = "") -> Grade:
    """The grade of a short answer by the rules above; never ``error``.

    Args:
        answer: what was answered; only its first line that is not blank counts.
        aliases: the correct answers; stating one of them is enough.
        question: numbers and names in it are not counted as part of the answer.

    Raises:
        ValueError: if there is no alias.
    """
    if not aliases:
        raise ValueError("there is no gold answer to grade against")
    aliases = unbracketed(aliases)
    line = _first_line(answer)
    if _is_alias(line, aliases):
        return "correct"
    if refuses(line):
        turned = _TURN.split(line, maxsplit=1)[1:]
        right = any(states(part, aliases, question=question) for part in turned)
        return "correct" if right else "not_attempted"
    return "correct" if states(line, aliases, question=question) else "incorrect"


def grade_by_alias(question: str, answer: str, aliases: Sequence[str]) -> Grade:
    """:func:`grade` as a :class:`Grader`."""
    return grade(answer, aliases, question=question)


def states(text: str, aliases: Sequence[str], *, question: str = "") -> bool:
    """Whether ``text`` (a sentence or less) states one of ``aliases`` by the rules above."""
    aliases = unbracketed(aliases)
    said = words(text)
    asked = _spaced(texts(question))
    for alias in aliases:
        wanted = texts(alias)
        if _whole_only(wanted) or (asked.strip() and _spaced(wanted) in asked):
            continue
        if _number_lost(wanted, said, asked):
            continue
        found = [m for v in _variants(alias) for m in _found(v, said, lower=_one_case(alias))]
        if any(_meant(said, m, aliases) for m in found if m[0] == 0 or wanted not in _YES_NO):
            return True
    return _is_alias(text, aliases)


def unbracketed(aliases: Sequence[str]) -> tuple[str, ...]:
    """``aliases``, plus those with brackets without them; no duplicates."""
    bare = [_BRACKETS.sub(" ", alias).strip() for alias in aliases]
    return tuple(dict.fromkeys([*aliases, *(alias for alias in bare if texts(alias))]))


def _one_case(alias: str) -> bool:
    return alias.islower() or alias.isupper()


_BRACKETS = re.compile(r"\s*\([^()]*\)")
_YES_NO = (("yes",), ("no",))


def _first_line(answer: str) -> str:
    lines = [_LABEL.sub("", line).strip() for line in answer.splitlines()]
    said = [line for line in lines if line]
    # "The answer is:" announces the next line.
    line = " ".join(said[: 2 if said and said[0].endswith(":") else 1])
    if len(line.split()) <= MAX_WORDS:
        return line
    from franq_guard.claims.sentences import sentences

    start, end = sentences(line, 0, len(line))[0]
    return line[start:end]


def _is_alias(text: str, aliases: Sequence[str]) -> bool:
    said = " ".join(texts(text))
    if not said:
        return bool(text.strip()) and text.strip() in {a.strip() for a in aliases}
    bare = _LEAD.sub("", said)
    return any(" ".join(texts(a)) in (said, bare) for a in aliases if texts(a))


def _spaced(parts: Sequence[str]) -> str:
    return f" {' '.join(parts)} "


def _whole_only(wanted: Sequence[str]) -> bool:
    """Whether an alias could match inside an answer by chance, so it must be all of it."""
    return not wanted or (len(wanted) == 1 and len(wanted[0]) == 1 and wanted[0].isalpha())


def _number_lost(wanted: Sequence[str], said: Sequence[Word], asked: str) -> bool:
    """Whether a number is wanted and the answer has other numbers, too."""
    if len(wanted) != 1 or not _NUMBER.fullmatch(wanted[0]):
        return False
    return any(
        _NUMBER.fullmatch(w.text) and w.text != wanted[0] and f" {w.text} " not in asked
        for w in said
    )


def _variants(alias: str) -> list[tuple[str, ...]]:
    """The alias, and without middle names where it looks like a person's name."""
    wanted, raw = texts(alias), alias.split()
    named = all(word[:1].isupper() and word.rstrip(".").isalpha() for word in raw)
    if len(raw) >= 3 and len(wanted) == len(raw) and named:
        return [wanted, (wanted[0], wanted[-1])]
    return [wanted]


def _found(
    wanted: Sequence[str], said: Sequence[Word], *, lower: bool
) -> Iterator[tuple[int, int]]:
    """Half-open ranges of ``said`` that match ``wanted``."""
    if lower:
        wanted = [_singular(w) for w in wanted]
    words = [_singular(w.text) if lower else w.text for w in said]
    for at in range(len(words) - len(wanted) + 1):
        if words[at : at + len(wanted)] == list(wanted):
            yield at, at + len(wanted)


def _singular(word: str) -> str:
    plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural else word


def _meant(said: Sequence[Word], match: tuple[int, int], aliases: Sequence[str]) -> bool:
    return not _negated(said, match) and not _one_of_many(said, match, aliases)


def _negated(said: Sequence[Word], match: tuple[int, int]) -> bool:
    start, end = match
    reach = start
    while reach > max(0, start - _NEGATION_REACH) and not said[reach].before:
        reach -= 1
    window = [w.text for w in said[reach:start]]
    after = [w.text for w in said[end : end + 2]]
    if after[:1] and after[0] in ("isnt", "wasnt", "arent", "werent"):
        return True
    if len(after) == 2 and after[0] in AUXILIARIES and after[1] == "not":
        return True
    return _denies(window)


def _denies(window: list[str]) -> bool:
    """Whether the words before an alias deny it: "not only" does not, "not ... but" neither."""
    if "but" in window:
        window = window[window.index("but") + 1 :]
    for word, following in pairwise([*window, ""]):
        if word in _NEGATORS and following not in ("only", "just", "merely"):
            return True
        if (word, following) in (("rather", "than"), ("instead", "of"), ("other", "than")):
            return True
    return False


def _one_of_many(said: Sequence[Word], match: tuple[int, int], aliases: Sequence[str]) -> bool:
    """Whether the answer names the alias among others without saying which it means."""
    items, joiners = _items(said)
    at = next((i for i, (a, b) in enumerate(items) if a <= match[0] and match[1] <= b), None)
    if at is None:
        return False  # the alias itself contains a comma or an "or"
    right = [_holds_alias(said[start:end], aliases) for start, end in items]
    if any(at in group and not all(right[i] for i in group) for group in _choices(items, joiners)):
        return True
    if not _bare_list(said, items):
        return False
    if "and" in joiners:
        return 2 * sum(right) < len(items)
    return at > 0


def _holds_alias(part: Sequence[Word], aliases: Sequence[str]) -> bool:
    wanted = [texts(alias) for alias in aliases]
    return any(words and any(_found(words, part, lower=False)) for words in wanted)


def _items(said: Sequence[Word]) -> tuple[list[tuple[int, int]], list[str]]:
    """Stretches between commas, slashes, "and" and "or", and what joins each to the one before."""
    items: list[tuple[int, int]] = []
    joiners: list[str] = []
    start, joiner = 0, ""
    for i, word in enumerate([*said, Word("", ",")]):
        mark = _joiner(word)
        if not mark:
            continue
        if i > start:
            items.append((start, i))
            joiners.append(joiner)
            joiner = ""
        joiner = mark if mark != "," or not joiner else joiner
        start = i + 1 if word.text in ("and", "or") else i
    return items, joiners[1:]


def _joiner(word: Word) -> str:
    """What a word, or the punctuation before it, joins two items with; empty if it does not."""
    if word.text in ("and", "or"):
        return word.text
    if "/" in word.before:
        return "or"
    return "," if set(word.before) & set(",;") else ""


def _choices(items: Sequence[tuple[int, int]], joiners: Sequence[str]) -> Iterator[range]:
    """The items of each "A or B", with the short items before it that commas add."""
    for i, joiner in enumerate(joiners):
        if joiner != "or":
            continue
        first = i
        while (
            first > 0 and joiners[first - 1] in (",", "or") and _length(items[first]) <= _SHORT_ITEM
        ):
            first -= 1
        yield range(first, i + 2)


def _bare_list(said: Sequence[Word], items: Sequence[tuple[int, int]]) -> bool:
    short = len(items) >= 3 and all(_length(item) <= _BARE_ITEM for item in items)
    sentence = any(w.text in AUXILIARIES for w in said) or said[0].text in PREPOSITIONS
    return short and not sentence


def _length(item: tuple[int, int]) -> int:
    return item[1] - item[0]
