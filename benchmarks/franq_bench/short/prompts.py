"""The prompts of the short form, in our own words, after the paper's (arXiv 2505.21072, App. B).

All prompts of a question begin with the same text, so that a model with a prompt cache reads the
passages once: the prompts for the answer and for P(True) differ only in their last lines.
"""

from __future__ import annotations

from franq_guard.datasets.questions import Question
from franq_guard.language_model.base import Prompt
from franq_guard.records import Passage
from franq_guard.signals.p_true import p_true_question

__all__ = ["answer_prompt", "titles_prompt", "truth_prompt"]

ASK = "Answer in a few words, on one line."


def answer_prompt(question: Question) -> Prompt:
    """Numbered passages with their titles, then the question."""
    return Prompt("", f"{_context(_block(question))}\n{_ask(question)}")


def titles_prompt(question: Question) -> Prompt:
    """The same prompt with the titles but without the passages' texts, for Parametric Knowledge."""
    titles = "\n".join(_headed(i, p) for i, p in enumerate(question.passages, 1))
    return Prompt("", f"{_context(titles)}\n{_ask(question)}")


def truth_prompt(question: Question, answer: str) -> Prompt:
    """The prompt that asks the model whether an answer is true, for P(True)."""
    return Prompt("", p_true_question(question.question.strip(), answer, passages=_block(question)))


def _context(text: str) -> str:
    return f"Context:\n{text}\n"


def _ask(question: Question) -> str:
    return f"Question: {question.question.strip()}\n{ASK}"


def _block(question: Question) -> str:
    passages = enumerate(question.passages, 1)
    return "\n\n".join(f"{_headed(i, p)}\n{p.text.strip()}" for i, p in passages)


def _headed(number: int, passage: Passage) -> str:
    return f"[{number}] {passage.title.strip()}".rstrip()
