"""A complete RAG without a framework: BM25 search, and answers by the guard's language model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from franq_guard.datasets.search import Bm25
from franq_guard.language_model.prompts import rag_prompt
from franq_guard.records import GuardedAnswer, Passage, Trace

if TYPE_CHECKING:
    from franq_guard.guard import Guard


@dataclass(frozen=True, slots=True)
class Answered:
    """A checked answer and the passages it was written from."""

    answer: GuardedAnswer
    passages: tuple[Passage, ...]


def local_rag(
    passages: Sequence[Passage], guard: Guard, *, k: int = 3, max_new_tokens: int = 120
) -> Callable[[str], Answered]:
    """A function from a question to its checked answer; loads the guard's language model.

    Decoding is greedy, and the log-probabilities are recorded while the answer is generated.

    Args:
        passages: what to search.
        guard: its language model writes the answer, then the guard checks it.
        k: passages to retrieve; those without any word of the question are left out.
        max_new_tokens: length of an answer.

    Raises:
        ValueError: without passages, for k below 1, or for a guard without a language model.
        ModuleNotFoundError: where ``bm25s`` is not installed.
    """
    search = Bm25([f"{p.title} {p.text}" for p in passages], k=k)
    model = guard.language_model
    if model is None:
        raise ValueError("the guard has no language model to answer with: use Guard.offline()")

    def answer(question: str) -> Answered:
        found = tuple(passages[i] for i, _ in search.best(question))
        prompt = model.render(rag_prompt(question, found))
        (written,) = model.generate([prompt], max_new_tokens=max_new_tokens)
        trace = Trace(question, found, written, id=str(uuid4()))
        return Answered(guard.check_trace(trace), found)

    return answer
