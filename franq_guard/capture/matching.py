"""Matches an answer to the model call that wrote it, and its passages to the prompt.

Frameworks strip and cut answers, leave out passages in the prompt, and pass messages where a prompt
is needed. The rules to deal with that are here, for all frameworks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from franq_guard.basics.text import place_of
from franq_guard.language_model.base import Prompt
from franq_guard.records import Generation, Passage

if TYPE_CHECKING:
    from franq_guard.guard import Guard

_WORD = re.compile(r"\w+")
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|[nrt"/\\])')  # of JSON
_SHINGLE = 6
_FEWEST = 4  # words of a sentence


class ModelCall(Protocol):
    """A finished call of a language model."""

    @property
    def text(self) -> str | None:
        """What the model wrote."""


Call = TypeVar("Call", bound=ModelCall)


def call_that_wrote(answer: str, calls: Sequence[Call]) -> Call | None:
    """The newest of ``calls`` with this text; else with overlapping text; else the last one."""
    wanted = answer.strip()
    for same in (_equal, _overlapping):
        for call in reversed(calls):
            if wanted and same((call.text or "").strip(), wanted):
                return call
    return calls[-1] if calls else None


def same_text(one: str, other: str) -> bool:
    """Whether two texts are equal or one contains the other; False for blank texts."""
    return _overlapping(one.strip(), other.strip()) and bool(other.strip())


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

    A chain may retrieve passages and leave them out of the prompt; the model did not see these.
    """
    if prompt is None or not passages:
        return list(passages)
    words = _WORD.findall(unescaped(prompt))
    stretches = set(_stretches(words))
    shares = [_share_in(passage.text, stretches, words) for passage in passages]
    # Half of the best share, because a chain may shorten every passage it puts into the prompt.
    least = max(shares) / 2
    return [passage for passage, share in zip(passages, shares, strict=True) if share >= least]


def unescaped(text: str) -> str:
    """``text`` with what the escapes of JSON stand for, whose letters would be those of words.

    Tools print documents as JSON, where a line break is a backslash and an n.
    """
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", text)


def with_told_metadata(
    passages: Sequence[Passage], prompt: str | None, *, but: Callable[[str], bool]
) -> list[Passage]:
    """The passages, each with the sentences of its metadata that are in the prompt added below.

    An application may search by a question or summary, and keep the text for the prompt in the
    metadata. Names, dates and other single values are not added: beside a text they are taken for
    what it says, such as the year of a report for the year that it tells of. ``but``: texts that
    are no evidence, because a model wrote them.
    """

    def told(passage: Passage) -> list[str]:
        texts = [text.strip() for text in passage.metadata.values() if isinstance(text, str)]
        in_prompt = [text for text in texts if _is_prose(text) and text in (prompt or "")]
        return [text for text in in_prompt if text not in passage.text and not but(text)]

    return [replace(p, text="\n".join([p.text, *told(p)])) for p in passages]


def _is_prose(text: str) -> bool:
    return len(text.split()) >= _FEWEST and text.endswith((".", "!", "?"))


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


def _equal(text: str, wanted: str) -> bool:
    return text == wanted


def _overlapping(text: str, wanted: str) -> bool:
    return bool(text) and (text in wanted or wanted in text)


def _within(position: int, size: int) -> int:
    return max(0, min(size, position))


def _share_in(text: str, stretches: set[str], words: Sequence[str]) -> float:
    """The share of the six-word stretches of ``text`` that are among ``stretches`` of ``words``."""
    own = _WORD.findall(unescaped(text))
    if len(own) < _SHINGLE:
        return float(" ".join(own) in " ".join(words))
    found = _stretches(own)
    return sum(stretch in stretches for stretch in found) / len(found)


def _stretches(words: Sequence[str]) -> list[str]:
    return [" ".join(words[i : i + _SHINGLE]) for i in range(len(words) - _SHINGLE + 1)]
