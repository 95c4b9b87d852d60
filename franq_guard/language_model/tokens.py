"""Finds the characters of a text that each token id stands for.

``token_spans`` uses the ids that the model generated and never tokenises the text again, because
the two differ for sampled text. The spans cover the text without gaps for every kind of tokeniser:

- byte-level BPE: a character split over several tokens belongs to the token that completes it; the
  earlier ones get an empty span at its start;
- SentencePiece and Metaspace, with byte pieces (``<0xE2>``) and the first space the decoder drops;
- WordPiece with ``##`` pieces, lower-casing and the decoder's clean-up of spaces;
- special tokens: an empty span if the text was decoded without them, else their own text.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any, Literal

from franq_guard.basics.text import without_surrogates
from franq_guard.records import Span

Kind = Literal["given", "bytes", "metaspace", "wordpiece", "other"]
_BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>\Z")
_LOOK_AHEAD = 16
"""How many characters are searched for the next match where tokens and text differ."""


def token_spans(tokenizer: Any, ids: Sequence[int], text: str) -> list[Span]:
    """Spans of ``text``, one per id, each ending where the next one starts.

    ``text`` is what the ids decode to, or that text stripped, cut, cleaned up or with other letter
    case; characters that differ belong to an adjacent token. Linear in the length of the text.
    Without ids the list is empty. Lone surrogates count as U+FFFD, as they are tokenised.
    """
    return Vocabulary(tokenizer).spans(ids, text)


class Vocabulary:
    """What the tokens of one tokeniser stand for, with the tokens that it has now.

    Its added tokens are read once: there may be thousands (Gemma), which takes 20 ms.

    Attributes:
        special: every special token by its id: those that ``decode`` may leave out. Llama 3 and
            others give only some of them a role ("eos"), which ``all_special_tokens`` lists; the
            rest, such as those around a turn's role, are only marked as special.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._kind = _kind(tokenizer)
        added = tokenizer.added_tokens_decoder.items()
        self._added = {int(i): str(token) for i, token in added}
        named = zip(tokenizer.all_special_ids, tokenizer.all_special_tokens, strict=True)
        marked = ((i, token) for i, token in added if token.special)
        self.special = {int(i): str(token) for i, token in (*named, *marked)}

    def spans(self, ids: Sequence[int], text: str) -> list[Span]:
        """See :func:`token_spans`."""
        if not ids:
            return []
        text = without_surrogates(text)
        pieces = self._pieces(ids, text)
        ends = _spelled_ends(pieces, text, first=True) or _aligned_ends(pieces, text)
        return list(pairwise([0, *ends]))

    def spelled(self, ids: Sequence[int], text: str, *, first: bool) -> list[Span] | None:
        """:meth:`spans` where the ids spell ``text`` to the character, otherwise None.

        Only such spans can be put together from those of consecutive parts of an answer. ``first``:
        the ids begin the answer, where a decoder may drop a blank.
        """
        ends = _spelled_ends(self._pieces(ids, text), text, first=first)
        return None if ends is None else list(pairwise([0, *ends]))

    def _pieces(self, ids: Sequence[int], text: str) -> list[str]:
        """The text that each token adds; joined, they are the decoded text before its clean-up."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        pieces = self._tokenizer.convert_ids_to_tokens(list(ids))
        out: list[str] = []
        for token_id, piece in zip(ids, pieces, strict=True):
            if token_id in self.special:
                shown = self._added.get(token_id, str(piece))
                out.append(shown if str(piece) in text else "")
            else:
                out.append(decoder.decode(self._bytes(piece, token_id)))
        out[-1] += decoder.decode(b"", final=True)
        return out

    def _bytes(self, piece: str | None, token_id: int) -> bytes:
        """The bytes that one ordinary token stands for."""
        if (added := self._added.get(token_id)) is not None:
            return added.encode()
        if piece is None:  # an id beyond the vocabulary, from padded embedding rows
            return b""
        if self._kind == "given":
            return bytes(self._tokenizer.token_bytes(token_id))
        if self._kind == "bytes":
            table = _byte_table()
            known = all(c in table for c in piece)
            return bytes(table[c] for c in piece) if known else piece.encode()
        if self._kind == "metaspace":
            byte = _BYTE_PIECE.match(piece)
            return bytes([int(byte[1], 16)]) if byte else piece.replace("▁", " ").encode()
        if self._kind == "wordpiece":
            return piece[2:].encode() if piece.startswith("##") else b" " + piece.encode()
        return str(self._tokenizer.decode([token_id])).encode()


def _spelled_ends(pieces: Sequence[str], text: str, *, first: bool) -> list[int] | None:
    joined = "".join(pieces)
    dropped = len(joined) - len(text)
    if dropped not in (0, int(first)) or joined != " " * dropped + text:
        return None
    return [max(0, end - dropped) for end in accumulate(map(len, pieces))]


def _kind(tokenizer: Any) -> Kind:
    """How the tokeniser writes bytes and spaces, if needed found out from its decoder."""
    if hasattr(tokenizer, "token_bytes"):
        return "given"
    decoder = getattr(getattr(tokenizer, "backend_tokenizer", None), "decoder", None)
    state = decoder.__getstate__().decode() if decoder is not None else ""
    if '"ByteLevel"' in state:
        return "bytes"
    if '"WordPiece"' in state:
        return "wordpiece"
    if "▁" in state or '"ByteFallback"' in state:
        return "metaspace"
    return "metaspace" if hasattr(tokenizer, "sp_model") else "other"


@lru_cache(maxsize=1)
def _byte_table() -> dict[str, int]:
    """GPT-2's alphabet: printable Latin-1 stands for itself, other bytes are U+0100 and up."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [b for b in range(256) if b not in set(plain)]
    return {chr(b): b for b in plain} | {chr(256 + i): b for i, b in enumerate(rest)}


