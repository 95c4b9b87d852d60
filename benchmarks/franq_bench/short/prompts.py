"""The prompts of the short form, in our own words, after the paper's (arXiv 2505.21072, App. B).

All prompts of a question begin with the same text, so that a model with a prompt cache reads the
passages once: the prompts for the answer and for P(True) differ only in their last lines.
"""

from __future__ import annotations

from franq_guard.datasets.questions import Question
from franq_guard.language_model.base import Prompt
from franq_guard.records import Passage
from franq_guard.signals.p_true import p_true_question

__all__ = ["PARAMETRIC", "answer_prompt", "truth_prompt", "without_passages"]

ASK = "Answer in a few words, on one line."
PARAMETRIC = "question alone"
"""What the prompt of Parametric Knowledge shows, as the settings of a run name it."""


def answer_prompt(question: Question) -> Prompt:
    """Numbered passages with their titles, then the question."""
    return Prompt("", f"Context:\n{_block(question)}\n\n{_ask(question)}")


def without_passages(question: Question) -> Prompt:
    """The question alone, for Parametric Knowledge: titles were retrieved with their passages."""
    return Prompt("", _ask(question))


def truth_prompt(question: Question, answer: str) -> Prompt:
    """The prompt that asks the model whether an answer is true, for P(True)."""
    return Prompt("", p_true_question(question.question.strip(), answer, passages=_block(question)))


def _ask(question: Question) -> str:
    return f"Question: {question.question.strip()}\n{ASK}"


def _block(question: Question) -> str:
    passages = enumerate(question.passages, 1)
    return "\n\n".join(f"{_headed(i, p)}\n{p.text.strip()}" for i, p in passages)


def _headed(number: int, passage: Passage) -> str:
    return f"[{number}] {passage.title.strip()}".rstrip()
