"""The root runs that one shared handler watches, and which run belongs to which root."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from langchain_franq._capture import Capture

_MOST = 10_000  # open roots; older ones are of runs whose end was not reported


@dataclass
class Root:
    """A root run: its input (``given``) and what ran in it, if it is watched.

    ``interrupted``: a part of it waits for somebody's answer, and it ends without its own.
    """

    run_id: UUID
    watched: bool
    given: Any
    interrupted: bool = False
    capture: Capture = field(default_factory=Capture)
    runs: set[UUID] = field(default_factory=set)


class Roots:
    """Open root runs; thread-safe.

    A run whose parent was not reported is a root, because the handler may be attached to a part of
    an application. When a root ends or fails, everything about it is forgotten, and later events
    are ignored. Of roots that never end (their threads were killed) the oldest are forgotten.

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
        """The root of a run that begins; None if it is not watched."""
        with self._lock:
            above = None if parent is None else self._root_of.get(parent)
            root = self._opened(run_id, given) if above is None else self._open[above]
            root.runs.add(run_id)
            self._root_of[run_id] = root.run_id
            return root if root.watched else None

    def ended(self, run_id: UUID) -> Root | None:
        """The root of a run that ended; a root that ended is forgotten."""
        with self._lock:
            root_id = self._root_of.get(run_id)
            root = None if root_id is None else self._open[root_id]
            if root is not None and root.run_id == run_id:
                self._forget(root)
            return root if root is not None and root.watched else None

    def failed(self, run_id: UUID, error: BaseException) -> None:
        """Forget a run that failed, if it is a root; a graph's parts fail to interrupt it."""
        root = self.ended(run_id)
        if root is not None and type(error).__name__ == "GraphInterrupt":
            root.interrupted = True

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
