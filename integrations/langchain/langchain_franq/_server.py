"""The log-probabilities that a server sent with its answer, as tokens of it."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from franq_guard import Generation, Token
from franq_guard.language_model.server.tokens import from_logprobs


def server_generation(text: str, prompt: str | None, info: Mapping[str, Any]) -> Generation:
    """``text`` with the tokens in ``info["logprobs"]``; without tokens where they do not fit it.

    The server's vocabulary is not known here, so ids are -1.
    """
    told = from_logprobs(info.get("logprobs"))
    spans = _spans([token.text for token in told], text)
    if spans is None:
        return Generation(text, prompt=prompt)
    tokens = tuple(
        Token(-1, start, end, token.logprob)
        for (start, end), token in zip(spans, told, strict=True)
    )
    return Generation(text, tokens, prompt, source="server")


def _spans(pieces: Sequence[bytes], text: str) -> list[tuple[int, int]] | None:
    """Characters of each piece; None unless the pieces are the text.

    The last piece may go on where the text has ended: an end token, a stop string.
    """
    if not pieces:
        return None
    decoder = codecs.getincrementaldecoder("utf-8")("ignore")
    ends = list(accumulate(len(decoder.decode(piece)) for piece in pieces))
    whole = b"".join(pieces).decode("utf-8", errors="replace")
    rest = whole[len(text) :]
    if not whole.startswith(text) or not pieces[-1].decode(errors="replace").endswith(rest):
        return None
    size = len(text)
    starts = [0, *ends]
    return [(min(a, size), min(b, size)) for a, b in zip(starts, ends, strict=False)]
