"""Sends verdicts as feedback on a traced run, as in LangSmith, in the background."""

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
from franq_guard.basics.failures import OwnMessage, log_failure

_log = logging.getLogger(__name__)


class NoRunError(LookupError, OwnMessage):
    """An answer belongs to no run that is known."""


class FeedbackClient(Protocol):
    """The methods that a client needs; ``langsmith.Client`` has them.

    ``session_id``, the id of the run's project, is passed if it is known. If the client has
    ``read_project``, it is called for this id, once for each project; ``flush`` is called, too.
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
    """The feedback to send; ``project`` is the name of the project that the run is traced to."""

    run_id: UUID
    trace_id: UUID
    project: str | None
    score: float | None
    value: str
    comment: str


class FeedbackQueue(Background["_Feedback"]):
    """An ``on_report`` that keeps reports until a thread of its own has sent them.

    Attributes:
        dropped: how many were not sent because the queue was full or closed.
        failed: for how many the client raised an exception.

    Args:
        client: sends them.
        key: the name of the feedback.
        session_id: the id of the project that the runs are traced to, if known.
        size: how many reports may wait.
    """

    def __init__(
        self, client: FeedbackClient, key: str, *, session_id: UUID | None, size: int
    ) -> None:
        super().__init__(self._send, what="feedback", size=size)
        self._client, self._key, self._session_id = client, key, session_id
        self._sessions: dict[str, UUID] = {}

    def __call__(self, answer: GuardedAnswer) -> None:
        """Queue the report to be sent; neither waits nor raises."""
        try:
            self.put(_feedback_on(answer))
        except Exception as error:  # observability must not break a live chain
            log_failure(_log, "feedback was not sent", error)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all reports are sent; False if that takes over ``timeout`` seconds."""
        began = time.monotonic()
        sent = super().flush(timeout)
        flush = getattr(self._client, "flush", None)
        if sent and callable(flush):  # LangSmith's client has a queue of its own
            left = None if timeout is None else max(0.0, timeout - (time.monotonic() - began))
            try:
                flush(left)
            except Exception as error:
                log_failure(_log, "feedback was not flushed", error)
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
        """The id of a project; None if the client does not know it (yet)."""
        read = getattr(self._client, "read_project", None)
        if not callable(read):
            return None
        project = project or _default_project()
        if project is None:
            return None
        if project not in self._sessions:
            try:
                self._sessions[project] = read(project_name=project).id
            except Exception as error:  # a project does not exist before its first run
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

    ``score`` is the lowest P(true) among the claims (None if none could be verified), ``value`` the
    status, ``comment`` the number of claims by label; the answer's text is not sent. The answer is
    not delayed: a thread sends the reports, and those that do not fit into its queue are counted in
    ``dropped``. Exceptions of the client are logged and do not break the chain.

    Args:
        client: a ``langsmith.Client``.
        key: the name of the feedback.
        session_id: the id of the LangSmith project that the runs are traced to. Default: the
            project of the run's tracer, else the one in LangSmith's environment variables.
        queue_size: how many reports may wait.
    """
    return FeedbackQueue(client, key, session_id=session_id, size=queue_size)


def _feedback_on(answer: GuardedAnswer) -> _Feedback:
    """The feedback for the answer's run, else for the current run."""
    manager: Any = (var_child_runnable_config.get() or {}).get("callbacks")
    run_id = _uuid(answer.id) or getattr(manager, "parent_run_id", None)
    if run_id is None:
        raise NoRunError(f"no run is known of answer {answer.id!r}")
    trace_id, project = _traced(run_id, getattr(manager, "handlers", ()))
    labels = Counter(verdict.label for verdict in answer.verdicts)
    return _Feedback(
        run_id=run_id,
        trace_id=trace_id,
        project=project,
        score=answer.score,
        value=answer.status,
        comment=", ".join(f"{label}: {n}" for label, n in sorted(labels.items())),
    )


def _uuid(text: str | None) -> UUID | None:
    try:
        return UUID(text)
    except (TypeError, ValueError):  # for example a message's id, which is not a UUID
        return None


def _traced(run_id: UUID, handlers: Any) -> tuple[UUID, str | None]:
    """The root of the run's trace and the name of its project, from LangChain's tracer.

    Without a tracer the run counts as the root.
    """
    for handler in handlers:
        order = getattr(handler, "order_map", None)  # maps runs to their trace and place in it
        if hasattr(handler, "project_name") and order and run_id in order:
            return order[run_id][0], handler.project_name
    return run_id, None


def _default_project() -> str | None:
    from langsmith.utils import get_tracer_project

    return get_tracer_project()
