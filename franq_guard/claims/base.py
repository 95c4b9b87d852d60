"""The protocol of every claim splitter."""

from __future__ import annotations

from typing import Protocol

from franq_guard.records import Claim


class ClaimSplitter(Protocol):
    """Splits an answer into claims.

    ``fingerprint`` names the method and its version: a calibrator is fitted for one splitter.
    """

    @property
    def fingerprint(self) -> str:
        """Name and version of the method (and of its prompts and model, where it has them)."""
        ...

    def split(self, answer: str, *, question: str = "") -> list[Claim]:
        """The claims of ``answer``, ordered by where they begin.

        No statement is left out; stretches that state nothing are returned with ``not_a_claim``
        set. With the rule-based splitter every non-blank character is in the spans of exactly one
        claim, except markers of Markdown, the tags and comments of HTML, tags of reasoning or tool
        calls, and citations. ``question`` helps to understand fragments.
        """
        ...
