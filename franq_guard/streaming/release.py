"""The last step of every framework wrapper: report, and stop an answer that must not pass."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import get_args

from franq_guard.records import GuardedAnswer, Label, Verdict

OnReport = Callable[[GuardedAnswer], object]


@dataclass(frozen=True, slots=True)
class Released:
    """What leaves a stream of checked claims at once.

    ``text`` is what is added to the text that left before; empty where the policy took it all out.
    ``verdicts`` are of the claims in it, none in the last one; their spans, like ``start`` and
    ``end``, are characters of the answer as the model wrote it: ``start:end`` is what was checked.
    """

    text: str
    verdicts: tuple[Verdict, ...]
    start: int
    end: int


OnClaim = Callable[[Released], object]


class FactualityError(Exception):
    """An answer was stopped because of its claims.

    A framework's fallbacks may catch it: another model, or the same one told what to leave out.
    The message names no claim, so that logs do not spread what was stopped.

    Attributes:
        answer: the checked answer.
        verdicts: the verdicts of the claims that stopped it.
    """

    def __init__(self, answer: GuardedAnswer, verdicts: tuple[Verdict, ...]) -> None:
        labels = ", ".join(sorted({verdict.label for verdict in verdicts}))
        super().__init__(f"{len(verdicts)} of {len(answer.verdicts)} claims: {labels}")
        self.answer = answer
        self.verdicts = verdicts

    def __reduce__(self) -> tuple[type[FactualityError], tuple[object, ...]]:
        # An exception is copied by its message, which is not what this one is made of.
        return type(self), (self.answer, self.verdicts)


@dataclass(frozen=True)
class Release:
    """What happens to a checked answer before it goes back into the output.

    ``on_report`` is called with it; ``raise_on`` names the labels that stop it; ``on_claim`` is
    called with each release of a stream of claims.
    """

    on_report: OnReport | None = None
    raise_on: Collection[Label] = ()
    on_claim: OnClaim | None = None

    def __post_init__(self) -> None:
        unknown = set(self.raise_on) - set(get_args(Label))
        if isinstance(self.raise_on, str) or unknown:
            raise ValueError(
                f"raise_on takes labels out of {get_args(Label)}, such as ('false',), "
                f"not {self.raise_on!r}"
            )

    def __call__(self, answer: GuardedAnswer) -> GuardedAnswer:
        """The answer again.

        Raises:
            FactualityError: if a claim has one of the labels.
        """
        if self.on_report is not None:
            self.on_report(answer)
        stopping = tuple(v for v in answer.verdicts if v.label in self.raise_on)
        if stopping:
            raise FactualityError(answer, stopping)
        return answer

    def claim(self, released: Released) -> None:
        """Tell of checked claims that leave."""
        if self.on_claim is not None:
            self.on_claim(released)
