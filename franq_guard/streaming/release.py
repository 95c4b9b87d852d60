"""The last step of every framework wrapper: report an answer, and stop it if it must not pass."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import get_args

from franq_guard.basics.awaited import is_async
from franq_guard.records import GuardedAnswer, Label, Verdict

OnReport = Callable[[GuardedAnswer], object]


@dataclass(frozen=True, slots=True)
class Released:
    """One release of a stream of checked claims.

    ``text`` is added to the text released before; empty if the policy removed all of it.
    ``verdicts`` are of the claims in it; the last release has none, unless it is the policy's
    replacement. Their spans, like ``start`` and ``end``, are characters of the answer as the model
    wrote it: ``start:end`` is what was checked.
    """

    text: str
    verdicts: tuple[Verdict, ...]
    start: int
    end: int


OnClaim = Callable[[Released], object]


class FactualityError(Exception):
    """An answer was stopped because of its claims.

    A framework's fallbacks may catch it and ask another model, or the same one with the advice what
    to leave out. The message contains no claim, so that logs do not spread what was stopped.

    Attributes:
        answer: the checked answer.
        verdicts: the verdicts of the claims that stopped it; none if it has no claims to check.
    """

    def __init__(self, answer: GuardedAnswer, verdicts: tuple[Verdict, ...]) -> None:
        labels = ", ".join(sorted({verdict.label for verdict in verdicts}))
        of_claims = f"{len(verdicts)} of {len(answer.verdicts)} claims: {labels}"
        super().__init__(of_claims if verdicts else f"the answer is unverified: {answer.reason}")
        self.answer = answer
        self.verdicts = verdicts

    def __reduce__(self) -> tuple[type[FactualityError], tuple[object, ...]]:
        # By default an exception is copied by its message, but this one has other arguments.
        return type(self), (self.answer, self.verdicts)


def check_called(name: str, function: object) -> None:
    """Reject what cannot be called, or would have to be awaited: its reports would be lost.

    Args:
        name: of the option, for the message.
        function: what it was given; None if nothing.

    Raises:
        TypeError: the message says what to pass.
    """
    if function is None:
        return
    if not callable(function):
        raise TypeError(f"{name} must be a function, not {type(function).__name__}")
    if is_async(function):
        raise TypeError(f"{name} must be a plain function, not a coroutine function")


@dataclass(frozen=True)
class Release:
    """What happens to a checked answer before it goes back into the output.

    ``on_report`` is called with it; ``raise_on`` are the labels that stop it; ``on_claim`` is
    called with each release of a stream of claims.
    """

    on_report: OnReport | None = None
    raise_on: Collection[Label] = ()
    on_claim: OnClaim | None = None

    def __post_init__(self) -> None:
        check_called("on_report", self.on_report)
        check_called("on_claim", self.on_claim)
        unknown = set(self.raise_on) - set(get_args(Label))
        if isinstance(self.raise_on, str) or unknown:
            raise ValueError(
                f"raise_on takes labels out of {get_args(Label)}, such as ('false',), "
                f"not {self.raise_on!r}"
            )

    def __call__(self, answer: GuardedAnswer) -> GuardedAnswer:
        """Report the answer and return it.

        Raises:
            FactualityError: if a claim has one of the labels; also for "unverified" if no claim
                was read from the answer (:attr:`GuardedAnswer.reason` ``no_claims``: nothing but
                code, JSON, reasoning or headings, a lone "Yes.", or a splitter that found nothing).
        """
        if self.on_report is not None:
            self.on_report(answer)
        stopping = tuple(v for v in answer.verdicts if v.label in self.raise_on)
        nothing_checked = "unverified" in self.raise_on and answer.reason == "no_claims"
        if stopping or nothing_checked:
            raise FactualityError(answer, stopping)
        return answer

    def claim(self, released: Released) -> None:
        """Report checked claims that are released."""
        if self.on_claim is not None:
            self.on_claim(released)
