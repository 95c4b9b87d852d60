"""From what was captured to the traces that the guard checks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from llama_index.core.schema import NodeWithScore

from franq_guard import Claim, Generation, GuardedAnswer, Passage, Trace
from franq_guard.capture.local import LocalModel
from franq_guard.capture.matching import clipped
from franq_guard.records import Source
from llama_index_franq._capture import Capture, ModelRun
from llama_index_franq._evidence import evidence_of
from llama_index_franq._models import Models
from llama_index_franq._parts import joined
from llama_index_franq._prompts import contrast_prompt, prompt_for
from llama_index_franq._server import tokens_of

if TYPE_CHECKING:
    from franq_guard import Guard

# How the accumulating synthesizers put the answers to each node together.
_RESPONSE = re.compile(r"(?:\A|\n-{5,}\n)Response \d+: ")
_EMPTY = "Empty Response"  # what synthesizers say when there is nothing to ask about


@dataclass(frozen=True)
class Job:
    """The traces of one response and the guard to check them with.

    ``glue`` holds the framework's own text before each trace's answer; nearly always there is one
    trace and no glue. ``failure`` says why the trace could not be gathered.
    """

    guard: Guard
    traces: tuple[Trace, ...]
    glue: tuple[str, ...] = ("",)
    failure: str = ""

    def check(self) -> GuardedAnswer:
        """The guard's answer; every claim unverified where capturing failed."""
        if self.failure:
            return self.guard.unverified(self.traces[0], "error", detail=self.failure)
        if self.glue == ("",):
            return self.guard.check_trace(self.traces[0])
        return joined(self.glue, list(self.guard.check_many(self.traces)))


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
        chosen, generation, contrast = _generation(guard, models, capture, run, body, passages)
        traces.append(
            Trace(
                question,
                passages,
                generation,
                claims=None if claims is None else tuple(claims),
                contrast_prompt=contrast,
                prompt_seen=generation.prompt is not None,
            )
        )
    return Job(chosen, tuple(traces), glue)


def _responses(answer: str, capture: Capture) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The framework's text before each response, and the responses; one of no glue otherwise."""
    heads = list(_RESPONSE.finditer(answer))
    if not heads or heads[0].start() != 0:
        return ("",), (answer,)
    ends = [head.start() for head in heads[1:]] + [len(answer)]
    bodies = [answer[head.end() : end] for head, end in zip(heads, ends, strict=True)]
    written = {run.text.strip() for run in capture.runs} | {_EMPTY}
    if any(body.strip() not in written for body in bodies):
        return ("",), (answer,)
    return tuple(head.group() for head in heads), tuple(bodies)


def _generation(
    guard: Guard,
    models: Models,
    capture: Capture,
    run: ModelRun | None,
    answer: str,
    passages: Sequence[Passage],
) -> tuple[Guard, Generation, str | None]:
    """The guard to ask, the answer as it was generated, its prompt without evidence if known."""
    if models.only is not None:
        guard = models.only.guard
    if run is None:  # nothing was observed: a cached answer, or a model called past LlamaIndex
        return guard, Generation(answer), None
    found = None
    for model in models.local:
        text = _said(run, answer)
        found = _found(model, text, run.prompt) if run.prompt is not None else None
        if found is not None:
            guard = model.guard
            break
    prompt = (found and found.prompt) or prompt_for(guard, run)
    contrast = contrast_prompt(guard, capture, run, prompt, passages)
    if found is not None:
        return guard, clipped(found, answer), contrast
    tokens = tokens_of(answer, run.server)
    source: Source = "server" if tokens else "none"
    return guard, Generation(answer, tokens, prompt=prompt, source=source), contrast


def _said(run: ModelRun, answer: str) -> str:
    """What the run wrote; while it writes, up to the end of ``answer``.

    The tokens of what follows may not be known yet.
    """
    at = -1 if run.ended else run.text.find(answer)
    return run.text if at < 0 else run.text[: at + len(answer)]


def _found(model: LocalModel, text: str, prompt: str) -> Generation | None:
    """What ``model`` wrote under ``prompt``; HuggingFaceLLM may have put its own wrapper around."""
    found = model.generation(text, prompt)
    return model.recalled(text, [prompt.strip()]) if found is None else found
