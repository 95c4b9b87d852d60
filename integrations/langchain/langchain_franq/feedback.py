"""Verdicts as feedback on a traced run, in LangSmith's manner."""

from __future__ import annotations

import logging
from collections import Counter
from typing import Any, Protocol
from uuid import UUID

from franq_guard import GuardedAnswer
from franq_guard.streaming.release import OnReport

_log = logging.getLogger(__name__)


class FeedbackClient(Protocol):
    """What is needed of a client; ``langsmith.Client`` has it."""

    def create_feedback(
        self, run_id: UUID, key: str, *, score: float | None, value: str, comment: str
    ) -> Any:
        """Attach feedback to a run."""
        ...


def feedback_to(client: FeedbackClient, *, key: str = "franq") -> OnReport:
    """An ``on_report`` that attaches each report to the run of its guarded chain.

        guard_chain(chain, guard, on_report=feedback_to(langsmith.Client()))

    ``score`` is the lowest P(true) among the claims (None where none could be verified), ``value``
    the status, ``comment`` the number of claims by label; the answer's text is not sent. A client
    that fails is logged: it cannot break the chain.
    """

    def send(answer: GuardedAnswer) -> None:
        known = [v.p_true for v in answer.verdicts if v.p_true is not None]
        labels = Counter(verdict.label for verdict in answer.verdicts)
        try:
            client.create_feedback(
                UUID(answer.id),
                key,
                score=min(known, default=None),
                value=answer.status,
                comment=", ".join(f"{label}: {n}" for label, n in sorted(labels.items())),
            )
        except Exception as error:  # observability must not break a live chain
            _log.warning("feedback was not sent: %s: %s", type(error).__name__, error)

    return send
