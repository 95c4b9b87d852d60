"""The functions that the guard calls to report what it does; nearly free without an SDK."""

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
    """Run ``check(traces)`` with a span for each answer.

    A nested call, for some of the answers of an outer one, makes no new spans: the stages and
    failures within it are then reported for these answers only.
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
    """A context that reports a stage of the current checks."""
    checks = _checks.get()
    return Stage(name, checks) if checks else _NOTHING


def failed(error: BaseException) -> None:
    """Record an exception's type for the current checks; its message may contain users' text."""
    for check in _checks.get():
        check.error = type_of(type(error))


class GrowingCheck:
    """The check of an answer that is still being written, done in parts, in any thread.

    Its span begins when this object is made, as a child of the span that is open then.
    """

    def __init__(self) -> None:
        self._checks = opened([None], [None])

    def run(self, step: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run ``step`` as a part of the check."""
        if not self._checks:
            return step(*args, **kwargs)
        with _concerning(self._checks), Active(self._checks):
            return step(*args, **kwargs)

    def finish(self, answer: GuardedAnswer) -> None:
        """End the span and send the results; only the first call has an effect."""
        for check in self._checks:
            check.finish(answer)

    def close(self) -> None:
        """End the span if there was no result."""
        for check in self._checks:
            check.abandon()


def here() -> Context | None:
    """The caller's OpenTelemetry context, for :func:`under`; None without OpenTelemetry."""
    return bridge.current()


@contextmanager
def under(places: Iterable[tuple[Trace, Context | None]]) -> Iterator[None]:
    """Context in which each trace's check is a child of the context that :func:`here` returned.

    For code that checks the answers of several callers together, in a thread of its own.
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
