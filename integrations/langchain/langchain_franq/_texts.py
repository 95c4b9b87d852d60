"""Finds every text in a nested value, and replaces texts in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields as fields_of
from dataclasses import is_dataclass, replace
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, convert_to_messages
from langchain_core.runnables.utils import AddableDict
from pydantic import BaseModel

from franq_guard.capture.evidence import PASSAGE_KEYS
from franq_guard.capture.marked import FEWEST_WORDS
from franq_guard.capture.outlet import REPORT_KEY
from langchain_franq._messages import text_of, with_text

Path = tuple[str, ...]
Change = Callable[[Path, str], str]
_MANY = (list, tuple, set, frozenset)

HISTORY_KEYS = ("chat_history", "history")
"""The keys under which applications keep earlier turns."""

_SPEAKERS = ("user", "human", "assistant", "ai")


def mapped(value: Any, change: Change, path: Path = (), around: Sequence[Any] = ()) -> Any:
    """``value`` with each text changed; ``value`` itself if nothing changes.

    Texts are strings and the texts of AI messages in dicts, lists, sets, pydantic models and
    dataclasses, nested to any depth. Documents, LlamaIndex's nodes, other messages and a report are
    not changed. A path has the names of keys and fields. What is inside itself (``around`` it: a
    parent that its child knows) is left as it is there.
    """
    if isinstance(value, str):
        new = change(path, str(value))
        return value if new == value else new
    if isinstance(value, BaseMessage):
        if not isinstance(value, AIMessage):
            return value
        changed = with_text(value, change(path, text_of(value)), None)
        return value if changed == value else changed
    if isinstance(value, Document) or callable(getattr(type(value), "get_content", None)):
        return value  # also a node of LlamaIndex
    if value is None or isinstance(value, (int, float)) or any(value is one for one in around):
        return value
    around = (*around, value)
    if isinstance(value, Mapping):
        return _mapped_dict(value, change, path, around)
    if isinstance(value, _MANY):
        return _mapped_list(value, change, path, around)
    return _mapped_object(value, change, path, around)


def texts_in(value: Any) -> Iterator[tuple[Path, str]]:
    """Each text with its path; see :func:`mapped`."""
    found: list[tuple[Path, str]] = []

    def note(path: Path, text: str) -> str:
        found.append((path, text))
        return text

    mapped(value, note)
    yield from found


def argument_texts(arguments: Any) -> list[str]:
    """The texts in a tool's arguments, and its lists and dicts as a tool may print them."""
    held = arguments.values() if isinstance(arguments, Mapping) else ()
    nested = [value for value in held if isinstance(value, (list, dict))]
    printed = [form for value in nested for form in (repr(value), json.dumps(value, default=str))]
    return [text for _, text in texts_in(arguments)] + printed


def as_messages(given: Iterable[Any]) -> list[BaseMessage]:
    """Messages, also from tuples or dicts; empty if there is anything else among them."""
    try:
        return convert_to_messages(list(given))
    except (ValueError, NotImplementedError, TypeError, KeyError, AttributeError):
        return [message for message in given if isinstance(message, BaseMessage)]


def given_texts(given: Any) -> set[str]:
    """All texts of an input, those of human messages among them.

    Of a message in the form of a dict also the whole text of its blocks, as a graph's state has it.
    """
    by_users = {str(m.text) for m in messages_inside(given) if isinstance(m, HumanMessage)}
    whole = {text_of(m) for held in _lists_in(given) for m in as_messages(held)}
    return by_users | whole | {text for _, text in texts_in(given)}


def _lists_in(given: Any) -> list[Any]:
    """An input that is a list, else the lists that it has under its keys or as its messages."""
    if isinstance(given, (list, tuple)):
        return [given]
    held = given.values() if isinstance(given, Mapping) else [getattr(given, "messages", None)]
    return [value for value in held if isinstance(value, (list, tuple))]


