"""Finds the question in a chain's input and the answer in its output."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
)
from langchain_core.messages.base import TextAccessor
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables.utils import AddableDict
from pydantic import BaseModel

from franq_guard.capture.fields import ALL
from franq_guard.capture.outlet import REPORT_KEY
from langchain_franq._messages import Report, text_of, with_text
from langchain_franq._state import command_in, update_in
from langchain_franq._texts import (
    HISTORY_KEYS,
    Path,
    as_messages,
    given_texts,
    is_of_user,
    is_structured,
    messages_inside,
    texts_in,
)

QUESTION_KEYS = ("question", "input", "query")
ANSWER_KEYS = ("answer", "output", "result", "response", "text", "generation", "output_text")
_INTERRUPTED = "__interrupt__"  # LangGraph's key in the output of a graph that waits for somebody
STREAM_A_CHAIN = "to stream claims, guard a chain: guard_chain(chain, guard, stream='claims')"


@dataclass(frozen=True)
class Located:
    """The answer ``text`` in an output.

    ``put(text, report)`` returns the output with another text; ``after(text, report)`` returns a
    chunk of the same kind that adds ``text`` (and the report, if any) to it. ``path`` is its place
    in the output. An output of several values (a list, a pydantic object) has no single text, but
    ``fields``, which are checked separately.
    """

    text: str
    put: Callable[[str, Report | None], Any]
    after: Callable[[str, Report | None], Any]
    path: Path = ()
    fields: tuple[str, ...] = ()


NO_ANSWER = Located("", lambda text, _: text, lambda text, _: text)
"""Of an update of a state that has no answer in a known place."""


def locate(output: Any, output_key: str | None = None, fields: Collection[str] = ()) -> Located:
    """The answer in a string, number, message, or a mapping that holds one of them.

    Args:
        output: what a chain returned.
        output_key: the key of the answer in a mapping, or a dotted path.
        fields: of a structured output; see :func:`~franq_guard.capture.fields.is_named`. A string
            or message in its place, as from a fallback, is the answer itself.

    Raises:
        TypeError: for an output without any text, because nothing may be returned unchecked; if
            ``fields`` name its texts, it may have none.
        KeyError: if a mapping has no answer under ``output_key`` or one of the usual names.
    """
    if fields and (ALL in fields or not isinstance(output, (str, BaseMessage))):
        return _structured(output, fields, may_lack=output is None or is_structured(output))
    if isinstance(output, str):
        kind = TextAccessor if isinstance(output, TextAccessor) else str
        return Located(str(output), lambda text, _: kind(text), lambda text, _: text)
    if isinstance(output, BaseMessage):
        return Located(
            text_of(output),
            lambda text, report: with_text(output, text, report),
            lambda text, report: with_text(AIMessageChunk(content="", id=output.id), text, report),
        )
    if output is None or isinstance(output, (bool, int, float)):
        spelled = "" if output is None else str(output)  # a number stays a number without a mark
        return Located(
            spelled, lambda text, _: output if text == spelled else text, lambda text, _: text
        )
    if isinstance(output, Mapping):
        return _in_mapping(output, output_key)
    return _structured(output, (ALL,), may_lack=False)


def has_stopped(
    output: Any, given: Any, output_key: str | None, wrote: Callable[[str], bool]
) -> bool:
    """Whether a graph has not answered yet: it asks somebody, or the user's message is its last.

    That message is in what the graph was ``given``, but for a graph that goes on after a stop.
    ``wrote``: whether a model of the run wrote a text; some graphs put it into a human message.
    """
    answers = ANSWER_KEYS if output_key is None else (output_key, output_key.partition(".")[0])
    if not isinstance(output, Mapping) or any(k in output for k in answers if k != "messages"):
        return False
    held = output.get("messages")
    last = held[-1] if isinstance(held, list) and held else None
    if isinstance(last, HumanMessage):
        goes_on = given is None or command_in(given) is not None
        if str(last.text) in given_texts(given) or (goes_on and not wrote(str(last.text))):
            return True
    return _INTERRUPTED in output and not isinstance(last, AIMessage)


def has_place(update: Mapping[str, Any], output_key: str | None) -> bool:
    """Whether an update of a state has a key under which an answer may be."""
    keys = (*ANSWER_KEYS, "messages") if output_key is None else (output_key.partition(".")[0],)
    return any(key in update for key in keys)


def without_answer(output: Mapping[str, Any]) -> Located:
    """No answer in the output of a graph that :func:`has_stopped`; it gets the report alone."""
    put = _put_beside(output)
    return Located("", put, put)


def _structured(output: Any, fields: Collection[str], *, may_lack: bool) -> Located:
    if not may_lack and not any(text.strip() for _, text in texts_in(output)):
        raise TypeError(
            f"guard_chain cannot read an answer from {type(output).__name__}: let the chain return "
            "a string, a message, or a dict that holds one of them"
        )

    put = _put_beside(output)
    return Located("", put, put, fields=tuple(fields))


def _put_beside(output: Any) -> Callable[[str, Report | None], Any]:
    def put(_: str, report: Report | None) -> Any:
        if report is None or not isinstance(output, Mapping):
            return output
        kind = AddableDict if isinstance(output, AddableDict) else dict
        return kind({**output, REPORT_KEY: report})

    return put


def _in_mapping(output: Mapping[str, Any], output_key: str | None) -> Located:
    key, below = _key_of(output, output_key)
    value = output[key]
    kind = AddableDict if isinstance(output, AddableDict) else dict
    listed = isinstance(value, list) and bool(value) and isinstance(value[-1], BaseMessage)
    at = place_of_last(value) if listed else 0
    inner = locate(value[at] if listed else value, below)

    def whole(new: Any) -> Any:
        return [*value[:at], new, *value[at + 1 :]] if listed else new

    def on_it(report: Report | None) -> Report | None:
        return report if listed else None  # a message has its report in its own metadata

    def in_metadata(report: Report | None) -> dict[str, Any]:
        return {} if report is None else {REPORT_KEY: report}

    return Located(
        inner.text,
        lambda text, report: kind(
            {**output, key: whole(inner.put(text, on_it(report))), **in_metadata(report)}
        ),
        lambda text, report: kind({key: inner.after(text, None), **in_metadata(report)}),
        path=(key, *inner.path),
        fields=tuple(f"{key}.{name}" if name != ALL else key for name in inner.fields),
    )


def place_of_last(items: Sequence[Any]) -> int:
    """The place of the last item, but for messages that only remove others from the state."""
    last = len(items) - 1
    return next((i for i in range(last, -1, -1) if not isinstance(items[i], RemoveMessage)), last)


def _key_of(output: Mapping[str, Any], output_key: str | None) -> tuple[str, str | None]:
    """The key of the answer, and the rest of a dotted path."""
    key = output_key or next((key for key in ANSWER_KEYS if key in output), "messages")
    first, _, below = key.partition(".")
    if key not in output and below and isinstance(output.get(first), Mapping):
        return first, below
    if key not in output:
        raise KeyError(
            f"the output is a dict with keys {sorted(map(str, output))}: name the one that "
            "holds the answer, guard_chain(..., output_key=...) or guard_node(..., answer=...); "
            f"looked for {output_key or ANSWER_KEYS}"
        )
    return key, None


def question_of(value: Any, input_key: str | None = None) -> str:
    """The user's question in a chain's input; empty if none can be found."""
    if isinstance(value, str):
        return value
    if isinstance(value, BaseMessage):
        return str(value.text)
    if isinstance(value, PromptValue):
        return question_of(value.to_messages())
    if isinstance(value, Sequence):
        human = [m for m in as_messages(value) if is_of_user(m)]
        return str(human[-1].text) if human else ""
    return _in_input(value if isinstance(value, Mapping) else update_in(value), input_key)


def _in_input(value: Mapping[str, Any], input_key: str | None) -> str:
    if input_key is not None:
        return question_of(value.get(input_key))
    named = [value[key] for key in (*QUESTION_KEYS, "messages") if key in value]
    others = [messages_inside(value[key]) for key in value if key not in HISTORY_KEYS]
    for place in (*named, *others):
        if found := question_of(place):
            return found
    texts = [text for text in value.values() if isinstance(text, str)]
    return texts[0] if len(texts) == 1 else ""


def asked_in(value: Any) -> list[str]:
    """The question in a chain's input, and what a model said before: neither is evidence."""
    by_models = [text_of(m) for m in messages_inside(value) if isinstance(m, AIMessage)]
    return [question_of(value), *by_models]


