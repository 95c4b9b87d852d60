"""Reads rows with other tools' field names (RAGAS, LangSmith, LettuceDetect, LangChain, your own).

A name may be a dotted path: ``outputs.answer`` is the ``answer`` in the row's object ``outputs``.
"""

from __future__ import annotations

import json
from ast import literal_eval
from collections.abc import Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from io import StringIO
from tokenize import TokenError, generate_tokens
from typing import Any

from franq_guard.basics.text import trimmed
from franq_guard.rows.traces import is_passage, row_id

__all__ = ["KNOWN", "Fields", "plain_name", "with_row_label"]

KNOWN: Mapping[str, tuple[str, ...]] = {
    "question": (
        *("user_input", "query", "input", "user_query", "prompt_question"),
        *("inputs.question", "inputs.query", "inputs.input", "inputs.user_input"),
    ),
    "passages": (
        *("retrieved_contexts", "contexts", "retrieval_context", "context", "documents"),
        *("source_documents", "source_nodes", "retrieved_documents", "retrieved_docs", "docs"),
        "chunks",
        *("outputs.passages", "outputs.contexts", "outputs.context", "outputs.documents"),
        "outputs.source_documents",
        *("inputs.passages", "inputs.contexts", "inputs.context", "inputs.documents"),
    ),
    "answer": (
        *("response", "output", "actual_output", "prediction", "generated_answer", "result"),
        *("outputs.answer", "outputs.response", "outputs.output", "outputs.result"),
    ),
}
"""For each of our field names, the names other tools use for it, the likeliest first."""
_NOTHING = object()
_OPENS, _CLOSES = frozenset("'\"{"), frozenset("'\"}")
"""How a text or an object of a Python list begins and ends."""
_UNREADABLE = (ValueError, TypeError, SyntaxError, TokenError, RecursionError, MemoryError)
"""What is raised for a text that is no list."""


class Fields:
    """Adds the field names of ``franq.trace/1`` to rows; fields with such a name are not changed.

    Args:
        given: the user's field names, such as ``{"question": "user.text"}``; they take precedence.

    Attributes:
        given: the user's field names.
        used: for each of our names, the row's field that it was last read from.

    Raises:
        ValueError: for a name other than question, passages, answer and id.
    """

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        self.given = dict(given or {})
        for name in self.given:
            if name not in (*KNOWN, "id"):
                raise ValueError(f"no field {name!r}: map question, passages, answer or id")
        self.used: dict[str, str] = {}

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """The row with our names added.

        Raises:
            ValueError: if question, passages or answer is missing; suggests the most similar field.
        """
        found = dict(row)
        for name, theirs in self.given.items():
            value = _at(row, theirs)
            if value is _NOTHING:
                raise ValueError(f"there is no field {theirs!r} in it; it has {_names(row)}")
            found[name] = value
            self.used[name] = theirs
        theirs = self._id_in(row)
        if "id" not in found and theirs in row:  # "ID", as a spreadsheet writes it
            found["id"], self.used["id"] = row[theirs], theirs
        for name, others in KNOWN.items():
            if name not in found:
                theirs, found[name] = self._known(name, others, row)
                self.used[name] = theirs
        if isinstance(found["passages"], str):
            found["passages"] = _passages_of(found["passages"])
        return found

    def id_of(self, row: dict[str, Any]) -> str | None:
        """The row's id, also of a row that lacks other fields.

        Raises:
            ValueError: if it is neither a string nor an integer.
        """
        value = _at(row, self._id_in(row))
        return None if value is _NOTHING else row_id({"id": value})

    def _id_in(self, row: Mapping[str, Any]) -> str:
        """The field that has the row's id, if there is one."""
        if "id" in self.given or "id" in row:
            return self.given.get("id", "id")
        return next(_headings(("id",), row), "id")

    @property
    def columns(self) -> frozenset[str]:
        """The columns of a table that the user's names are read from."""
        return frozenset(part for name in self.given.values() for part in (name, _first(name)))

    def notes(self) -> list[str]:
        """One line that lists the fields read under other names; empty if there were none."""
        pairs = ", ".join(f"{ours} from {theirs}" for ours, theirs in self.used.items())
        return [f"fields read: {pairs}"] if pairs else []

    def _known(self, name: str, others: tuple[str, ...], row: dict[str, Any]) -> tuple[str, Any]:
        names = (*others, *_headings((name, *others), row))
        found = [(theirs, _at(row, theirs)) for theirs in names]
        there = [pair for pair in found if pair[1] is not _NOTHING]
        if there:  # what holds nothing comes last: DeepEval writes "context": null
            return min(there, key=lambda pair: pair[1] is None)
        near = _nearest(name, row)
        hint = f"did you mean {near!r}? --map {name}={near}" if near else f"--map {name}=FIELD"
        raise ValueError(f"{name!r} is missing; the row has {_names(row)} ({hint})")


