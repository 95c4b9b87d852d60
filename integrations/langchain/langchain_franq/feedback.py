"""Verdicts as feedback on a traced run, in LangSmith's manner, sent off the answer's path."""

from __future__ import annotations

import logging
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from langchain_core.runnables.config import var_child_runnable_config

from franq_guard import GuardedAnswer
from franq_guard.basics.background import Background

_log = logging.getLogger(__name__)


class FeedbackClient(Protocol):
    """What is needed of a client; ``langsmith.Client`` has it.

    ``session_id``, the id of the run's project, is given where it is known. A client that also has
    ``read_project`` is asked for it, once for each project; one that has ``flush`` is flushed.
    """

    def create_feedback(
        self,
        run_id: UUID,
        key: str,
        *,
        score: float | None,
        value: str,
        comment: str,
        trace_id: UUID,
        session_id: UUID | None,
    ) -> Any:
        """Attach feedback to a run, which is part of the trace that began with ``trace_id``."""
        ...


@dataclass(frozen=True, slots=True)
class _Feedback:
    """What is to be sent; ``project`` is the name of the one that the run is traced to."""

    run_id: UUID
    trace_id: UUID
    project: str | None
    score: float | None
    value: str
    comment: str


class FeedbackQueue(Background["_Feedback"]):
    """An ``on_report`` that keeps reports until a thread of its own has sent them.

    Attributes:
        dropped: how many were not sent because too many waited, or after :meth:`close`.
        failed: how many the client did not take.

    Args:
        client: sends them.
        key: the name of the feedback.
        session_id: the id of the project that the runs are traced to, where it is known.
        size: how many may wait.
    """

    def __init__(
        self, client: FeedbackClient, key: str, *, session_id: UUID | None, size: int
    ) -> None:
        super().__init__(self._send, what="feedback", size=size)
        self._client, self._key, self._session_id = client, key, session_id
        self._sessions: dict[str, UUID] = {}

    def __call__(self, answer: GuardedAnswer) -> None:
        """Have the report sent; neither waits nor raises."""
        try:
            self.put(_feedback_on(answer))
        except Exception as error:  # observability must not break a live chain
            _log.warning("feedback was not sent: %s: %s", type(error).__name__, error)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all that was reported is sent; False where ``timeout`` seconds are over."""
        began = time.monotonic()
        sent = super().flush(timeout)
        flush = getattr(self._client, "flush", None)
        if sent and callable(flush):  # LangSmith's client has a queue of its own
            left = None if timeout is None else max(0.0, timeout - (time.monotonic() - began))
            try:
                flush(left)
            except Exception as error:
                _log.warning("feedback was not flushed: %s: %s", type(error).__name__, error)
        return sent

    def _send(self, feedback: _Feedback) -> None:
        self._client.create_feedback(
            feedback.run_id,
            self._key,
            score=feedback.score,
            value=feedback.value,
            comment=feedback.comment,
            trace_id=feedback.trace_id,
            session_id=self._session_id or self._session_of(feedback.project),
        )

    def _session_of(self, project: str | None) -> UUID | None:
        """The id of a project; None where the client does not tell it (yet)."""
        read = getattr(self._client, "read_project", None)
        if not callable(read):
            return None
        project = project or _default_project()
        if project is None:
            return None
        if project not in self._sessions:
            try:
                self._sessions[project] = read(project_name=project).id
            except Exception as error:  # a project is made with its first run
                _log.debug("project %s was not found: %s", project, type(error).__name__)
                return None
        return self._sessions[project]


def feedback_to(
    client: FeedbackClient,
    *,
    key: str = "franq",
    session_id: UUID | None = None,
    queue_size: int = 1000,
) -> FeedbackQueue:
    """An ``on_report`` that attaches each report to the run of its guarded chain.

        guard_chain(chain, guard, on_report=feedback_to(langsmith.Client()))

    ``score`` is the lowest P(true) among the claims (None where none could be verified), ``value``
    the status, ``comment`` the number of claims by label; the answer's text is not sent. The answer
    does not wait for it: a thread sends what was reported, and what does not fit in its queue is
    counted in ``dropped``. A client that fails is logged: it cannot break the chain.

    Args:
        client: a ``langsmith.Client``.
        key: the name of the feedback.
        session_id: the id of the LangSmith project that the runs are traced to. Default: that of
            the tracer of the run, else of the project that LangSmith's environment names.
        queue_size: how many reports may wait.
    """
    return FeedbackQueue(client, key, session_id=session_id, size=queue_size)


def _feedback_on(answer: GuardedAnswer) -> _Feedback:
    """The feedback, and the run that it is on: the answer's, else the one that is open."""
    manager: Any = (var_child_runnable_config.get() or {}).get("callbacks")
    run_id = _uuid(answer.id) or getattr(manager, "parent_run_id", None)
    if run_id is None:
        raise ValueError(f"no run is known of answer {answer.id!r}")
    trace_id, project = _traced(run_id, getattr(manager, "handlers", ()))
    known = [v.p_true for v in answer.verdicts if v.p_true is not None]
    labels = Counter(verdict.label for verdict in answer.verdicts)
    return _Feedback(
        run_id=run_id,
        trace_id=trace_id,
        project=project,
        score=min(known, default=None),
        value=answer.status,
        comment=", ".join(f"{label}: {n}" for label, n in sorted(labels.items())),
    )


def _uuid(text: str | None) -> UUID | None:
    try:
        return UUID(text)
    except (TypeError, ValueError):  # a message's id, say
        return None


def _traced(run_id: UUID, handlers: Any) -> tuple[UUID, str | None]:
    """The root of the run's trace and the name of its project, as LangChain's tracer knows them.

    Without a tracer the run is taken for the root.
    """
    for handler in handlers:
        order = getattr(handler, "order_map", None)  # from runs to their trace and place in it
        if hasattr(handler, "project_name") and order and run_id in order:
            return order[run_id][0], handler.project_name
    return run_id, None


def _default_project() -> str | None:
    from langsmith.utils import get_tracer_project

    return get_tracer_project()
