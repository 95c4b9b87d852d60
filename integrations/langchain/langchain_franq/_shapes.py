"""Where in a chain's input the question is, and where in its output the answer is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    convert_to_messages,
)
from langchain_core.messages.base import TextAccessor
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables.utils import AddableDict

from franq_guard.capture.outlet import REPORT_KEY

QUESTION_KEYS = ("question", "input", "query")
ANSWER_KEYS = ("answer", "output", "result", "response", "text")
CONTEXT_KEYS = ("context", "source_documents", "documents")
STREAM_A_CHAIN = "to stream claims, guard a chain: guard_chain(chain, guard, stream='claims')"

Report = Mapping[str, Any]


@dataclass(frozen=True)
class Located:
    """The answer ``text`` in an output.

    ``put(text, report)`` is that output with another text; ``after(text, report)`` is a chunk of
    its kind that adds ``text`` (and the report, if any) to it.
    """

    text: str
    put: Callable[[str, Report | None], Any]
    after: Callable[[str, Report | None], Any]


def locate(output: Any, output_key: str | None = None) -> Located:
    """The answer in a string, a message, or a mapping that holds one of them.

    Raises:
        TypeError: for any other output: what cannot be read is not let through unchecked.
        KeyError: if a mapping has no answer under ``output_key`` or one of the usual names.
    """
    if isinstance(output, str):
        kind = TextAccessor if isinstance(output, TextAccessor) else str
        return Located(str(output), lambda text, _: kind(text), lambda text, _: text)
    if isinstance(output, BaseMessage):
        return Located(
            str(output.text),
            lambda text, report: with_text(output, text, report),
            lambda text, report: with_text(AIMessageChunk(content="", id=output.id), text, report),
        )
    if isinstance(output, Mapping):
        return _in_mapping(output, output_key)
    raise TypeError(
        f"guard_chain cannot read an answer from {type(output).__name__}: let the chain return a "
        "string, a message, or a dict that holds one of them"
    )


def _in_mapping(output: Mapping[str, Any], output_key: str | None) -> Located:
    key = output_key or next((key for key in ANSWER_KEYS if key in output), "messages")
    if key not in output:
        raise KeyError(
            f"the chain returned a dict with keys {sorted(map(str, output))}: name the one that "
            "holds the answer, guard_chain(..., output_key=...); "
            f"looked for {output_key or ANSWER_KEYS}"
        )
    value = output[key]
    kind = AddableDict if isinstance(output, AddableDict) else dict
    listed = isinstance(value, list) and bool(value) and isinstance(value[-1], BaseMessage)
    inner = locate(value[-1] if listed else value)

    def whole(new: Any) -> Any:
        return [*value[:-1], new] if listed else new

    return Located(
        inner.text,
        lambda text, report: kind(
            {**output, key: whole(inner.put(text, None)), REPORT_KEY: report}
        ),
        lambda text, report: kind(
            {key: inner.after(text, None)} | ({} if report is None else {REPORT_KEY: report})
        ),
    )


def with_text(message: BaseMessage, text: str, report: Report | None) -> BaseMessage:
    """``message`` with another text; its id, tool calls and other blocks stay as they are."""
    update: dict[str, Any] = {"content": _content(message.content, text)}
    if report is not None:
        update["response_metadata"] = {**message.response_metadata, REPORT_KEY: report}
    return message.model_copy(update=update)


def _content(content: str | list[str | dict[str, Any]], text: str) -> str | list[Any]:
    if isinstance(content, str):
        return text
    other = [b for b in content if isinstance(b, dict) and b.get("type") != "text"]
    return [*other, {"type": "text", "text": text}]


def question_of(value: Any, input_key: str | None = None) -> str:
    """The user's question in a chain's input; empty where none can be told."""
    if isinstance(value, str):
        return value
    if isinstance(value, BaseMessage):
        return str(value.text)
    if isinstance(value, PromptValue):
        return question_of(value.to_messages())
    if isinstance(value, Mapping):
        return _in_input(value, input_key)
    if isinstance(value, Sequence):
        human = [m for m in convert_to_messages(value) if isinstance(m, HumanMessage)]
        return str(human[-1].text) if human else ""
    return ""


def _in_input(value: Mapping[str, Any], input_key: str | None) -> str:
    if input_key is not None:
        return question_of(value.get(input_key))
    for key in (*QUESTION_KEYS, "messages"):
        if key in value:
            return question_of(value[key])
    texts = [text for text in value.values() if isinstance(text, str)]
    return texts[0] if len(texts) == 1 else ""


def documents_in(output: Any) -> list[Document]:
    """Documents that a dict output carries along under one of the usual names."""
    if not isinstance(output, Mapping):
        return []
    for key in CONTEXT_KEYS:
        value = output.get(key)
        if isinstance(value, (list, tuple)) and value:
            return [_document(item) for item in value if isinstance(item, (str, Document))]
    return []


def _document(item: str | Document) -> Document:
    return Document(page_content=item) if isinstance(item, str) else item


def may_pass(chunk: Any, given: Any) -> bool:
    """Whether a streamed chunk can leave at once: a mapping in which nothing can be the answer.

    Documents, numbers and what the caller gave (``given``) are no answers. Text, messages and
    anything unknown may be.
    """
    if not isinstance(chunk, Mapping) or not chunk:
        return False
    known = given if isinstance(given, Mapping) else {}
    return all(_harmless(v) or v is given or known.get(k) is v for k, v in chunk.items())


def _harmless(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_harmless(item) for item in value)
    return value is None or isinstance(value, (bool, int, float, Document))


def joined(chunks: Sequence[Any]) -> Any:
    """Streamed chunks as the one value that ``invoke`` would have returned.

    Raises:
        TypeError: for chunks that are neither text nor messages nor mappings, or cannot be added.
    """
    kinds = {k for k in (str, BaseMessage, Mapping) if any(isinstance(c, k) for c in chunks)}
    if len(kinds) != 1 or not all(isinstance(c, tuple(kinds)) for c in chunks):
        names = sorted({type(chunk).__name__ for chunk in chunks})
        raise TypeError(
            f"guard_chain cannot put together a stream of {', '.join(names) or 'nothing'}; stream "
            "strings, messages or dicts, and guard graphs with FranqMiddleware or guard_node"
        )
    if kinds == {str}:
        return "".join(chunks)
    if kinds == {Mapping}:
        return reduce(lambda held, chunk: held + chunk, chunks[1:], AddableDict(chunks[0]))
    return reduce(lambda held, chunk: held + chunk, chunks)