def _aligned_ends(pieces: Sequence[str], text: str) -> list[int]:
    """Where each piece ends in a text that is nearly the joined pieces, in one forward pass."""
    written = "".join(pieces)
    ends = list(accumulate(map(len, pieces)))
    reached = _walk([_fold(c) for c in written], [_fold(c) for c in text])
    out = [min(reached[end], len(text)) for end in ends]
    out[-1] = len(text)
    return list(accumulate(out, max))


def _walk(written: Sequence[str], text: Sequence[str]) -> list[int]:
    """For each k, how many characters of ``text`` correspond to ``written[:k]``."""
    reached = [0] * (len(written) + 1)
    i = j = 0
    while i < len(written) and j < len(text):
        step_i, step_j = _step(written, text, i, j)
        for k in range(1, step_i + 1):
            reached[i + k] = j + step_j if k == step_i else j
        i, j = i + step_i, j + step_j
        if not step_i:
            reached[i] = j if i else 0
    for k in range(i + 1, len(written) + 1):
        reached[k] = j
    return reached


def _step(written: Sequence[str], text: Sequence[str], i: int, j: int) -> tuple[int, int]:
    """How far both sides advance from (i, j): together, or one of them to the next match."""
    if written[i] == text[j]:
        return 1, 1
    if written[i] == " ":
        return 1, 0
    if text[j] == " ":
        return 0, 1
    for total in range(1, _LOOK_AHEAD):
        for di in range(total + 1):
            if _agree(written, text, i + di, j + total - di):
                return di, total - di
    return 1, 1


def _agree(written: Sequence[str], text: Sequence[str], i: int, j: int) -> bool:
    if i >= len(written) or j >= len(text) or written[i] != text[j]:
        return False
    width = min(3, len(written) - i, len(text) - j)
    return written[i : i + width] == text[j : j + width]


def _fold(char: str) -> str:
    """A character in a form that ignores case, accents and the kind of white space."""
    if char.isspace():
        return " "
    return unicodedata.normalize("NFKD", char)[0].casefold()[:1] or char
