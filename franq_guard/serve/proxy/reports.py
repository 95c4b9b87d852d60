"""The report of a reply: in its ``franq`` object and in its headers."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from franq_guard.policy import Policy
from franq_guard.records import GuardedAnswer, Status, Verdict

Place = tuple[int, str]
"""A text of a reply: the number of its choice and its field, ``content`` or ``refusal``."""


@dataclass(frozen=True)
class Report:
    """What was found in the texts of one reply.

    Attributes:
        answers: the checked texts. A reply of tool calls alone has none.
        policy: decides which labels are warned of: its weak ones, and ``unverified``.
        id: hard to guess, so that only the client that got the reply can fetch its report.
    """

    answers: Mapping[Place, GuardedAnswer]
    policy: Policy
    id: str = field(default_factory=lambda: new_id())

    @property
    def status(self) -> Status | Literal["none"]:
        """``none`` if there is no text; else the status over the claims of all texts."""
        found = {answer.status for answer in self.answers.values()}
        if not found:
            return "none"
        return found.pop() if len(found) == 1 else "partial"

    @property
    def warnings(self) -> list[str]:
        """The labels that a reader should know of, the worst first."""
        labels = {verdict.label for verdict in self._verdicts}
        return [label for label in self.policy.marked if label in labels]

    @property
    def _verdicts(self) -> list[Verdict]:
        return [verdict for answer in self.answers.values() for verdict in answer.verdicts]

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
        found = {
            "x-franq-status": self.status,
            "x-franq-warnings": ",".join(self.warnings),
            "x-franq-report-id": self.id,
        }
        unchecked = {answer.reason for answer in self.answers.values()} - {None}
        if unchecked or "unverified" in self.warnings:
            found["x-franq-on-error"] = self.policy.on_error
        reasons = {v.reason for v in self._verdicts if v.label == "unverified"} | unchecked
        told = sorted(filter(None, reasons))
        return {**found, "x-franq-unverified": ",".join(told)} if told else found


def new_id() -> str:
    """An id that nobody can guess."""
    return secrets.token_urlsafe(16)
