"""The root runs that one shared handler watches: which run belongs to which."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from langchain_franq._capture import Capture

_MOST = 10_000  # open roots; more are of runs whose end nobody told


@dataclass
class Root:
    """A root run: what it was ``given``, and what ran in it; all that only where it is watched."""

    run_id: UUID
    watched: bool
    given: Any
    capture: Capture = field(default_factory=Capture)
    runs: set[UUID] = field(default_factory=set)


class Roots:
    """Open root runs; safe to use from many threads.

    A run whose parent was never seen is a root: the handler may hang on a part of an application.
    All that is known of a root goes when it ends, however it ends; events that come later find
    nothing. Of roots that never end (their threads were killed) the oldest are let go.

    Args:
        watches: whether a root run is in the sample.
    """

    def __init__(self, watches: Callable[[UUID], bool]) -> None:
        self._watches = watches
        self._lock = threading.Lock()
        self._open: dict[UUID, Root] = {}
        self._root_of: dict[UUID, UUID] = {}

    def __len__(self) -> int:
        return sum(root.watched for root in list(self._open.values()))

    def begun(self, run_id: UUID, parent: UUID | None, given: Any) -> Root | None:
        """The root of a run that begins; None where it is not watched."""
        with self._lock:
            above = None if parent is None else self._root_of.get(parent)
            root = self._opened(run_id, given) if above is None else self._open[above]
            root.runs.add(run_id)
            self._root_of[run_id] = root.run_id
            return root if root.watched else None

    def ended(self, run_id: UUID) -> Root | None:
        """The root of a run that ended; forgotten where it is the root itself."""
        with self._lock:
            root_id = self._root_of.get(run_id)
            root = None if root_id is None else self._open[root_id]
            if root is not None and root.run_id == run_id:
                self._forget(root)
            return root if root is not None and root.watched else None

    def forget(self, run_id: UUID) -> None:
        """A run failed; where it is a root, nothing more is known of it."""
        self.ended(run_id)

    def _opened(self, run_id: UUID, given: Any) -> Root:
        if len(self._open) >= _MOST:
            self._forget(next(iter(self._open.values())))
        watched = self._watches(run_id)
        root = self._open[run_id] = Root(run_id, watched, given if watched else None)
        return root

    def _forget(self, root: Root) -> None:
        self._open.pop(root.run_id, None)
        for run in root.runs:
            self._root_of.pop(run, None)