def plain_name(heading: str) -> str:
    """The heading of a column as a field is named: "User Input" is "user_input"."""
    return "_".join(heading.lower().split())


def _headings(names: tuple[str, ...], row: Mapping[str, Any]) -> Iterator[str]:
    """The fields of the row that are one of these names but for capitals and blanks."""
    return (key for key in row if key not in names and plain_name(key) in names)


def _passages_of(text: str) -> list[Any]:
    """One context as one text, or the passages of a list that a table stored as text.

    A CSV file has no lists: some programs write JSON in a cell, pandas what Python shows of a list
    (``['...', '...']``) or of an array, which has no commas.
    """
    stripped = text.strip()
    if stripped[:1] + stripped[-1:] == "[]":
        for read in (json.loads, _python_list):
            with suppress(*_UNREADABLE):
                found = read(stripped)
                if all(map(is_passage, found)):
                    return list(found)
    return [text] if stripped else []


def _python_list(text: str) -> Any:
    """The list or the array of NumPy that Python showed as this text."""
    parts: list[str] = []
    for token in generate_tokens(StringIO(text).readline):
        if part := token.string.strip():
            # Without a comma between them Python would join the texts of an array to one.
            between = parts and part[0] in _OPENS and parts[-1][-1] in _CLOSES
            parts += [",", part] if between else [part]
    return literal_eval(" ".join(parts))


def _nearest(name: str, row: Mapping[str, Any]) -> str | None:
    """A field of the row that the user may have meant, if it has no other known meaning."""
    taken = {theirs for known in KNOWN.values() for theirs in known} | set(KNOWN)
    free = [key for key in row if key not in taken and key != "id"]
    alike = [key for key in free if name in key.lower() or key.lower() in name]
    return next(iter([*alike, *get_close_matches(name, free, n=1)]), None)


def with_row_label(row: dict[str, Any]) -> dict[str, Any]:
    """Turn the answer of a row that has ``is_true`` but no claims into one labelled claim.

    Raises:
        ValueError: if it has claims and none is labelled: the row's label would count for nothing.
    """
    answer, claims = row.get("answer"), row.get("claims")
    labels = {key: row[key] for key in ("is_true", "is_faithful") if row.get(key) is not None}
    if "is_true" not in labels or not isinstance(answer, str) or not answer.strip():
        return row
    if claims is None:
        start, end = trimmed(answer, 0, len(answer))
        return {**row, "claims": [{"text": answer[start:end], "spans": [[start, end]], **labels}]}
    if claims and isinstance(claims, list) and not any(map(_has_label, claims)):
        raise ValueError("'is_true' is of the whole row, but the row has claims: label these")
    return row


def _has_label(claim: object) -> bool:
    return isinstance(claim, dict) and "is_true" in claim


def _at(row: object, path: str) -> Any:
    """The value at a dotted path; a key that itself contains the dots is tried first."""
    if isinstance(row, dict) and path in row:
        return row[path]
    first, _, rest = path.partition(".")
    if not rest or not isinstance(row, dict) or first not in row:
        return _NOTHING
    return _at(row[first], rest)


def _first(path: str) -> str:
    return path.partition(".")[0]


def _names(row: Mapping[str, Any]) -> str:
    return ", ".join(map(repr, row)) or "no fields"
