"""The two prompts of our own: with passages, and the same without them.

Short and plain on purpose: a model of 135 million parameters must follow them too. The
question-only prompt is the first prompt less the block of passages, so that an answer's
probability under both (Parametric Knowledge, arXiv 2505.21072, section 3) differs by the passages
and nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from franq_guard.language_model.base import Prompt
from franq_guard.records import Passage

SYSTEM = "You answer questions briefly and truthfully, in one to three full sentences."


def rag_prompt(question: str, passages: Sequence[Passage]) -> Prompt:
    """Numbered passages, titles first, then the question; without passages the question alone."""
    if not passages:
        return question_prompt(question)
    block = "\n\n".join(_numbered(i, p) for i, p in enumerate(passages, start=1))
    return Prompt(SYSTEM, f"Passages:\n{block}\n\n{_ask(question)}")


def question_prompt(question: str) -> Prompt:
    """The same prompt without the block of passages."""
    return Prompt(SYSTEM, _ask(question))


def prompt_fingerprint() -> str:
    """Names the wording of the two prompts; a calibrator of likelihoods is tied to it."""
    shown = rag_prompt("question", [Passage("text", title="title")])
    return "rag/" + hashlib.sha256(f"{SYSTEM}\n{shown.user}".encode()).hexdigest()[:12]


def _numbered(number: int, passage: Passage) -> str:
    title = f"{passage.title.strip()}\n" if passage.title.strip() else ""
    return f"[{number}] {title}{passage.text.strip()}"


def _ask(question: str) -> str:
    return f"Question: {question.strip()}"
