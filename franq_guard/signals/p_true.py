"""P(True): asking the model whether its own statement is true (arXiv 2207.05221)."""

from __future__ import annotations

from collections.abc import Sequence
from os.path import commonprefix

import numpy as np

from franq_guard.franq import FloatArray
from franq_guard.language_model.base import LanguageModel, Prompt
from franq_guard.records import Generation
from franq_guard.uncertainty.numeric import in_parts

__all__ = ["OPTIONS", "p_true_logprobs", "p_true_options", "p_true_question", "polygraph_question"]

OPTIONS = ("True", "False")
"""The two words whose probabilities are compared."""


def p_true_question(question: str, statement: str, *, passages: str = "") -> str:
    """The user message that asks for one of :data:`OPTIONS`.

    Args:
        question: what was asked; may be empty.
        statement: the answer, or one claim of it, as plain text. (At claim level lm-polygraph 0.7.0
            inserts the printed form of a Python object here.)
        passages: joined passages; they come first so that all claims of an answer share a prefix.
    """
    lines = [f"Context:\n{passages}\n"] if passages else []
    lines += [f"Question: {question}"] if question else []
    lines += [f"Possible answer: {statement}", "Is the possible answer true or false?"]
    return "\n".join([*lines, "Reply with one word, True or False.", "The possible answer is:"])


def polygraph_question(question: str, statement: str, *, passages: str = "", claim: bool) -> str:
    """lm-polygraph's prompt of P(True), of which it takes the probability of "True" alone.

    The wording and the blanks are the library's (github.com/IINemo/lm-polygraph,
    ``stat_calculators/prompt.py``: ``PromptCalculator``, ``ClaimPromptCalculator``), because a
    comparison with its figures depends on both. What was asked is there the whole input with its
    passages; here the passages stand before the question.

    Args:
        question: what was asked.
        statement: the answer, or one claim of it.
        passages: joined passages.
        claim: whether it is one claim of the answer: the library asks in other words then.
    """
    asked = f"{passages}\n\n{question}" if passages else question
    start = f"Question: {asked}\n Possible answer:{statement}\n Is the possible answer"
    if claim:
        return f"{start} True or False? The possible answer is: "
    return f"{start}:\n (A) True\n (B) False\n The possible answer is:"


def p_true_options(prompt: str) -> tuple[str, str]:
    """The two options as the model would write them after ``prompt``.

    They begin with a blank unless the prompt ends in white space, as with a chat template: a BPE
    model hardly ever writes the token "True" directly after a colon (log p -10.8 against -4.6 for
    " True" in one example).
    """
    lead = "" if not prompt or prompt[-1].isspace() else " "
    return lead + OPTIONS[0], lead + OPTIONS[1]


def p_true_logprobs(
    model: LanguageModel,
    questions: Sequence[Sequence[str]],
    *,
    options: Sequence[str] | None = None,
) -> list[FloatArray]:
    """Log-probabilities of "True" and "False" after each question, in one scoring call for all.

    Args:
        model: the language model.
        questions: for each answer, its questions. Their shared beginning (up to its last line
            break) is scored as the prompt, the rest of each question with one option as the answer,
            so a model that caches the prompt reads it once.
        options: the two words as they are scored; None: :func:`p_true_options` of each prompt.

    Returns:
        One array (questions, 2) per answer.
    """
    asked = [parts for of_answer in questions for parts in _asked(model, of_answer, options)]
    answers = [Generation(rest + option) for _, rest, option in asked]
    scored = model.score([shared for shared, _, _ in asked], answers) if asked else []
    values = [
        sum(t.logprob for t in generation.tokens if t.end > max(t.start, len(rest)))
        for generation, (_, rest, _) in zip(scored, asked, strict=True)
    ]
    pairs = np.array(values, float).reshape(-1, 2)
    return in_parts(pairs, [len(of_answer) for of_answer in questions])


def _asked(
    model: LanguageModel, questions: Sequence[str], options: Sequence[str] | None
) -> list[tuple[str, str, str]]:
    """(shared beginning, rest of a question, option): two of them for each question."""
    prompts = [model.render(Prompt("", question)) for question in questions]
    common = commonprefix(prompts)  # noqa: RUF071  (a prefix of characters is intended)
    shared = common[: common.rfind("\n") + 1]
    return [
        (shared, prompt[len(shared) :], option)
        for prompt in prompts
        for option in options or p_true_options(prompt)
    ]