def may_pass(chunk: Any, given: Any, output_key: str | None) -> bool:
    """Whether a streamed chunk can be passed on: a mapping in which nothing can be the answer.

    Documents, numbers and what is in the input (``given``) are not the answer, unless they are in
    the answer's place. Text, messages and anything unknown may be.
    """
    if not isinstance(chunk, Mapping) or not chunk:
        return False
    answers = ANSWER_KEYS if output_key is None else (output_key, output_key.partition(".")[0])
    known = given if isinstance(given, Mapping) else {}

    def free(key: str, value: Any) -> bool:
        is_given = value is given or (value is not None and known.get(key) is value)
        return is_given or (_harmless(value) and key not in answers)

    return all(free(key, value) for key, value in chunk.items())


def _harmless(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_harmless(item) for item in value)
    return value is None or isinstance(value, (bool, int, float, Document))


def joined(chunks: Sequence[Any], *, cumulative: bool = False) -> Any:
    """Streamed chunks as the one value that ``invoke`` would have returned.

    If each chunk repeats the one before and continues it (parsers of JSON and of objects), it is
    the last one.

    Args:
        chunks: at least one.
        cumulative: whether a parser is known to repeat itself; one list like ``["a"]``, ``["ab"]``
            may also come from one that gives item by item.

    Raises:
        TypeError: for chunks that are neither text nor messages, mappings or lists, or that cannot
            be added.
    """
    known = (str, BaseMessage, Mapping, list)
    kinds = {kind for kind in known if any(isinstance(chunk, kind) for chunk in chunks)}
    if _grow(chunks, cumulative) or (len(chunks) == 1 and not isinstance(chunks[0], tuple)):
        return chunks[-1]
    if len(kinds) != 1 or not all(isinstance(c, tuple(kinds)) for c in chunks):
        names = sorted({type(chunk).__name__ for chunk in chunks})
        raise TypeError(
            f"guard_chain cannot put together a stream of {', '.join(names) or 'nothing'}; stream "
            "strings, messages, dicts or lists, and guard graphs with FranqMiddleware or guard_node"
        )
    if kinds == {str}:
        return "".join(chunks)
    if kinds == {Mapping}:
        keys = dict.fromkeys(key for chunk in chunks for key in chunk)
        return AddableDict(
            {key: _value([c[key] for c in chunks if c.get(key) is not None]) for key in keys}
        )
    return reduce(add, chunks)


