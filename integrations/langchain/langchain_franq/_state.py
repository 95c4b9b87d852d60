"""A LangGraph state or update as a mapping, whatever its class, and an update with other values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from franq_guard.capture.outlet import REPORT_KEY
from langchain_franq._texts import Change, as_messages, mapped

if TYPE_CHECKING:
    from langgraph.types import Command

Values = dict[str, Any]

_SENT = "__sent__"  # what a command sends to nodes, among the values of its update


def values_of(state: Any) -> Values:
    """The values of a state: a dict, a dataclass, a pydantic model, or (key, value) pairs."""
    if isinstance(state, Mapping):
        found = dict(state)
    elif isinstance(state, BaseModel):
        found = {name: getattr(state, name) for name in type(state).model_fields}
    elif is_dataclass(state) and not isinstance(state, type):
        found = {field.name: getattr(state, field.name) for field in fields(state)}
    elif isinstance(state, (list, tuple)) and all(map(_is_pair, state)):
        found = dict(state)
    else:
        return {}
    return {key: _messages(value) if key == "messages" else value for key, value in found.items()}


def command_in(written: Any) -> Command[Any] | None:
    """``written`` if it is a LangGraph ``Command``, recognised by name: it may not be installed."""
    return written if type(written).__name__ == "Command" and hasattr(written, "goto") else None


def handed_over(error: Exception) -> Command[Any]:
    """The command by which a graph hands over to a node of the graph around it.

    LangGraph raises it out of the graph, as an exception, with an update of the outer state.

    Raises:
        Exception: ``error`` itself, if it is any other.
    """
    command = command_in(error.args[0]) if type(error).__name__ == "ParentCommand" else None
    if command is None:
        raise error
    return command


def with_values(written: Any, values: Values) -> Any:
    """The update, of the same kind, with some values replaced; keys it cannot have are ignored."""
    if (command := command_in(written)) is not None:
        values = {**values}
        goto = _with_sent(command.goto, values.pop(_SENT, ()))
        return replace(command, update=with_values(command.update, values), goto=goto)
    if isinstance(written, BaseModel):
        known = {key: v for key, v in values.items() if key in type(written).model_fields}
        return written.model_copy(update=known)
    if is_dataclass(written) and not isinstance(written, type):
        names = {field.name for field in fields(written)}
        return replace(written, **{key: v for key, v in values.items() if key in names})
    if isinstance(written, (list, tuple)):
        if all(map(_is_pair, written)):
            return list({**dict(written), **values}.items())
        values = {**values, _SENT: iter(values.get(_SENT, ()))}  # each takes its own from it
        return [with_values(one, _of(one, values, first=i == 0)) for i, one in enumerate(written)]
    return {**(written or {}), **values}


def update_in(written: Any) -> Values:
    """The values that a writer returned, also within a ``Command``, or several in a list.

    Also what the command sends to other nodes, which is not in its update: an agent that hands over
    may send all messages.
    """
    if (command := command_in(written)) is not None:
        sent = [one.arg for one in _sends_in(command.goto)]
        return {**update_in(command.update), **({_SENT: sent} if sent else {})}
    if isinstance(written, (list, tuple)) and not all(map(_is_pair, written)):
        updates = [update_in(one) for one in written]
        sent = [arg for update in updates for arg in update.pop(_SENT, ())]
        merged = {key: value for update in updates for key, value in update.items()}
        return {**merged, **({_SENT: sent} if sent else {})}
    return values_of(written)


def with_updates(returned: Any, change: Change) -> Any:
    """What a tool call returned, with the texts in its commands changed; else as it is."""
    if isinstance(returned, (list, tuple)):
        changed_items = [with_updates(one, change) for one in returned]
        same = all(new is old for new, old in zip(changed_items, returned, strict=True))
        return returned if same else changed_items
    if command_in(returned) is None:
        return returned
    update = update_in(returned)
    new = mapped(update, change)
    changed = {key: value for key, value in new.items() if value is not update[key]}
    return with_values(returned, changed) if changed else returned


def _sends_in(goto: Any) -> list[Any]:
    """The ``Send`` among the nodes to go to."""
    nodes = goto if isinstance(goto, (list, tuple)) else [goto]
    return [one for one in nodes if type(one).__name__ == "Send" and hasattr(one, "arg")]


def _with_sent(goto: Any, sent: Iterable[Any]) -> Any:
    """The nodes to go to, sent other values, which are taken from ``sent`` in order."""
    new = dict(zip(map(id, _sends_in(goto)), sent, strict=False))
    nodes = goto if isinstance(goto, (list, tuple)) else [goto]
    changed = [_resent(one, new[id(one)]) if id(one) in new else one for one in nodes]
    return changed if isinstance(goto, (list, tuple)) else changed[0]


def _resent(send: Any, arg: Any) -> Any:
    other = copy(send)
    other.arg = arg
    return other


def _of(one: Any, values: Values, *, first: bool) -> Values:
    """Those of the values that belong to one of several updates; new ones go to the first."""
    held = update_in(one)
    return {key: v for key, v in values.items() if key in held or (first and key == REPORT_KEY)}


def _is_pair(item: Any) -> bool:
    return isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)


def _messages(value: Any) -> Any:
    """A list of messages, also from a single one, tuples and dicts."""
    is_one = _is_pair(value) and isinstance(value[1], str)  # a role and a text
    if isinstance(value, (list, tuple)) and not is_one:
        return as_messages(value)
    return as_messages([value]) if value else value
