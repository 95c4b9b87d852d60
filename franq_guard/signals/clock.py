"""Seconds by stage, and the deadline that is looked at between stages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from franq_guard.telemetry import hooks


class DeadlineExceeded(Exception):
    """The time an answer may take is over."""


class Clock:
    """Times the stages of one check.

    ``deadline`` is in seconds from now; None sets none.
    """

    def __init__(self, deadline: float | None) -> None:
        self._began = perf_counter()
        self._deadline = deadline
        self.timings: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage.

        Raises:
            DeadlineExceeded: when the deadline has passed before the stage begins.
        """
        began = perf_counter()
        if self._deadline is not None and began - self._began > self._deadline:
            raise DeadlineExceeded(f"{self._deadline:.3g} s were over before stage {name!r}")
        with hooks.stage(name):
            yield
            self.timings[name] = self.timings.get(name, 0.0) + perf_counter() - began
