"""Where the guard says what it does. Without a listener each of these costs a look-up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from franq_guard.records import GuardedAnswer, Trace
from franq_guard.telemetry import bridge
from franq_guard.telemetry.check import Active, Check, Stage, opened, type_of

if TYPE_CHECKING:
    from opentelemetry.context import Context

__all__ = ["GrowingCheck", "failed", "here", "stage", "under", "watched"]

P = ParamSpec("P")
R = TypeVar("R")
Answers = list[GuardedAnswer]

_NOTHING = nullcontext()
_checks: ContextVar[tuple[Check, ...]] = ContextVar("franq_checks", default=())
_places: ContextVar[Mapping[int, Context]] = ContextVar("franq_places")


def watched(traces: Sequence[Trace], check: Callable[[Sequence[Trace]], Answers]) -> Answers:
    """``check(traces)``, a span for each answer.

    Within another one, for some of its answers: what follows concerns these alone.
    """
    of_these = tuple(one for one in _checks.get() if any(one.trace is t for t in traces))
    if of_these:
        with _concerning(of_these):
            return check(traces)
    places = _places.get({})
    begun = opened(traces, [places.get(id(trace)) for trace in traces])
    if not begun:
        return check(traces)
    try:
        with _concerning(begun), Active(begun):
            answers = check(traces)
        for one, answer in zip(begun, answers, strict=True):
            one.finish(answer)
        return answers
    finally:
        for one in begun:
            one.abandon()


def stage(name: str) -> AbstractContextManager[None]:
    """A stage of the checks that are going on."""
    checks = _checks.get()
    return Stage(name, checks) if checks else _NOTHING


def failed(error: BaseException) -> None:
    """The checks that are going on met an exception; its message is not told, it may hold text."""
    for check in _checks.get():
        check.error = type_of(type(error))


class GrowingCheck:
    """The check of an answer that is still being written, a part at a time, in any thread.

    It begins, and stands below the span that is open, where this object is made.
    """

    def __init__(self) -> None:
        self._checks = opened([None], [None])

    def run(self, step: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Do a part of it."""
        if not self._checks:
            return step(*args, **kwargs)
        with _concerning(self._checks), Active(self._checks):
            return step(*args, **kwargs)

    def finish(self, answer: GuardedAnswer) -> None:
        """Tell what came of it; the first time counts."""
        for check in self._checks:
            check.finish(answer)

    def close(self) -> None:
        """Nothing more comes of it."""
        for check in self._checks:
            check.abandon()


def here() -> Context | None:
    """Where the caller stands, for :func:`under`; None where nobody uses OpenTelemetry."""
    return bridge.current()


@contextmanager
def under(places: Iterable[tuple[Trace, Context | None]]) -> Iterator[None]:
    """Within it, the check of each trace stands where its place was taken by :func:`here`.

    For whoever checks the answers of several callers together, in a thread of its own.
    """
    token = _places.set({id(trace): place for trace, place in places if place is not None})
    try:
        yield
    finally:
        _places.reset(token)


@contextmanager
def _concerning(checks: tuple[Check, ...]) -> Iterator[None]:
    token = _checks.set(checks)
    try:
        yield
    finally:
        _checks.reset(token)
