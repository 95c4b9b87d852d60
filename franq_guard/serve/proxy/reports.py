"""The report of a reply: in its ``franq`` object and in its headers."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from franq_guard.policy import Policy
from franq_guard.records import GuardedAnswer, Status
from franq_guard.serve.reading import answer_headers, warnings_of

TextKey = tuple[int, str]
"""A text of a reply: the number of its choice and its field, ``content`` or ``refusal``."""


def new_id() -> str:
    """An id that nobody can guess."""
    return secrets.token_urlsafe(16)


@dataclass(frozen=True)
class Report:
    """What was found in the texts of one reply.

    Attributes:
        answers: the checked texts. A reply of tool calls alone has none.
        policy: decides which labels are warned of: its weak ones, and ``unverified``.
        id: hard to guess, so that only the client that got the reply can fetch its report.
    """

    answers: Mapping[TextKey, GuardedAnswer]
    policy: Policy
    id: str = field(default_factory=new_id)

    @property
    def status(self) -> Status | Literal["none"]:
        """``none`` if there is no text; else the status over the claims of all texts."""
        statuses = {answer.status for answer in self.answers.values()}
        if not statuses:
            return "none"
        return statuses.pop() if len(statuses) == 1 else "partial"

    @property
    def warnings(self) -> list[str]:
        """The labels that a reader should know of, the worst first."""
        return warnings_of(self.answers.values(), self.policy)

    def to_dict(self) -> dict[str, Any]:
        """The ``franq`` object of a reply: ``answer`` is ``franq.answer/1``."""
        return {
            "id": self.id,
            "status": self.status,
            "warnings": self.warnings,
            "choices": [
                {"index": index, "field": name, "answer": answer.to_dict()}
                for (index, name), answer in sorted(self.answers.items())
            ],
        }

    def headers(self) -> dict[str, str]:
        """Reply headers: labels and reasons only, because proxies may log headers."""
        summary = answer_headers(self.status, self.answers.values(), self.policy)
        return {**summary, "x-franq-report-id": self.id}
