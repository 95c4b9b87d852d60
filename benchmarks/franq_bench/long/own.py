"""The long-form set of the measured model's own answers, labelled without a judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from franq_bench.data.labelled_answers import LabelledAnswer, LabelledClaim
from franq_bench.progress import Show
from franq_guard.claims import ClaimSplitter, RuleSplitter
from franq_guard.datasets.generations import GenerationStore
from franq_guard.datasets.jsonl import write_rows
from franq_guard.datasets.long_form.answers import LongAnswer, long_form_answers
from franq_guard.datasets.long_form.prompts import build_prompts
from franq_guard.datasets.questions import read_questions
from franq_guard.language_model.base import LanguageModel
from franq_guard.records import Trace

__all__ = ["labelled", "own_answers", "write_traces"]


def own_answers(
    data: Sequence[Path],
    model: LanguageModel,
    store: Path,
    *,
    prompts: int,
    per_prompt: int = 4,
    with_passages: int = 2,
    k: int = 3,
    seed: int = 0,
    splitter: ClaimSplitter | None = None,
    progress: Show | None = None,
) -> list[LongAnswer]:
    """Ask the model, split and label its answers.

    Args:
        data: ``rag_qa`` files.
        model: answers greedily; its log-probabilities are kept.
        store: file of the answers made before.
        prompts: at most so many, in an order of ``seed``.
        per_prompt: questions of a prompt.
        with_passages: for so many of them passages are shown.
        k: passages of a prompt.
        seed: of the prompts.
        splitter: splits the answers; None: the rules.
        progress: called with (answered, prompts).

    Raises:
        ValueError: where the questions fill no prompt, or for counts that do not fit each other.
    """
    asked = build_prompts(
        read_questions(data), seed=seed, per_prompt=per_prompt, with_passages=with_passages, k=k
    )[:prompts]
    if not asked:
        raise ValueError(f"too few questions for a prompt of {per_prompt}: give more data")
    show = progress or (lambda done, total: None)
    return long_form_answers(
        model,
        asked,
        store=GenerationStore(store),
        splitter=splitter or RuleSplitter(),
        progress=lambda done: show(done, len(asked)),
    )


def labelled(answer: LongAnswer) -> LabelledAnswer:
    """A long answer as the benchmark takes it, log-probabilities and exact prompts included."""
    asked = answer.asked
    return LabelledAnswer(
        id=asked.id,
        dataset=asked.dataset,
        target="factuality",
        trace=Trace(
            question="\n".join(question.question for question in asked.questions),
            passages=asked.passages,
            generation=replace(answer.generation, prompt=answer.prompt),
            id=asked.id,
            contrast_prompt=answer.contrast,
        ),
        claims=tuple(
            LabelledClaim(found.claim, found.is_true, found.is_faithful)
            for found in answer.labelled.claims
        ),
    )


def write_traces(answers: Iterable[LongAnswer], file: Path) -> None:
    """The set as ``franq.trace/1`` rows, which any model can be measured on; holds the text."""
    write_rows(file, (answer.to_row() for answer in answers))
