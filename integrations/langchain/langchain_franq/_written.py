"""The prompt of a LangChain model run, in the forms that a local model may have recorded it in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage

from franq_guard.capture.local import LocalModel
from franq_guard.capture.matching import prompt_of_messages
from franq_guard.capture.writing import Prompts, Writers, Written
from franq_guard.capture.writing import written as written_by
from franq_guard.language_model.server.tokens import from_logprobs
from langchain_franq._blocks import read_by_model
from langchain_franq._model_run import ModelRun

if TYPE_CHECKING:
    from franq_guard import Guard

_LOCAL = ("HuggingFacePipeline", "ChatHuggingFace", "LlamaCpp", "ChatLlamaCpp")


def written(guard: Guard, models: Sequence[LocalModel], run: ModelRun, answer: str) -> Written:
    """The record of ``answer``, written by ``run``; the chain may have changed its text since."""
    only = models[0] if len(models) == 1 and run.model in _LOCAL else None
    streamed = run.growing if run.growing.sent else None
    sent = streamed or from_logprobs((run.info or {}).get("logprobs"))
    return written_by(Writers(guard, models, only), run, _prompts(run, only), sent, answer)


def _prompts(run: ModelRun, only: LocalModel | None) -> Prompts:
    messages = run.messages
    if messages is None:
        return Prompts(lambda _: run.prompt, lambda _: run.prompt, echoed=True)
    exact = None if only is None else _templated(only, messages)
    return Prompts(
        lambda model: _templated(model, messages),
        lambda guard: exact or _prompt_for(guard, messages),
        echoed=True,
    )


def _prompt_for(guard: Guard, messages: Sequence[BaseMessage]) -> str:
    system = [str(m.text) for m in messages if isinstance(m, SystemMessage)]
    others = [read_by_model(m) for m in messages if not isinstance(m, SystemMessage)]
    return prompt_of_messages(guard, system, others)


def _templated(model: LocalModel, messages: Sequence[BaseMessage]) -> str | None:
    """The string that the model's chat template makes of ``messages``; None without a template."""
    if not getattr(model.tokenizer, "chat_template", None):
        return None
    roles = [{"role": _role_of(m), "content": str(m.text)} for m in messages]
    text = model.tokenizer.apply_chat_template(roles, tokenize=False, add_generation_prompt=True)
    return str(text)


def _role_of(message: BaseMessage) -> str:
    """The chat template's role for the author of a message."""
    if isinstance(message, SystemMessage):
        return "system"
    return "assistant" if isinstance(message, AIMessage) else "user"
