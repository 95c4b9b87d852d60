"""Grading by a language model where aliases are not enough: two graders that share one prompt.

:class:`LLMGrader` compares the probabilities of the three replies (any model that can score);
:class:`TextGrader` reads the reply of anything that writes text. Neither guesses: if they cannot
decide, the grade is ``error``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from franq_guard.claims.llm_reply import as_ask
from franq_guard.datasets.grading import Grade
from franq_guard.language_model.base import LanguageModel, Prompt
from franq_guard.records import Generation

SYSTEM = "You compare an answer with the right answers and reply with one letter."
OPTIONS: dict[str, Grade] = {"A": "correct", "B": "incorrect", "C": "not_attempted"}
_MAX_ALIASES = 8
_REPLY = re.compile(
    r"^\W*(?i:(?:the )?(?:reply|letter|grade|option|answer)\W*(?:is\W*)?)?([ABC])(?=\W*$|[.:,)*])"
)
_WORD = re.compile(r"\b(not[ _-]attempted|incorrect|correct)\b", re.IGNORECASE)


def grading_prompt(question: str, answer: str, aliases: Sequence[str]) -> Prompt:
    """The prompt for the judge; at most the first eight aliases are shown."""
    right = " | ".join(aliases[:_MAX_ALIASES])
    return Prompt(
        SYSTEM,
        f"Question: {question.strip()}\n"
        f"Right answers (any one is enough): {right}\n"
        f"Given answer: {' '.join(answer.split()) or '(empty)'}\n\n"
        "A: the given answer means the same as a right answer.\n"
        "B: the given answer says something else, or several things of which one is wrong.\n"
        "C: the given answer declines to answer or says that it does not know.\n"
        "Reply with A, B or C only.",
    )


class LLMGrader:
    """A :class:`~franq_guard.datasets.grading.Grader` that chooses the most probable letter.

    Args:
        model: scores the three letters after the prompt; nothing is generated.
        margin: in nats; ``error`` if the best letter's lead over the next is smaller. 0: no limit.
    """

    def __init__(self, model: LanguageModel, *, margin: float = 0.0) -> None:
        if margin < 0:
            raise ValueError(f"margin must not be negative, it is {margin}")
        self._model, self._margin = model, margin

    def __call__(self, question: str, answer: str, aliases: Sequence[str]) -> Grade:
        """The grade, or ``error`` if a log-probability is missing or the lead is too small."""
        prompt = self._model.render(grading_prompt(question, answer, aliases))
        scored = self._model.score([prompt] * len(OPTIONS), [Generation(o) for o in OPTIONS])
        values = [sum(t.logprob for t in g.tokens) if g.tokens else math.nan for g in scored]
        if not all(map(math.isfinite, values)):
            return "error"
        ranked = sorted(zip(values, OPTIONS.values(), strict=True), reverse=True)
        return "error" if ranked[0][0] - ranked[1][0] < self._margin else ranked[0][1]


class TextGrader:
    """A :class:`~franq_guard.datasets.grading.Grader` that reads the letter, or the word.

    Args:
        llm: a function ``str -> str``, a LangChain chat model or a LlamaIndex LLM.

    Raises:
        TypeError: ``llm`` is none of these.
    """

    def __init__(self, llm: Any) -> None:
        self._ask = as_ask(llm)

    def __call__(self, question: str, answer: str, aliases: Sequence[str]) -> Grade:
        """The grade, or ``error`` if the reply names none or several."""
        prompt = grading_prompt(question, answer, aliases)
        return read_grade(str(self._ask(f"{prompt.system}\n\n{prompt.user}")))


def read_grade(reply: str) -> Grade:
    """The grade in a reply: its first letter A, B or C, or the only grade that it names."""
    letter = _REPLY.match(reply.strip())
    if letter:
        return OPTIONS[letter[1]]
    named = {re.sub(r"[ -]", "_", word.lower()) for word in _WORD.findall(reply)}
    return next((g for g in OPTIONS.values() if named == {g}), "error")
