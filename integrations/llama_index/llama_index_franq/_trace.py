"""From what was captured to the traces that the guard checks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from llama_index.core.schema import NodeWithScore

from franq_guard import Claim, Trace
from franq_guard.capture.job import Job
from franq_guard.capture.writing import Prompts, Writers, Written, unseen, written
from llama_index_franq._capture import Capture, ModelRun
from llama_index_franq._evidence import evidence_of
from llama_index_franq._models import Models
from llama_index_franq._prompts import contrast_prompt, prompt_for

if TYPE_CHECKING:
    from franq_guard import Guard

# How the accumulating synthesizers put the answers to each node together.
_RESPONSE = re.compile(r"(?:\A|\n-{5,}\n)Response \d+: ")
_EMPTY = "Empty Response"  # what synthesizers say when there is nothing to ask about


def job_of(
    guard: Guard,
    models: Models,
    capture: Capture,
    *,
    question: str,
    answer: str,
    nodes: Sequence[NodeWithScore],
    claims: Sequence[Claim] | None = None,
) -> Job:
    """All that was captured about ``answer`` as traces for the right guard.

    ``claims`` are given where the answer is no prose. An accumulated answer becomes a trace for
    each of its responses: each had a prompt of its own.
    """
    if answer.strip() == _EMPTY and not capture.runs and not nodes:
        claims = [Claim(answer, ((0, len(answer)),), not_a_claim="nothing was asked of the model")]
    glue, bodies = _responses(answer, capture)
    passages = tuple(evidence_of(nodes, capture, capture.answer_run(answer)))
    traces: list[Trace] = []
    for body in bodies:
        run = capture.answer_run(body)
        found = _written(guard, models, run, body)
        contrast = None
        if run is not None:
            prompt = found.generation.prompt or prompt_for(found.guard, run)
            contrast = contrast_prompt(found.guard, capture, run, prompt, passages)
        traces.append(found.trace(question, passages, claims=claims, contrast_prompt=contrast))
    return Job(found.guard, tuple(traces), glue)


def _responses(answer: str, capture: Capture) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The framework's text before each response, and the responses; one of no glue otherwise."""
    heads = list(_RESPONSE.finditer(answer))
    if not heads or heads[0].start() != 0:
        return ("",), (answer,)
    ends = [head.start() for head in heads[1:]] + [len(answer)]
    bodies = [answer[head.end() : end] for head, end in zip(heads, ends, strict=True)]
    wrote = {run.text.strip() for run in capture.runs} | {_EMPTY}
    if any(body.strip() not in wrote for body in bodies):
        return ("",), (answer,)
    return tuple(head.group() for head in heads), tuple(bodies)


def _written(guard: Guard, models: Models, run: ModelRun | None, answer: str) -> Written:
    """Who wrote ``answer``; nothing was observed of a cached one, or past LlamaIndex."""
    if run is None:
        return unseen(Writers(guard, only=models.only), answer)
    # HuggingFaceLLM may have put its own wrapper around the prompt.
    prompts = Prompts(lambda _: run.prompt, lambda guard: prompt_for(guard, run), wrapped=True)
    return written(Writers(guard, models.local, models.only), run, prompts, run.server, answer)
