"""Finds the language models anywhere in an engine or agent."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.memory import BaseMemory
from llama_index.core.prompts.mixin import PromptMixin
from llama_index.core.tools import BaseTool
from llama_index.core.workflow import Workflow

from franq_guard.capture.walking import is_named, parts_in

_PARTS = (BaseLLM, PromptMixin, BaseChatEngine, BaseTool, Workflow)


def language_models(engine: Any) -> list[Any]:
    """The distinct language models in ``engine`` that may write its answers.

    Follows engines in engines, synthesizers, agents and tools, and unwraps wrapped models. Does not
    follow retrievers, which write no answers, and indices.
    """
    found = {id(part): part for part in parts_in(engine, _inside) if isinstance(part, BaseLLM)}
    return [llm for llm in found.values() if not isinstance(getattr(llm, "llm", None), BaseLLM)]


def writes_objects(engine: Any) -> bool:
    """Whether ``engine`` answers with a StructuredLLM, which writes objects as JSON text."""
    parts = parts_in(engine, _inside)
    return any(isinstance(part, BaseLLM) and is_named(part, "StructuredLLM") for part in parts)


def remembers(engine: Any) -> str | None:
    """The name of a part of ``engine`` that has a conversation memory; None if there is none."""
    return next((type(p).__name__ for p in parts_in(engine, _inside) if _has_memory(p)), None)


def _has_memory(part: Any) -> bool:
    return any(isinstance(value, BaseMemory) for value in _inside(part) or ())


def local_model(llm: Any) -> tuple[Any, Any] | None:
    """The (model, tokenizer) of a HuggingFaceLLM, or (Llama, None) of a LlamaCPP.

    The classes are recognised by name, because their packages may not be installed.
    """
    model, tokenizer = getattr(llm, "_model", None), getattr(llm, "_tokenizer", None)
    if is_named(llm, "LlamaCPP") and model is not None:
        return model, None
    if not is_named(llm, "HuggingFaceLLM") or model is None or tokenizer is None:
        return None
    return model, tokenizer


def _inside(part: Any) -> list[Any] | None:
    """What a part of an engine contains; None for what is not a part or writes no answers."""
    if isinstance(part, (type, BaseRetriever)) or not isinstance(part, _PARTS):
        return None
    private = getattr(part, "__pydantic_private__", None) or {}
    return [*vars(part).values(), *private.values()]
