"""Finds the local models (transformers, llama.cpp) anywhere in a chain."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseLanguageModel
from langchain_core.runnables import Runnable
from langchain_core.runnables.utils import get_function_nonlocals

from franq_guard.capture.local import LocalModel, live_models
from franq_guard.capture.walking import is_named, parts_in

if TYPE_CHECKING:
    from franq_guard import Guard


def models_of(chain: Any, guard: Guard) -> list[LocalModel]:
    """The local models in ``chain``, each with its recorder attached; see :func:`live_models`."""
    return live_models(local_models(chain), guard)


def local_models(chain: Any) -> list[tuple[Any, Any]]:
    """The distinct (model, tokenizer) pairs of the HuggingFacePipelines in ``chain``.

    The ``llama_cpp.Llama`` of a ChatLlamaCpp or LlamaCpp is returned as (Llama, None).

    Follows sequences, parallels, bindings, branches, fallbacks, alternatives, retrievers, graph
    nodes, tools, and the closures and objects of functions and methods in them. A model that is
    created inside a function is not found.
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
    """The attributes of all parts, and the variables that their functions use from outside."""
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
    """What a part of a chain contains; None for an object that is not a part."""
    in_graph = type(part).__module__.startswith("langgraph.")
    if isinstance(part, type) or not (in_graph or isinstance(part, (Runnable, BaseLanguageModel))):
        return None
    held = [*getattr(part, "__dict__", {}).values()]
    return held + [used for child in held for used in _used_by(child)]


def _used_by(function: Any, depth: int = 2) -> list[Any]:
    """What a function uses from outside itself, and the attributes of a method's object.

    Functions that it uses are examined as well, up to ``depth`` levels.
    """
    if isinstance(function, MethodType):
        return [*getattr(function.__self__, "__dict__", {}).values()]
    if not isinstance(function, FunctionType) or not depth:
        return []
    named = get_function_nonlocals(function)  # llm.invoke in the body is a bound method here
    held = [*named, *(getattr(used, "__self__", None) for used in named)]
    return held + [inner for used in named for inner in _used_by(used, depth - 1)]


def _pipeline(part: Any) -> tuple[Any, Any] | None:
    """The model of a HuggingFacePipeline, recognised by name: it may not be installed."""
    if not is_named(part, "HuggingFacePipeline"):
        return None
    pipeline = getattr(part, "pipeline", None)
    both = getattr(pipeline, "model", None), getattr(pipeline, "tokenizer", None)
    return both if None not in both else None


def _llama(part: Any) -> tuple[Any, None] | None:
    """The model of a ChatLlamaCpp or LlamaCpp, also recognised by name."""
    if not is_named(part, "ChatLlamaCpp", "LlamaCpp"):
        return None
    llama = getattr(part, "client", None)
    return None if llama is None else (llama, None)
