"""Matches an answer to the model call that wrote it, and its passages to the prompt.

Frameworks strip and cut answers, leave out passages in the prompt, and pass messages where a prompt
is needed. The rules to deal with that are here, for all frameworks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import eq
from typing import TYPE_CHECKING, Protocol, TypeVar

from franq_guard.basics.text import place_of
from franq_guard.capture.marked import FEWEST_WORDS, is_long
from franq_guard.language_model.base import Prompt
from franq_guard.records import Generation, Passage

if TYPE_CHECKING:
    from franq_guard.guard import Guard

_WORD = re.compile(r"\w+")
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|[nrt"/\\])')  # of JSON
_SHINGLE = 6
_PART = 8  # stretches of six words; 13 words in a row, which are not in a prompt by chance
_SENTENCE = 4  # words
_MOST = 0.5  # of the words of what is left of an answer


class ModelCall(Protocol):
    """A finished call of a language model."""

    @property
    def text(self) -> str | None:
        """What the model wrote."""


Call = TypeVar("Call", bound=ModelCall)


def call_that_wrote(answer: str, calls: Sequence[Call]) -> Call | None:
    """The newest of ``calls`` with this text; else with overlapping text; else with most words."""
    wanted = answer.strip()
    for same in (eq, _overlaps_long):
        for call in reversed(calls):
            if wanted and same((call.text or "").strip(), wanted):
                return call
    words = _words(wanted)
    return max(reversed(calls), key=lambda call: _share_of(call.text, words), default=None)


def calls_behind(answer: str, calls: Sequence[Call]) -> list[Call]:
    """The ``calls`` that an answer is made of: several where an application joins their texts.

    These are all whose text is in it, and those that share most of the words of what is left. Where
    no text is in it, because the application has rewritten it, they are those that share most of
    its words, and all calls if none shares any: it must not be left to chance which one it was.
    """
    wanted = answer.strip()
    wrote = call_that_wrote(answer, calls)
    behind = [call for call in calls if _is_long_part((call.text or "").strip(), wanted)]
    if wrote is not None and wanted and wanted in (wrote.text or "") and wrote not in behind:
        behind.append(wrote)
    rest = wanted
    for text in sorted(((call.text or "").strip() for call in behind), key=len, reverse=True):
        rest = "" if wanted in text else rest.replace(text, " ")
    words = _words(rest)
    shares = [_share_of(call.text, words) for call in calls]
    best = max(shares, default=0.0)
    if not behind and not best:
        return list(calls)
    least = _MOST if behind else best / 2
    known = {id(call) for call in behind}
    return [c for c, share in zip(calls, shares, strict=True) if id(c) in known or share >= least]


def same_text(one: str, other: str) -> bool:
    """Whether two texts are equal or one contains the other; False for blank texts."""
    one, other = one.strip(), other.strip()
    return bool(one and other) and (one in other or other in one)


def clipped(generation: Generation, answer: str) -> Generation:
    """``generation`` cut down to ``answer``, since a framework may have stripped or cut its text.

    Tokens before the answer are left out, those after it are kept with empty spans. If the answer
    is not a part of the generated text, the prompt is kept, but not the tokens and the writer.
    """
    if answer == generation.text:
        return generation
    start = place_of(answer, generation.text)
    if start < 0:
        return replace(generation, text=answer, tokens=(), source="none", writer=None)
    size = len(answer)
    tokens = tuple(
        replace(t, start=_within(t.start - start, size), end=_within(t.end - start, size))
        for t in generation.tokens
        if t.start >= start or t.end > start
    )
    return replace(generation, text=answer, tokens=tokens)


def shown(passages: Sequence[Passage], prompt: str | None) -> list[Passage]:
    """The ``passages`` that are in the prompt; all of them if that cannot be determined.

    A chain may retrieve passages and leave them out of the prompt; the model did not see these. It
    may also shorten them: of a long one a small share is then in the prompt, beside a whole short
    one.
    """
    if prompt is None or not passages:
        return list(passages)
    words = _WORD.findall(unescaped(prompt))
    stretches = set(_stretches(words))
    shares = [_share_in(passage.text, stretches, words) for passage in passages]
    # Half of the best share, because a chain may shorten every passage it puts into the prompt.
    least = max(shares) / 2
    seen = {place for place, share in enumerate(shares) if share >= least}
    seen |= _shortened(passages, seen, stretches)
    return [passage for place, passage in enumerate(passages) if place in seen]


def _shortened(passages: Sequence[Passage], seen: Collection[int], prompt: set[str]) -> set[int]:
    """The places of passages of which a part is in the prompt, and by no other passage.

    Chunks overlap, and pages have the same head: what those that are ``seen`` have does not count.
    """
    if len(seen) == len(passages):
        return set()
    parts = {place: _stretches_of(passages[place].text) for place in range(len(passages))}
    known = {stretch for place in seen for stretch in parts[place]}
    left = {place: parts[place] & prompt for place in parts if place not in seen}
    found: set[int] = set()
    for place in sorted(left, key=lambda place: -len(left[place])):
        if len(left[place] - known) >= _PART:
            found.add(place)
            known |= left[place]
    return found


def words_beside(text: str, others: Iterable[str]) -> list[str]:
    """The words of a text that are in no stretch of six words which one of ``others`` has, too."""
    words = _WORD.findall(text)
    known = {stretch for other in others for stretch in _stretches_of(other)}
    places = [place for place, stretch in enumerate(_stretches(words)) if stretch in known]
    covered = {place + i for place in places for i in range(_SHINGLE)}
    return [word for place, word in enumerate(words) if place not in covered]


def unescaped(text: str) -> str:
    """``text`` with what the escapes of JSON stand for, whose letters would be those of words.

    Tools print documents as JSON, where a line break is a backslash and an n.
    """
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", text)


def with_metadata_in_prompt(
    passages: Sequence[Passage], prompt: str | None, *, but: Callable[[str], bool]
) -> list[Passage]:
    """The passages, each with the sentences of its metadata that are in the prompt added below.

    An application may search by a question or summary, and keep the text for the prompt in the
    metadata. Names, dates and other single values are not added: beside a text they are taken for
    what it says, such as the year of a report for the year that it tells of. ``but``: texts that
    are no evidence, because a model wrote them.
    """

    def in_prompt(passage: Passage) -> list[str]:
        texts = [text.strip() for text in passage.metadata.values() if isinstance(text, str)]
        found = [text for text in texts if _is_sentence(text) and text in (prompt or "")]
        return [text for text in found if text not in passage.text and not but(text)]

    return [replace(p, text="\n".join([p.text, *in_prompt(p)])) for p in passages]


def _is_sentence(text: str) -> bool:
    return len(text.split()) >= _SENTENCE and text.endswith((".", "!", "?"))


def prompt_of_messages(guard: Guard, system: Iterable[str], others: Iterable[str]) -> str:
    """A remote model's chat messages as one prompt.

    In the format of the guard's own model if that is loaded, or has to read the answer. Otherwise
    as plain text: no model needs to be loaded to find the passages in it.
    """
    prompt = Prompt("\n".join(system), "\n\n".join(others))
    model = guard.renderer
    if model is None:
        return f"{prompt.system}\n\n{prompt.user}".strip()
    return model.render(prompt)


def _overlaps_long(text: str, wanted: str) -> bool:
    """Whether the answer is in a text, or the text in it and not by chance (a route, a "yes")."""
    return bool(text) and (wanted in text or _is_long_part(text, wanted))


def _is_long_part(text: str, wanted: str) -> bool:
    return text in wanted and is_long(text)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _share_of(text: str | None, wanted: Sequence[str]) -> float:
    """The share of the ``wanted`` words that ``text`` has, two in a row so that it is no chance.

    Of a text of a few words all must be there, in a row.
    """
    held = _words(text or "")
    if not held or not wanted:
        return 0.0
    if len(held) < FEWEST_WORDS:
        return len(held) / len(wanted) if f" {' '.join(held)} " in f" {' '.join(wanted)} " else 0.0
    if len(wanted) == 1:
        return float(wanted[0] in held)
    pairs = set(pairwise(wanted))
    return len(pairs & set(pairwise(held))) / len(pairs)


def _within(position: int, size: int) -> int:
    return max(0, min(size, position))


def _share_in(text: str, stretches: set[str], words: Sequence[str]) -> float:
    """The share of the six-word stretches of ``text`` that are among ``stretches`` of ``words``."""
    held = _WORD.findall(unescaped(text))
    if len(held) < _SHINGLE:
        few, all_words = " ".join(held), " ".join(words)
        # Whole words: 42 is not in 1942. Scripts without blanks have several words in a run.
        return float(f" {few} " in f" {all_words} " if few.isascii() else few in all_words)
    found = _stretches(held)
    return sum(stretch in stretches for stretch in found) / len(found)


def _stretches_of(text: str) -> set[str]:
    return set(_stretches(_WORD.findall(unescaped(text))))


def _stretches(words: Sequence[str]) -> list[str]:
    return [" ".join(words[i : i + _SHINGLE]) for i in range(len(words) - _SHINGLE + 1)]