def messages_inside(given: Any) -> list[BaseMessage]:
    """The messages that an input is, or has in it, in order."""
    if isinstance(given, BaseMessage):
        return [given]
    held = given.values() if isinstance(given, Mapping) else given
    inside = held if isinstance(given, (Mapping, list, tuple)) else ()
    return [message for one in inside for message in messages_inside(one)]


def is_of_user(message: BaseMessage) -> bool:
    """Whether a user wrote a message, and not LangChain's middleware (a summary of the turns)."""
    return isinstance(message, HumanMessage) and "lc_source" not in message.additional_kwargs


def earlier_turns_in(value: Any) -> list[str]:
    """What a user and a model said in earlier turns that a step has loaded.

    That is what is under a key of a history, and messages up to the last one of a model, also as
    dicts with a role or pairs of a role and a text.
    """
    held = _turns_in(value)
    upto = max((i for i, m in enumerate(held) if isinstance(m, AIMessage)), default=-1)
    spoken = [text_of(m) for m in held[: upto + 1] if isinstance(m, (AIMessage, HumanMessage))]
    kept = [value.get(key) for key in HISTORY_KEYS] if isinstance(value, Mapping) else []
    return spoken + [text for _, text in texts_in(kept)]


def _turns_in(value: Any) -> list[BaseMessage]:
    """:func:`messages_inside`, also those in the form of dicts or pairs, as a database has them."""
    if isinstance(value, BaseMessage) or _is_turn(value):
        return as_messages([value])
    held = value.values() if isinstance(value, Mapping) else value
    inside = held if isinstance(value, (Mapping, list, tuple)) else ()
    return [message for one in inside for message in _turns_in(one)]


def _is_turn(value: Any) -> bool:
    if isinstance(value, Mapping):
        return value.get("role") in _SPEAKERS and "content" in value
    pair = isinstance(value, tuple) and len(value) == 2
    return pair and value[0] in _SPEAKERS and isinstance(value[1], str)


def is_structured(value: Any) -> bool:
    """Whether :func:`mapped` looks for texts inside a value."""
    held = isinstance(value, (Mapping, *_MANY, BaseModel))
    return held or (is_dataclass(value) and not isinstance(value, type))


def is_prose(text: str) -> bool:
    """Whether a text has enough words to state something, unlike a route, a title or a label."""
    return len(text.split()) >= FEWEST_WORDS


def is_passage(path: Path) -> bool:
    """Whether a place usually holds passages."""
    return any(name in PASSAGE_KEYS for name in path)


def _mapped_dict(
    value: Mapping[Any, Any], change: Change, path: Path, around: Sequence[Any]
) -> Any:
    new = {
        key: inner if key == REPORT_KEY else mapped(inner, change, (*path, str(key)), around)
        for key, inner in value.items()
    }
    if all(new[key] is value[key] for key in new):
        return value
    return AddableDict(new) if isinstance(value, AddableDict) else new


def _mapped_list(value: Collection[Any], change: Change, path: Path, around: Sequence[Any]) -> Any:
    new = [mapped(inner, change, path, around) for inner in value]
    if all(a is b for a, b in zip(new, value, strict=True)):
        return value
    if hasattr(value, "_fields"):  # a named tuple
        return type(value)(*new)
    return next(kind for kind in _MANY if isinstance(value, kind))(new)


def _mapped_object(value: Any, change: Change, path: Path, around: Sequence[Any]) -> Any:
    if isinstance(value, BaseModel):
        old = {name: getattr(value, name) for name in type(value).model_fields}
    elif is_dataclass(value) and not isinstance(value, type):
        old = {field.name: getattr(value, field.name) for field in fields_of(value) if field.init}
    else:
        return value
    new = {name: mapped(inner, change, (*path, name), around) for name, inner in old.items()}
    update = {name: inner for name, inner in new.items() if inner is not old[name]}
    if not update:
        return value
    return (
        value.model_copy(update=update)
        if isinstance(value, BaseModel)
        else replace(value, **update)
    )
