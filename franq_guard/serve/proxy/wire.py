"""Reads JSON and server-sent events strictly and writes them in ASCII."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from franq_guard.serve.reading import strict_json

DONE = "[DONE]"
"""The data of the event that ends a stream."""

_LINE_END = re.compile(rb"\r\n|\n|\r(?=.)", re.DOTALL)
_MAX_EVENT_BYTES = 8 * 1024 * 1024


class MalformedError(ValueError):
    """Data that violates the protocol."""


def read_json(raw: bytes | str) -> Any:
    """The value in ``raw``.

    Raises:
        MalformedError: for invalid UTF-8 or JSON, NaN or infinity, or too deep nesting.
    """
    try:
        return strict_json(raw)
    except RecursionError:
        raise MalformedError("the JSON is nested too deeply") from None
    except ValueError:  # its message may contain text of the body
        raise MalformedError("not valid JSON in UTF-8") from None


def to_json(value: Any) -> bytes:
    """``value`` as JSON, escaped to ASCII because UTF-8 cannot encode lone surrogates.

    Raises:
        MalformedError: if the value is nested too deeply or has a number that is not finite.
    """
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")
    except RecursionError:
        raise MalformedError("the JSON is nested too deeply") from None
    except ValueError:
        raise MalformedError("the JSON has a number that is not finite") from None


def event(value: Any) -> bytes:
    """One server-sent event."""
    return b"data: " + to_json(value) + b"\n\n"


def comment() -> bytes:
    """A comment, which clients ignore."""
    return b": the answer is being written\n\n"


def done() -> bytes:
    """The event that ends a stream."""
    return f"data: {DONE}\n\n".encode("ascii")


class Events:
    """Parses server-sent events from bytes that arrive in pieces of any size.

    Lines may end in LF, CRLF or CR; comments and fields other than ``data`` are ignored, except for
    ``error``: up to the end of 2025 llama.cpp sent its errors so, and then ``[DONE]``.
    """

    def __init__(self) -> None:
        self._incomplete: list[bytes] = []
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> Iterator[str]:
        """The events that ``piece`` completes.

        Raises:
            MalformedError: for invalid UTF-8, or an event of more than 8 MiB.
        """
        self._incomplete.append(piece)
        self._size += len(piece)
        if self._size > _MAX_EVENT_BYTES:
            raise MalformedError("an event is too long")
        if b"\n" in piece or b"\r" in piece or self._incomplete[-2:][0].endswith(b"\r"):
            *lines, rest = _LINE_END.split(b"".join(self._incomplete))
            self._incomplete = [rest]
            for line in lines:
                yield from self._line(line)
            self._size = len(rest) + sum(map(len, self._data))

    def end(self) -> Iterator[str]:
        """The last event, if the bytes ended without the blank line after it.

        Raises:
            MalformedError: as :meth:`feed`.
        """
        last_line, self._incomplete = b"".join(self._incomplete), []
        yield from self._line(last_line.removesuffix(b"\r"))
        yield from self._line(b"")

    def _line(self, line: bytes) -> Iterator[str]:
        if line:
            name, _, value = line.removeprefix(b"\xef\xbb\xbf").partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
            elif name == b"error":
                self._data.append(b'{"error":' + value + b"}")
        elif self._data:
            data, self._data = b"\n".join(self._data), []
            try:
                text = data.decode("utf-8")
            except UnicodeDecodeError:
                raise MalformedError("an event is not valid UTF-8") from None
            if text.strip():
                yield text
