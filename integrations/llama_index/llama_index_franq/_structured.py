"""Structured responses: the fields of a pydantic object as claims."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import to_jsonable_python

from franq_guard import Claim, GuardedAnswer, Policy


def keeps(policy: Policy, answer: GuardedAnswer) -> bool:
    """Whether an object with this text can be returned.

    It cannot if the policy removed something from its text: typed fields cannot have marks, so the
    object is returned as a whole or not at all.
    """
    return policy.action == "annotate" or answer.text == answer.original


class Fields:
    """An object as JSON ``text``, and a claim for each field that has a value.

    A claim reads ``field name: value``, nested names joined by a blank; its span is the value in
    ``text``. Empty without an object.

    Args:
        found: a pydantic object, a mapping, or a list of them.
    """

    def __init__(self, found: Any) -> None:
        self._parts: list[str] = []
        self._length = 0
        self.claims: list[Claim] = []
        if found is not None:
            self._write(to_jsonable_python(found, fallback=str), "")

    @property
    def text(self) -> str:
        """The JSON."""
        return "".join(self._parts)

    def _write(self, value: Any, name: str) -> None:
        if isinstance(value, dict):
            self._say("{")
            for i, (key, inner) in enumerate(value.items()):
                self._say(f"{', ' if i else ''}{json.dumps(key, ensure_ascii=False)}: ")
                self._write(inner, f"{name} {key}".replace("_", " ").strip())
            self._say("}")
        elif isinstance(value, list):
            self._say("[")
            for i, inner in enumerate(value):
                self._say(", " if i else "")
                self._write(inner, name)
            self._say("]")
        else:
            start = self._length
            self._say(json.dumps(value, ensure_ascii=False))
            if value not in (None, ""):
                text = f"{name}: {value}" if name else str(value)
                self.claims.append(Claim(text, ((start, self._length),)))

    def _say(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
