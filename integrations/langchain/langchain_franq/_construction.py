"""Rejects or warns of chains that cannot be guarded safely, when they are wrapped or first run."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Collection
from typing import Any, get_origin

from langchain_core.output_parsers import (
    BaseCumulativeTransformOutputParser,
    BaseGenerationOutputParser,
    BaseOutputParser,
    JsonOutputParser,
    ListOutputParser,
    XMLOutputParser,
)
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSequence
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.fallbacks import RunnableWithFallbacks
from langchain_core.runnables.passthrough import RunnableAssign
from pydantic import BaseModel

from franq_guard.capture.evidence import NoPassagesNote
from franq_guard.capture.fields import check_fields
from franq_guard.capture.walking import is_named
from langchain_franq._find import parts_of, values_used_in

_log = logging.getLogger(__name__)
_CHECKPOINTER = "__pregel_checkpointer"  # LangGraph's key for the inherited checkpointer

BEFORE_THE_PARSER = (
    "guard before the parser, guard_chain(prompt | model, guard) | parser, or name the text fields "
    "to check, fields=('summary', 'findings.text')"
)


def warn_of_memory(name: str, chain: Any) -> None:
    """Warn if a memory inside the guard keeps raw answers, on which the next turn would build."""
    found = next((what for part in parts_of(chain) if (what := _memory_of(part))), None)
    if found is not None:
        warnings.warn(
            f"{name}: {found} inside the guard remembers the raw answers, and later turns build on "
            "them. Put the memory outside: RunnableWithMessageHistory(guard_chain(chain, guard), "
            "...); an agent with FranqMiddleware; a graph with guard_node and its checkpointer",
            UserWarning,
            stacklevel=3,
        )


class SavedStateNote:
    """Warns once if a graph inside the guard saves raw answers in the outer graph's checkpointer.

    A graph compiled without a ``checkpointer`` argument uses the one of the outer graph, which is
    not known before the first run.
    """

    def __init__(self, chain: Any) -> None:
        inside = (part for part in parts_of(chain) if is_named(part, "Pregel"))
        self._inherits = any(getattr(part, "checkpointer", None) is None for part in inside)
        self.warned = False

    def __call__(self, config: RunnableConfig) -> None:
        """Examine the configuration of a run."""
        around = (config.get("configurable") or {}).get(_CHECKPOINTER)
        if self.warned or not self._inherits or around is None:
            return
        self.warned = True
        _log.warning(
            "a graph inside the guard inherits the checkpointer of the outer graph, which saves "
            "its raw answers under the subgraph's name: compile it with checkpointer=False, unless "
            "it has to interrupt. The outer graph's own state has checked answers. This warning is "
            "given once"
        )


class NoFieldsNote:
    """Warns once if none of the fields that a wrapper names has a text: a name may be mistyped."""

    def __init__(self) -> None:
        self.warned = False

    def __call__(self, fields: Collection[str]) -> None:
        """Say that nothing of a structured output was checked."""
        if not self.warned:
            self.warned = True
            _log.warning(
                "no field of a structured output that fields=%r names has a text, so nothing of "
                "it was checked: if it has texts under other names, name these. This warning is "
                "logged once",
                tuple(fields),
            )


class Notes:
    """The warnings of one wrapper, each of which is logged once."""

    def __init__(self, chain: Any) -> None:
        self.no_passages = NoPassagesNote()
        self.no_fields = NoFieldsNote()
        self.saved_state = SavedStateNote(chain)


def refuse_structured(
    chain: Runnable[Any, Any], output_key: str | None, fields: Collection[str], stream: str
) -> None:
    """Reject a structured output whose text fields are not named.

    Raises:
        ValueError: the message says what to do.
    """
    check_fields(fields, stream)
    if any(is_named(v, "ToolStrategy", "ProviderStrategy") for v in values_used_in(chain)):
        raise ValueError(
            "the agent inside has a response_format, and writes its structured answer in several "
            "places: guard it with middleware=[FranqMiddleware(guard, fields=('summary',))]"
        )
    last = _last_step(chain)
    if isinstance(last, RunnableAssign) and "parsing_error" in last.mapper.steps__:
        raise ValueError(f"include_raw=True returns the raw answer: {BEFORE_THE_PARSER}")
    if not fields and _makes_objects(last, output_key):
        raise ValueError(f"the chain ends in {type(last).__name__}: {BEFORE_THE_PARSER}")
    if isinstance(last, JsonOutputParser) and stream == "claims":
        raise ValueError(f"stream='claims' needs text chunks: {BEFORE_THE_PARSER}")


def is_cumulative(chain: Any) -> bool:
    """Whether a chain ends in a parser that streams all it has parsed so far, again and again."""
    return isinstance(_last_step(chain), BaseCumulativeTransformOutputParser)


def _last_step(chain: Any) -> Any:
    while True:
        if isinstance(chain, RunnableSequence):
            chain = chain.last
        elif isinstance(chain, RunnableBindingBase):
            chain = chain.bound
        elif isinstance(chain, RunnableWithFallbacks):
            chain = chain.runnable
        else:
            return chain


def _makes_objects(parser: Any, output_key: str | None) -> bool:
    """Whether a parser's output is not text and has no text under the named key."""
    if not isinstance(parser, (BaseOutputParser, BaseGenerationOutputParser)):
        return False
    try:
        made = parser.OutputType
    except TypeError:  # from a parser without an output type
        made = Any
    if isinstance(parser, ListOutputParser) or get_origin(made) is list:
        return True
    if is_named(parser, "JsonOutputToolsParser", "OutputFunctionsParser"):
        return True
    if isinstance(made, type) and issubclass(made, BaseModel):
        return True
    return isinstance(parser, (JsonOutputParser, XMLOutputParser)) and output_key is None


def _memory_of(part: Any) -> str | None:
    if is_named(part, "RunnableWithMessageHistory"):
        return "a RunnableWithMessageHistory"
    if is_named(part, "Chain") and getattr(part, "memory", None) is not None:
        return f"the memory of {type(part).__name__}"
    kept = getattr(part, "checkpointer", None)
    if is_named(part, "Pregel") and kept not in (None, False):
        return "the checkpointer of a graph"
    return None
