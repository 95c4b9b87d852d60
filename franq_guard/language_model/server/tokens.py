"""Log-probabilities that an OpenAI-like server sends with an answer.

Reads both protocols: chat (``logprobs.content``) and completions (``logprobs.tokens`` with
``logprobs.token_logprobs``), as mappings or as objects of a client library. Ollama's own protocol
has the list of the chat protocol's ``content`` by itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from franq_guard.basics.text import without_surrogates


@dataclass(frozen=True, slots=True)
class ServerToken:
    """One token as the server sends it: its bytes and its log-probability (nats, NaN: unknown).

    ``id`` is the id in the served model's vocabulary; -1 if the server does not send it.
    """

    text: bytes
    logprob: float
    id: int = -1


def from_response(raw: Any) -> list[ServerToken]:
    """The tokens of the first choice in a raw response or stream chunk; empty if none."""
    choices = _get(raw, "choices")
    if not isinstance(choices, Sequence) or not choices:
        return []
    return from_logprobs(_get(choices[0], "logprobs"))


def from_logprobs(logprobs: Any) -> list[ServerToken]:
    """The tokens in the ``logprobs`` of a choice; empty if there are none."""
    by_itself = isinstance(logprobs, list) and all(
        isinstance(_get(one, "token"), str) for one in logprobs
    )
    content = logprobs if by_itself else _get(logprobs, "content")
    if isinstance(content, Sequence) and content:
        return [_of_chat(entry) for entry in content]
    tokens, values = _get(logprobs, "tokens"), _get(logprobs, "token_logprobs")
    if not isinstance(tokens, Sequence) or not isinstance(values, Sequence):
        return []
    if len(tokens) != len(values):
        return []
    pairs = zip(tokens, values, strict=True)
    return [ServerToken(encoded(token), logprob_of(value)) for token, value in pairs]


def _of_chat(entry: Any) -> ServerToken:
    text = _bytes_of(_get(entry, "bytes")) or encoded(_get(entry, "token") or "")
    return ServerToken(text, logprob_of(_get(entry, "logprob")))


def _bytes_of(numbers: Any) -> bytes:
    """The bytes that the numbers stand for; none if they are no bytes."""
    try:
        return bytes(numbers) if isinstance(numbers, Sequence) else b""
    except (TypeError, ValueError):
        return b""


def encoded(token: Any) -> bytes:
    """A token's text as bytes; half of a UTF-16 character is a part of one, as is U+FFFD."""
    return without_surrogates(str(token)).encode()


def logprob_of(value: Any) -> float:
    """``value`` as a log-probability; NaN if it is not one."""
    # llama.cpp and others send -9999 for "not among the candidates", which is not a probability.
    known = isinstance(value, (int, float)) and -1000 < value <= 1e-6
    return min(float(value), 0.0) if known else math.nan


def _get(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)
