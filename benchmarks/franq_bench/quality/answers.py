"""Reads the answers of a file of the data, whatever its schema calls them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from franq_guard.datasets.jsonl import json_rows

_FIELDS = ("answer", "response", "hypothesis")


def answers_of(path: str | Path) -> Iterator[tuple[str, str]]:
    """The (question, answer) of each row of the JSONL file at ``path`` (or .gz) that has an answer.

    It is ``answers[0]``, ``answer``, ``response`` or ``hypothesis``.
    """
    for row in json_rows(path):
        text = _answer(row)
        if text and text.strip():
            yield str(row.get("question") or ""), text


def _answer(row: Mapping[str, Any]) -> str:
    if row.get("answers"):
        return str(row["answers"][0])
    return str(next((row[field] for field in _FIELDS if row.get(field)), ""))
