"""Our own two prompts: one with passages, and the same one without them.

They are short and plain so that a model of 135 million parameters can follow them. The
question-only prompt is the first prompt without the block of passages, so that an answer's
probabilities under the two (Parametric Knowledge, arXiv 2505.21072, section 3) differ only because
of the passages.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from franq_guard.language_model.base import Prompt
from franq_guard.records import Passage

SYSTEM = "You answer questions briefly and truthfully, in one to three full sentences."


def rag_prompt(question: str, passages: Sequence[Passage]) -> Prompt:
    """Numbered passages, titles first, then the question; without passages the question alone."""
    return Prompt(SYSTEM, f"{passages_block(passages)}{_ask(question)}")


def question_prompt(question: str) -> Prompt:
    """The same prompt without the block of passages."""
    return Prompt(SYSTEM, _ask(question))


def passages_block(passages: Sequence[Passage]) -> str:
    """The numbered passages under a heading, with an empty line after each; empty without any."""
    shown = "".join(f"{_numbered(i, p)}\n\n" for i, p in enumerate(passages, start=1))
    return f"Passages:\n{shown}" if shown else ""


def prompt_fingerprint() -> str:
    """Identifies the wording of both prompts; a calibrator of log-probabilities depends on it."""
    shown = rag_prompt("question", [Passage("text", title="title")])
    return "rag/" + hashlib.sha256(f"{SYSTEM}\n{shown.user}".encode()).hexdigest()[:12]


def _numbered(number: int, passage: Passage) -> str:
    title = f"{passage.title.strip()}\n" if passage.title.strip() else ""
    return f"[{number}] {title}{passage.text.strip()}"


def _ask(question: str) -> str:
    return f"Question: {question.strip()}"
