"""Replaces raw texts by checked ones in a message that contains a structured answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage

from franq_guard.capture.outlet import REPORT_KEY

_PLACES = ("content", "tool_calls", "additional_kwargs", "artifact")


def is_json(text: str) -> bool:
    """Whether a text is a JSON object or list."""
    try:
        return isinstance(json.loads(text), (dict, list))
    except ValueError:
        return False


def rewritten(
    message: BaseMessage, texts: Mapping[str, str], report: Mapping[str, Any]
) -> BaseMessage:
    """``message`` with each raw text replaced wherever it occurs, and with the report.

    A raw text may be in a JSON string, in the arguments of a tool call, or in the ``repr`` in a
    tool message.
    """
    forms = (str, _in_json, _in_repr)
    spelled = {form(raw): form(new) for raw, new in texts.items() for form in forms}
    held = {name: getattr(message, name) for name in _PLACES if hasattr(message, name)}
    update = {name: _replaced(value, spelled) for name, value in held.items()}
    known = {k: v for k, v in message.response_metadata.items() if k != "logprobs"}
    known[REPORT_KEY] = {**(known.get(REPORT_KEY) or {}), "fields": dict(report)}
    return message.model_copy(update={**update, "response_metadata": known})


def _in_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=True)[1:-1]


def _in_repr(text: str) -> str:
    return repr(text)[1:-1]


def _replaced(value: Any, spelled: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        longest_first = "|".join(map(re.escape, sorted(spelled, key=len, reverse=True)))
        return re.sub(longest_first, lambda found: spelled[found.group()], value)
    if isinstance(value, dict):
        return {key: _replaced(inner, spelled) for key, inner in value.items()}
    return [_replaced(inner, spelled) for inner in value] if isinstance(value, list) else value
