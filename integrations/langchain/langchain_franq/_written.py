"""Who wrote an answer, under which prompt, with which token probabilities.

In this order: captured from a local model of the chain, sent by the server, none (then the guard's
own language model reads the answer).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from langchain_core.messages import BaseMessage, SystemMessage

from franq_guard import Generation
from franq_guard.capture.local import LocalModel
from franq_guard.capture.matching import clipped, prompt_of_messages
from langchain_franq._capture import ModelRun
from langchain_franq._models import templated
from langchain_franq._server import server_generation

if TYPE_CHECKING:
    from franq_guard import Guard

_LOCAL = ("HuggingFacePipeline", "ChatHuggingFace", "LlamaCpp", "ChatLlamaCpp")


@dataclass(frozen=True)
class Written:
    """An answer as a Generation, the guard that fits its model, and an echoed prompt before it."""

    guard: Guard
    generation: Generation
    lead: str = ""


def written(guard: Guard, models: Sequence[LocalModel], run: ModelRun, answer: str) -> Written:
    """``answer``, which ``run`` wrote; the chain may have cut or changed its text since."""
    for model in models:
        prompt = run.prompt if run.messages is None else templated(model, run.messages)
        if prompt is None:
            continue
        found = model.generation(_said(run, prompt, answer), prompt)
        if found is not None:
            return _without_lead(model.guard, found, answer)
    exact = None
    if len(models) == 1 and run.model in _LOCAL:
        guard = models[0].guard
        exact = templated(models[0], run.messages) if run.messages is not None else None
    prompt = run.prompt if run.messages is None else exact or _prompt_for(guard, run.messages)
    text = (run.text or "").removeprefix(prompt or "")
    return _without_lead(guard, server_generation(text, prompt, run.info or {}), answer)


def unobserved_answer(
    guard: Guard,
    models: Sequence[LocalModel],
    answer: str,
    *,
    question: str,
    passages: Sequence[str],
) -> Written:
    """``answer`` from a call that nobody observed: a cache hit of a plain LLM fires no event."""
    for model in models:
        found = model.recalled(answer, (question, *passages))
        if found is not None:
            return _without_lead(model.guard, found, answer)
    return Written(models[0].guard if len(models) == 1 else guard, Generation(answer))


def _said(run: ModelRun, prompt: str, answer: str) -> str:
    """What the run wrote; while it writes, up to the end of ``answer``.

    The tokens of what follows may not be known yet.
    """
    text = (run.text or "").removeprefix(prompt)
    at = -1 if run.ended else text.find(answer)
    return text if at < 0 else text[: at + len(answer)]


def _without_lead(guard: Guard, generation: Generation, answer: str) -> Written:
    lead = generation.prompt or ""
    if not answer.startswith(lead):
        lead = ""
    return Written(guard, clipped(generation, answer.removeprefix(lead)), lead)


def _prompt_for(guard: Guard, messages: Sequence[BaseMessage]) -> str:
    system = [str(m.text) for m in messages if isinstance(m, SystemMessage)]
    others = [str(m.text) for m in messages if not isinstance(m, SystemMessage)]
    return prompt_of_messages(guard, system, others)
