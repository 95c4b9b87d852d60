"""A splitter by a language model that says where the rules had to split in its place."""

from __future__ import annotations

from typing import Any

from franq_guard.claims import LLMSplitter
from franq_guard.cli.console import say
from franq_guard.records import Claim

__all__ = ["ToldSplitter"]

_NO_REPLY = ("error", "refusal", "broken_json")


class ToldSplitter(LLMSplitter):
    """Says once on standard error that the model gave no usable reply, and counts the sentences.

    Attributes:
        sentences: how many sentences were sent to the model.
        by_rules: how many of them the rules split.
    """

    def __init__(self, llm: Any, *, name: str) -> None:
        super().__init__(llm, name=name)
        self.sentences = self.by_rules = 0
        self._told = False

    def split(self, answer: str, *, question: str = "") -> list[Claim]:
        """As :meth:`.LLMSplitter.split`."""
        claims, report = self.split_with_report(answer, question=question)
        self.sentences += report.sentences
        self.by_rules += report.by_rules
        causes = [cause for cause in _NO_REPLY if (report.causes or {}).get(cause)]
        if causes and not self._told:
            self._told = True
            told = [f"error: {report.error}" if cause == "error" else cause for cause in causes]
            say(
                "warning: the model of --claims gave no usable reply "
                f"({', '.join(told)}): the rules split in its place"
            )
        return claims
