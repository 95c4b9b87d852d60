"""What every capture has to decide: who wrote the answer, under which prompt, from what.

Frameworks strip and cut answers, drop passages on the way to the model, and pass messages where a
prompt is needed; the rules for that are here, once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from franq_guard.language_model.base import Prompt
from franq_guard.records import Generation, Passage

if TYPE_CHECKING:
    from franq_guard.guard import Guard

_WORD = re.compile(r"\w+")
_SHINGLE = 6


class ModelCall(Protocol):
    """A finished call of a language model."""

    @property
    def text(self) -> str | None:
        """What the model wrote."""


Call = TypeVar("Call", bound=ModelCall)


def call_that_wrote(answer: str, calls: Sequence[Call]) -> Call | None:
    """The newest of ``calls`` with this text, else one with a part of it or more, else the last."""
    wanted = answer.strip()
    for same in (_equal, _overlapping):
        for call in reversed(calls):
            if wanted and same((call.text or "").strip(), wanted):
                return call
    return calls[-1] if calls else None


def same_text(one: str, other: str) -> bool:
    """Whether two texts are equal, or one is a part of the other; a blank one is not."""
    return _overlapping(one.strip(), other.strip()) and bool(other.strip())


def clipped(generation: Generation, answer: str) -> Generation:
    """``generation`` as it stands in the answer: a framework may have stripped or cut its text.

    Tokens outside get empty spans, so the ids stay the ones that were generated. An answer that is
    not a stretch of the generated text keeps the prompt but loses the tokens and its writer.
    """
    start = generation.text.find(answer)
    if start < 0:
        return replace(generation, text=answer, tokens=(), source="none", writer=None)
    size = len(answer)
    tokens = tuple(
        replace(t, start=_within(t.start - start, size), end=_within(t.end - start, size))
        for t in generation.tokens
    )
    return replace(generation, text=answer, tokens=tokens)


def shown(passages: Sequence[Passage], prompt: str | None) -> list[Passage]:
    """Those of ``passages`` that reached the prompt; all where that cannot be told.

    A chain may drop what it retrieved before it asks the model: such a passage supports nothing.
    """
    if prompt is None or not passages:
        return list(passages)
    words = " ".join(_WORD.findall(prompt))
    shares = [_share_in(passage.text, words) for passage in passages]
    # Half of the best share: chains that cut every passage short still count as showing them.
    least = max(shares) / 2
    return [passage for passage, share in zip(passages, shares, strict=True) if share >= least]


def prompt_of_messages(guard: Guard, system: Iterable[str], others: Iterable[str]) -> str:
    """Chat messages of a model that is not here, put as the guard's own model would be asked."""
    prompt = Prompt("\n".join(system), "\n\n".join(others))
    model = guard.language_model
    if model is None:
        return f"{prompt.system}\n\n{prompt.user}".strip()
    return model.render(prompt)


def _equal(text: str, wanted: str) -> bool:
    return text == wanted


def _overlapping(text: str, wanted: str) -> bool:
    return bool(text) and (text in wanted or wanted in text)


def _within(position: int, size: int) -> int:
    return max(0, min(size, position))


def _share_in(text: str, words: str) -> float:
    """Share of the six-word stretches of ``text`` that stand in ``words``."""
    own = _WORD.findall(text)
    stretches = [" ".join(own[i : i + _SHINGLE]) for i in range(max(1, len(own) - _SHINGLE + 1))]
    return sum(stretch in words for stretch in stretches) / len(stretches)
