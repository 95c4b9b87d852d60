"""Find the local models that a chain runs (transformers, llama.cpp), wherever in it they sit."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType, MethodType
from typing import Any

from langchain_core.language_models import BaseLanguageModel
from langchain_core.runnables import Runnable
from langchain_core.runnables.utils import get_function_nonlocals

from franq_guard.capture.walking import is_named, parts_in


def local_models(chain: Any) -> list[tuple[Any, Any]]:
    """The distinct live (model, tokenizer) pairs of the HuggingFacePipelines that ``chain`` holds.

    The ``llama_cpp.Llama`` of a ChatLlamaCpp or LlamaCpp comes as (Llama, None).

    Follows sequences, parallels, bindings, branches, fallbacks, alternatives, retrievers, graph
    nodes, tools, and what the functions in them close over or are methods of. A model that only a
    function's body makes is not seen.
    """
    pairs: dict[int, tuple[Any, Any]] = {}
    for part in parts_of(chain):
        pair = _pipeline(part) or _llama(part)
        if pair is not None:
            pairs.setdefault(id(pair[0]), pair)
    return list(pairs.values())


def parts_of(chain: Any) -> Iterator[Any]:
    """All parts of a chain, as :func:`local_models` follows them."""
    return parts_in(chain, _inside)


def values_used_in(chain: Any) -> Iterator[Any]:
    """What the attributes of the parts are, and what the functions among them close over."""
    for part in parts_of(chain):
        held = [*getattr(part, "__dict__", {}).values()]
        yield from held
        yield from (used for child in held for used in _used_by(child))


def is_compiled_graph(chain: Any) -> bool:
    """Whether ``chain`` ends in a compiled LangGraph graph, whose stream holds graph updates."""
    while True:
        if any(kind.__module__.startswith("langgraph.pregel") for kind in type(chain).__mro__):
            return True
        held = (getattr(chain, name, None) for name in ("bound", "last", "runnable"))
        inner = next((part for part in held if part is not None), None)
        if not isinstance(inner, Runnable):
            return False
        chain = inner


def _inside(part: Any) -> list[Any] | None:
    """What a part of a chain holds; None for what is no part."""
    in_graph = type(part).__module__.startswith("langgraph.")
    if isinstance(part, type) or not (in_graph or isinstance(part, (Runnable, BaseLanguageModel))):
        return None
    held = [*getattr(part, "__dict__", {}).values()]
    return held + [used for child in held for used in _used_by(child)]


def _used_by(function: Any, depth: int = 2) -> list[Any]:
    """What a plain function refers to outside itself, and the attributes of a method's object.

    Functions that it refers to are looked into as well, ``depth`` levels of them.
    """
    if isinstance(function, MethodType):
        return [*getattr(function.__self__, "__dict__", {}).values()]
    if not isinstance(function, FunctionType) or not depth:
        return []
    named = get_function_nonlocals(function)  # llm.invoke in the body gives the bound method
    held = [*named, *(getattr(used, "__self__", None) for used in named)]
    return held + [inner for used in named for inner in _used_by(used, depth - 1)]


def _pipeline(part: Any) -> tuple[Any, Any] | None:
    """What a HuggingFacePipeline runs; it is told by its name: it need not be installed."""
    if not is_named(part, "HuggingFacePipeline"):
        return None
    pipeline = getattr(part, "pipeline", None)
    both = getattr(pipeline, "model", None), getattr(pipeline, "tokenizer", None)
    return both if None not in both else None


def _llama(part: Any) -> tuple[Any, None] | None:
    """What a ChatLlamaCpp or LlamaCpp runs, likewise."""
    if not is_named(part, "ChatLlamaCpp", "LlamaCpp"):
        return None
    llama = getattr(part, "client", None)
    return None if llama is None else (llama, None)
