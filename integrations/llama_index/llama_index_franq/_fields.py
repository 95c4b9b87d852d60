"""The text fields of structured answers, named by ``fields=`` and checked one by one."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

from llama_index.core.bridge.pydantic import BaseModel

ALL = "*"
"""In ``fields=``: every text."""

BEFORE_THE_PARSER = (
    "guard before the parser (the text that the object is made from), or name the text fields to "
    "check one by one: fields=('summary', 'findings.text'); fields=('*',) means all"
)


def check_fields(fields: Collection[str], stream: str) -> tuple[str, ...]:
    """``fields`` as given to a wrapper.

    Raises:
        ValueError: for one string in place of several, or a stream of single claims.
    """
    if isinstance(fields, str):
        raise ValueError(f"fields takes names, such as ({fields!r},), not one string")
    if fields and stream != "buffer":
        raise ValueError(f"fields of a structured answer are not streamed: not stream={stream!r}")
    return tuple(fields)


def texts_at(value: Any, fields: Collection[str]) -> dict[str, str]:
    """The texts that ``fields`` name, by their places (``findings[0].text``)."""
    found: dict[str, str] = {}

    def note(place: str, text: str) -> str:
        found[place] = text
        return text

    _mapped(value, fields, note)
    return found


def with_texts(value: Any, texts: Mapping[str, str], fields: Collection[str]) -> Any:
    """``value`` with its texts replaced; a pydantic object is not validated again."""
    return _mapped(value, fields, lambda place, text: texts.get(place, text))


def without_texts(value: Any, fields: Collection[str]) -> Any:
    """``value`` as plain values, without the texts that ``fields`` name."""
    blank = _mapped(value, fields, lambda place, text: "")
    return blank.model_dump() if isinstance(blank, BaseModel) else blank


def json_in(text: str) -> Any:
    """The object or list that ``text`` encodes as JSON; None if it does not."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, (dict, list)) else None


def _mapped(
    value: Any, fields: Collection[str], change: Callable[[str, str], str], place: str = ""
) -> Any:
    if isinstance(value, str):
        return change(place, value) if value.strip() and _is_named(place, fields) else value
    if isinstance(value, BaseModel):
        pairs = {name: getattr(value, name) for name in type(value).model_fields}
        return value.model_copy(update=_members(pairs, fields, change, place))
    if isinstance(value, Mapping):
        return _members(value, fields, change, place)
    if isinstance(value, (list, tuple)):
        return [_mapped(v, fields, change, f"{place}[{i}]") for i, v in enumerate(value)]
    return value


def _members(
    pairs: Mapping[Any, Any], fields: Collection[str], change: Callable[[str, str], str], place: str
) -> dict[Any, Any]:
    at = f"{place}." if place else ""
    return {key: _mapped(inner, fields, change, f"{at}{key}") for key, inner in pairs.items()}


def _is_named(place: str, fields: Collection[str]) -> bool:
    """Whether ``place`` is one of ``fields`` or lies below it; numbers of items do not count."""
    plain = ".".join(part.partition("[")[0] for part in place.split(".") if part[:1] != "[")
    names = (name == ALL or plain == name or plain.startswith(f"{name}.") for name in fields)
    return any(names)
