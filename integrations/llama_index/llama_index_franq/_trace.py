"""Makes the traces that the guard checks from what was captured."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from franq_guard import Claim, Passage, Trace
from franq_guard.capture.job import Job
from franq_guard.capture.writing import Prompts, Writers, Written, unseen, written
from llama_index_franq._capture import Capture, ModelRun
from llama_index_franq._evidence import EMPTY
from llama_index_franq._models import Models
from llama_index_franq._prompts import contrast_prompt, prompt_for

if TYPE_CHECKING:
    from franq_guard import Guard

# How the accumulating synthesizers join the answers to each node.
_RESPONSE = re.compile(r"(?:\A|\n-{5,}\n)Response \d+: ")


def job_of(
    guard: Guard,
    models: Models,
    capture: Capture,
    *,
    question: str,
    answer: str,
    evidence: Callable[[ModelRun | None], Sequence[Passage]],
    claims: Sequence[Claim] | None = None,
) -> Job:
    """What was captured about ``answer``, as traces with the guard for its model.

    An accumulated answer becomes one trace for each response, because each had its own prompt.

    Args:
        guard: for answers that no local model wrote.
        models: the local ones.
        capture: of the call.
        question: that was asked.
        answer: the model's text.
        evidence: gives the passages of the run that wrote the answer.
        claims: if the answer is not prose.
    """
    glue, bodies = _responses(answer, capture)
    passages = tuple(evidence(capture.answer_run(answer, about=question)))
    traces: list[Trace] = []
    for body, run in zip(bodies, _runs_of(bodies, capture, passages, question), strict=True):
        found = _written(guard, models, run, body)
        contrast = None
        if run is not None:
            prompt = found.generation.prompt or prompt_for(found.guard, run)
            contrast = contrast_prompt(found.guard, capture, run, prompt, passages)
        stated = claims if _says_something(body, capture) else _no_claim(body, capture)
        traces.append(found.trace(question, passages, claims=stated, contrast_prompt=contrast))
    return Job(found.guard, tuple(traces), glue)


def _responses(answer: str, capture: Capture) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The framework's text before each response, and the responses; else the whole answer."""
    if not _RESPONSE.match(answer):  # not searched: this is asked for each part of a stream
        return ("",), (answer,)
    heads = list(_RESPONSE.finditer(answer))
    ends = [head.start() for head in heads[1:]] + [len(answer)]
    bodies = [answer[head.end() : end] for head, end in zip(heads, ends, strict=True)]
    wrote = {run.text.strip() for run in capture.runs} | {EMPTY}
    if any(body.strip() not in wrote for body in bodies):
        return ("",), (answer,)
    return tuple(head.group() for head in heads), tuple(bodies)


def _runs_of(
    bodies: Sequence[str], capture: Capture, passages: Sequence[Passage], question: str
) -> list[ModelRun | None]:
    """The run that wrote each body; for equal bodies, in the order of their passages.

    The calls of one accumulated answer may end in any order.
    """
    if len(bodies) == 1:
        return [capture.answer_run(bodies[0], about=question)]
    left = sorted(capture.runs, key=lambda run: _first_shown(run, passages))
    runs: list[ModelRun | None] = []
    for body in bodies:
        place = next((i for i, run in enumerate(left) if run.text.strip() == body.strip()), None)
        runs.append(None if place is None else left.pop(place))
    return runs


def _first_shown(run: ModelRun, passages: Sequence[Passage]) -> int:
    """The index of the first passage in the run's prompt."""
    shown = (i for i, p in enumerate(passages) if p.text.strip() and p.text.strip() in run.seen)
    return next(shown, len(passages))


def _says_something(body: str, capture: Capture) -> bool:
    """Whether a model wrote the body, and not the framework instead of it."""
    if body.strip() == EMPTY:
        return any(run.text.strip() == EMPTY for run in capture.runs)
    return bool(body.strip())


def _no_claim(body: str, capture: Capture) -> list[Claim]:
    why = "the model said nothing" if capture.runs else "nothing was asked of the model"
    return [Claim(body, ((0, len(body)),), not_a_claim=why)] if body.strip() else []


def _written(guard: Guard, models: Models, run: ModelRun | None, answer: str) -> Written:
    """The record of ``answer``; calls from a cache or outside LlamaIndex are not observed."""
    if run is None:
        return unseen(Writers(guard, only=models.only), answer)
    # HuggingFaceLLM may have added its own text around the prompt.
    prompts = Prompts(lambda _: run.prompt, lambda guard: prompt_for(guard, run), wrapped=True)
    sent = run.growing if run.growing.sent else run.server
    return written(Writers(guard, models.local, models.only), run, prompts, sent, answer)
