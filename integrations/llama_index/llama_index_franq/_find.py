"""Find the language models that an engine or agent calls, wherever in it they sit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.prompts.mixin import PromptMixin
from llama_index.core.tools import BaseTool
from llama_index.core.workflow import Workflow

_PARTS = (BaseLLM, PromptMixin, BaseChatEngine, BaseTool, Workflow)


def language_models(engine: Any) -> list[Any]:
    """The distinct language models that ``engine`` holds and may answer with.

    Follows engines in engines, synthesizers, agents and tools; wrapped models are opened.
    Retrievers write no answers, and indices are never walked.
    """
    found = {id(part): part for part in _parts(engine, set()) if isinstance(part, BaseLLM)}
    return [llm for llm in found.values() if not isinstance(getattr(llm, "llm", None), BaseLLM)]


def local_model(llm: Any) -> tuple[Any, Any] | None:
    """The live (model, tokenizer) of a HuggingFaceLLM; of a LlamaCPP (Llama, None).

    They are told by name: they need not be installed.
    """
    names = {kind.__name__ for kind in type(llm).__mro__}
    model, tokenizer = getattr(llm, "_model", None), getattr(llm, "_tokenizer", None)
    if "LlamaCPP" in names and model is not None:
        return model, None
    if "HuggingFaceLLM" not in names or model is None or tokenizer is None:
        return None
    return model, tokenizer


def _parts(part: Any, seen: set[int]) -> Iterator[Any]:
    if id(part) in seen or isinstance(part, BaseRetriever):
        return
    seen.add(id(part))
    if isinstance(part, Mapping):
        children = list(part.values())
    elif isinstance(part, (list, tuple)):
        children = list(part)
    elif isinstance(part, _PARTS) and not isinstance(part, type):
        yield part
        private = getattr(part, "__pydantic_private__", None) or {}
        children = [*vars(part).values(), *private.values()]
    else:
        return
    for child in children:
        yield from _parts(child, seen)
