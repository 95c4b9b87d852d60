"""The texts of models in what a workflow returned that is itself no text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.schema import BaseNode, NodeWithScore
from llama_index.core.workflow import Event

from franq_guard.capture.marked import FEWEST_WORDS
from llama_index_franq._capture import ModelRun

_NO_TEXT = (bool, int, float, bytes, type(None), BaseNode, NodeWithScore)


@dataclass(frozen=True)
class Written:
    """What a result has of a model's texts.

    Attributes:
        texts: those that a model of the run wrote, each once.
        unread: whether there are none, although the result may have some in another form.
    """

    texts: Sequence[str]
    unread: bool


def text_of(value: Any) -> str | None:
    """The text of a string, a message or a model's response; None for any other value."""
    if isinstance(value, ChatResponse):
        value = value.message
    if isinstance(value, ChatMessage):
        return value.content or ""
    if isinstance(value, CompletionResponse):
        return value.text
    return value if isinstance(value, str) else None


def written_in(result: Any, runs: Sequence[ModelRun], known: Collection[str]) -> Written:
    """The texts in ``result`` that one of ``runs`` wrote.

    Args:
        result: of a workflow: a mapping, a tuple, an event of its own.
        runs: the calls of models in it.
        known: texts that are reported or checked already.
    """
    if isinstance(result, (Iterator, AsyncIterator)):
        return Written((), unread=True)  # a model's stream, which nobody here reads
    texts = [text for text in dict.fromkeys(_texts(result, set())) if text.strip()]
    new = [text for text in texts if text.strip() not in known]
    wrote = [text for text in new if any(_is_of(text, run) for run in runs)]
    strange = [text for text in new if len(text.split()) >= FEWEST_WORDS and not _seen(text, runs)]
    return Written(wrote, unread=bool(runs and not wrote and (strange or _is_opaque(result))))


def _is_of(text: str, run: ModelRun) -> bool:
    """Whether ``text`` is what a model wrote, or a part of it."""
    long = len(text.split()) >= FEWEST_WORDS
    return text.strip() == run.text.strip() or (long and run.wrote(text))


def _seen(text: str, runs: Iterable[ModelRun]) -> bool:
    """Whether a model was given ``text``: a question, or a document."""
    return any(run.was_given(text) for run in runs)


def _texts(value: Any, seen: set[int]) -> Iterator[str]:
    text = text_of(value)
    if text is not None:
        yield text
    elif id(value) not in seen:  # else it contains itself
        seen.add(id(value))
        for inner in _parts(value) or ():
            yield from _texts(inner, seen)


def _is_opaque(value: Any) -> bool:
    return not isinstance(value, _NO_TEXT) and _parts(value) is None


def _parts(value: Any) -> Iterable[Any] | None:
    """What a value contains but documents; None if that is not known."""
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, (list, tuple, set, frozenset)):
        return value
    if isinstance(value, _NO_TEXT):
        return ()
    if isinstance(value, BaseModel):
        named = [getattr(value, name, None) for name in type(value).model_fields]
        of_event = (
            [*value.values(), getattr(value, "result", None)] if isinstance(value, Event) else []
        )
        return [*named, *of_event]
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, one.name, None) for one in fields(value)]
    return None
