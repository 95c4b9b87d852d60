"""Seconds by stage, and the deadline, checked between stages and by models between batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from time import perf_counter

from franq_guard.basics.deadline import DeadlineExceeded, until
from franq_guard.telemetry import hooks

__all__ = ["Clock", "DeadlineExceeded"]


class Clock:
    """Times the stages of one check.

    ``deadline`` is in seconds from now; None sets none.
    """

    def __init__(self, deadline: float | None) -> None:
        self._began = perf_counter()
        self._deadline = deadline
        self.timings: dict[str, float] = {}
        self.at = ""
        """The current stage, or the last one."""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage.

        Raises:
            DeadlineExceeded: if the deadline has passed before the stage begins.
        """
        began = perf_counter()
        if self._deadline is not None and began - self._began > self._deadline:
            raise DeadlineExceeded(f"{self._deadline:.3g} s had passed before stage {name!r}")
        self.at = name
        ends = inf if self._deadline is None else self._began + self._deadline
        with until(ends), hooks.stage(name):
            yield
            self.timings[name] = self.timings.get(name, 0.0) + perf_counter() - began