def _value(parts: Sequence[Any]) -> Any:
    """The parts of one key's value as a whole; a parser may be behind a key, and repeat itself."""
    if not parts:
        return None
    grows = not isinstance(parts[0], list) and _grow(parts, cumulative=True)
    return parts[-1] if grows else reduce(add, parts)


def _grow(chunks: Sequence[Any], cumulative: bool) -> bool:
    """Whether each chunk contains the one before: complete values so far, not pieces to add."""
    if cumulative and all(_is_object(chunk) for chunk in chunks):
        return True
    plain = all(type(chunk) in (dict, list) for chunk in chunks)
    if not plain or not all(_goes_on(a, b) for a, b in pairwise(chunks)):
        return False
    # A parser of lists gives one item after the other, and an item may begin as the one before it.
    items = not cumulative and all(isinstance(chunk, list) for chunk in chunks)
    return not items or any(len(b) > len(a) for a, b in pairwise(chunks))


def _is_object(value: Any) -> bool:
    return isinstance(value, BaseModel) and not isinstance(value, BaseMessage)


def _goes_on(before: Any, now: Any) -> bool:
    if isinstance(before, str):
        return isinstance(now, str) and now.startswith(before)
    if isinstance(before, dict):
        return isinstance(now, dict) and all(
            k in now and _goes_on(v, now[k]) for k, v in before.items()
        )
    if isinstance(before, list):
        longer = isinstance(now, list) and len(now) >= len(before)
        return longer and all(_goes_on(a, b) for a, b in zip(before, now, strict=False))
    return True
