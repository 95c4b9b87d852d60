"""Replaces raw texts by checked ones in a message that contains a structured answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from langchain_core.messages import BaseMessage

from franq_guard.capture.outlet import REPORT_KEY

_PLACES = ("content", "tool_calls", "additional_kwargs", "artifact")
_NO_ANSWER = ("id", "call_id", "name", "type")
"""Keys of a tool call or of a block of content; its arguments may have fields of these names."""
_ANSWERS = ("args", "input", "parsed")
"""Keys of such a thing whose value is the structured answer itself."""


def is_json(text: str) -> bool:
    """Whether a text is a JSON object or list."""
    try:
        return isinstance(json.loads(text), (dict, list))
    except ValueError:
        return False


def rewritten(
    message: BaseMessage, texts: Mapping[str, str], report: Mapping[str, Any]
) -> BaseMessage:
    """``message`` with each raw text replaced wherever it is a whole value, and with the report.

    It may be a value in a JSON text, in the arguments of a tool call, or in the ``repr`` in a tool
    message; words in another text, keys and the names and ids of calls are left as they are.
    """
    held = {name: getattr(message, name) for name in _PLACES if hasattr(message, name)}
    update = {name: _replaced(value, texts, name == "artifact") for name, value in held.items()}
    known = {k: v for k, v in message.response_metadata.items() if k != "logprobs"}
    known[REPORT_KEY] = {**(known.get(REPORT_KEY) or {}), "fields": dict(report)}
    return message.model_copy(update={**update, "response_metadata": known})


def _replaced(value: Any, texts: Mapping[str, str], in_answer: bool) -> Any:
    if isinstance(value, str):
        if in_answer or value in texts:
            return texts.get(value, value)
        return _spelled_anew(value, texts)
    if isinstance(value, dict):
        return {
            key: inner
            if key in _NO_ANSWER and not in_answer
            else _replaced(inner, texts, in_answer or key in _ANSWERS)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_replaced(inner, texts, in_answer) for inner in value]
    return value


def _spelled_anew(text: str, texts: Mapping[str, str]) -> str:
    """``text`` with the values in it that are spelled with their quotes; those of keys stay."""
    forms: list[Callable[[str], str]] = [json.dumps, partial(json.dumps, ensure_ascii=False)]
    if not is_json(text):  # single quotes are words there
        forms.append(repr)
    spelled = {form(raw): form(new) for raw, new in texts.items() if raw != new for form in forms}
    if not spelled:
        return text
    longest_first = "|".join(map(re.escape, sorted(spelled, key=len, reverse=True)))
    return re.sub(rf"(?:{longest_first})(?!\s*:)", lambda found: spelled[found.group()], text)
