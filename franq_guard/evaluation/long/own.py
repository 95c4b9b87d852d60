"""The long-form set whose labels need no judge, answered by the model that is measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from franq_guard.claims import RuleSplitter
from franq_guard.evaluation.generations import GenerationStore
from franq_guard.evaluation.long.answers import LabelledAnswer, LabelledClaim
from franq_guard.evaluation.rag.long_form import LongAnswer, long_form_answers, summary
from franq_guard.evaluation.rag.long_prompts import build_prompts
from franq_guard.evaluation.rag.questions import read_questions
from franq_guard.language_model.base import LanguageModel
from franq_guard.records import Trace

__all__ = ["labelled", "own_answers"]


def own_answers(
    data: Sequence[Path],
    model: LanguageModel,
    store: Path,
    *,
    prompts: int,
    k: int = 3,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[list[LabelledAnswer], dict[str, int]]:
    """Ask the model, split and label its answers.

    Args:
        data: ``rag_qa`` files.
        model: answers greedily; its log-probabilities are kept.
        store: file of the answers made before.
        prompts: at most so many, in an order of ``seed``.
        k: passages of a prompt.
        seed: of the prompts.
        progress: called with (answered, prompts).

    Returns:
        The answers with a labelled claim; counts of questions, labels and what was dropped.

    Raises:
        ValueError: where the questions fill no prompt.
    """
    asked = build_prompts(read_questions(data), seed=seed, k=k)[:prompts]
    if not asked:
        raise ValueError("too few questions for a prompt of four: give more data")
    show = progress or (lambda done, total: None)
    found = long_form_answers(
        model,
        asked,
        store=GenerationStore(store),
        splitter=RuleSplitter(),
        progress=lambda done: show(done, len(asked)),
    )
    answers = [labelled(answer) for answer in found]
    return [answer for answer in answers if answer.claims], summary(found)


def labelled(answer: LongAnswer) -> LabelledAnswer:
    """A long answer as the benchmark takes it, log-probabilities and exact prompts included.

    A data set is named after those of its questions: prompts ask about one article (SQuAD) or mix
    several sources.
    """
    asked = answer.asked
    return LabelledAnswer(
        id=asked.id,
        dataset="+".join(sorted({question.dataset for question in asked.questions})),
        target="factuality",
        trace=Trace(
            question="\n".join(question.question for question in asked.questions),
            passages=asked.passages,
            generation=replace(answer.generation, prompt=answer.prompt),
            id=asked.id,
            metadata={"contrast_prompt": answer.contrast},
        ),
        claims=tuple(
            LabelledClaim(found.claim, found.is_true, found.is_faithful)
            for found in answer.labelled.claims
        ),
    )
