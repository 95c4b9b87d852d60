"""The text fields of structured answers, named by ``fields=`` and checked one by one."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from llama_index.core.bridge.pydantic import BaseModel

from franq_guard.capture.fields import is_named

BEFORE_THE_PARSER = (
    "guard before the parser (the text that the object is made from), or name the text fields to "
    "check one by one: fields=('summary', 'findings.text'); fields=('*',) means all"
)


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
    value: Any,
    fields: Collection[str],
    change: Callable[[str, str], str],
    place: str = "",
    path: tuple[str, ...] = (),
) -> Any:
    """``value`` with its named texts changed; ``place`` is ``path`` with the numbers of items."""
    if isinstance(value, str):
        return change(place, value) if value.strip() and is_named(path, fields) else value
    if isinstance(value, (list, tuple)):
        return [_mapped(v, fields, change, f"{place}[{i}]", path) for i, v in enumerate(value)]
    if not isinstance(value, (BaseModel, Mapping)):
        return value
    at = f"{place}." if place else ""
    new = {
        key: _mapped(inner, fields, change, f"{at}{key}", (*path, str(key)))
        for key, inner in _members(value)
    }
    return value.model_copy(update=new) if isinstance(value, BaseModel) else new


def _members(value: BaseModel | Mapping[Any, Any]) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        return value.items()
    return [(name, getattr(value, name)) for name in type(value).model_fields]
