"""The tokeniser inside a ``llama_cpp.Llama``, with the methods of a transformers tokeniser."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from itertools import pairwise
from typing import Any


class GgufTokenizer:
    """Converts strings to ids and back by llama.cpp, and uses the ``Llama`` object's chat format.

    It has only what :class:`~franq_guard.language_model.encoding.Encoder` and
    :class:`~franq_guard.language_model.tokens.Vocabulary` need.
    """

    is_fast = True  # transformers' name for a tokeniser that returns offsets

    def __init__(self, llama: Any) -> None:
        self._llama = llama
        self._library = library = import_module("llama_cpp")
        self._vocabulary = vocabulary = library.llama_model_get_vocab(llama.model)
        # Cached on the Llama, because a new wrapper may be made for every call of an agent's model.
        if "_franq_special" not in vars(llama):
            ids = range(llama.n_vocab())
            control = [i for i in ids if library.llama_vocab_is_control(vocabulary, i)]
            ends = frozenset(i for i in ids if library.llama_vocab_is_eog(vocabulary, i))
            llama._franq_special = control, ends
        self.all_special_ids, self.eos_ids = llama._franq_special
        self.added_tokens_decoder: Mapping[int, str] = {}
        self.all_special_tokens = self.convert_ids_to_tokens(self.all_special_ids)
        self.token_bytes = lru_cache(maxsize=1 << 16)(self._token_bytes)

    def __len__(self) -> int:
        return int(self._llama.n_vocab())

    def __call__(
        self,
        text: str,
        *,
        add_special_tokens: bool = True,
        return_offsets_mapping: bool = False,
        verbose: bool = False,
    ) -> dict[str, Any]:
        """The text's ``input_ids``, with special tokens recognised, and on request the offsets."""
        given = text.encode()
        ids = self._llama.tokenize(given, add_bos=add_special_tokens, special=True)
        found: dict[str, Any] = {"input_ids": ids}
        if return_offsets_mapping:
            found["offset_mapping"] = self._offsets(ids, given)
        return found

    @property
    def bos_token_id(self) -> int | None:
        """The id that starts a text; None if the vocabulary has none."""
        return _known(self._llama.token_bos())

    @property
    def eos_token_id(self) -> int | None:
        """The id that ends a text; None if the vocabulary has none."""
        return _known(self._llama.token_eos())

    @property
    def chat_template(self) -> str | None:
        """The template in the file's metadata; None for a model without a chat format."""
        return (self._llama.metadata or {}).get("tokenizer.chat_template")

    def apply_chat_template(
        self,
        turns: Sequence[Mapping[str, str]],
        *,
        tokenize: bool = False,
        add_generation_prompt: bool = True,
        **_: object,
    ) -> str:
        """The string that ``Llama.create_chat_completion`` makes of these messages.

        That takes no further settings of a template, so they have no effect.

        Raises:
            jinja2.TemplateError: if the template rejects the messages, or returns no text.
        """
        from jinja2 import TemplateError

        handler = _chat_handler(self._llama)
        try:
            handler(llama=_Listener(self._llama), messages=[dict(turn) for turn in turns])
        except _Heard as heard:
            return heard.prompt
        except ValueError as error:  # llama.cpp's form of a template's raise_exception
            raise TemplateError(str(error)) from error
        raise TemplateError("this chat format makes no text of the messages")

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[str]:
        """The text of each id, with special tokens."""
        return [self._token_bytes(i).decode(errors="replace") for i in ids]

    def decode(
        self,
        ids: Sequence[int],
        *,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool = False,
    ) -> str:
        """The text of the ids; bytes that are not UTF-8 become U+FFFD."""
        hidden = set(self.all_special_ids) if skip_special_tokens else set()
        return b"".join(self.token_bytes(i) for i in ids if i not in hidden).decode(
            errors="replace"
        )

    def _token_bytes(self, token_id: int) -> bytes:
        size = 64
        while True:  # a negative result is the size that is needed
            room = ctypes.create_string_buffer(size)
            write = self._library.llama_token_to_piece
            count = write(self._vocabulary, token_id, room, size, 0, True)
            if count >= 0:
                return room.raw[:count]
            size = -count

    def _offsets(self, ids: Sequence[int], given: bytes) -> list[tuple[int, int]]:
        """The characters of each id; empty for an id that does not complete a character."""
        pieces = [self.token_bytes(i) for i in ids]
        # The vocabularies of Llama models add a space before the text.
        position = min(0, len(given) - sum(map(len, pieces)))
        ends = [0]
        for piece in pieces:
            position += len(piece)
            ends.append(len(given[: max(position, 0)].decode(errors="ignore")))
        return list(pairwise(ends))


class _Heard(Exception):
    """Not an error: it stops a chat handler and carries the prompt that the handler made."""

    def __init__(self, prompt: str) -> None:
        self.prompt = prompt


class _Listener:
    """Replaces the ``Llama`` of a chat handler, to get its prompt without running the model."""

    def __init__(self, llama: Any) -> None:
        self._llama = llama

    def __getattr__(self, name: str) -> Any:
        return getattr(self._llama, name)

    def tokenize(self, text: bytes, *_: Any, **__: Any) -> list[int]:
        raise _Heard(text.decode())


def _chat_handler(llama: Any) -> Any:
    """The handler that ``create_chat_completion`` would use, searched in the same order."""
    own = getattr(llama, "_chat_handlers", {})
    if llama.chat_handler or llama.chat_format in own:
        return llama.chat_handler or own[llama.chat_format]
    formats = import_module("llama_cpp.llama_chat_format")
    return formats.get_chat_completion_handler(llama.chat_format)


def _known(token_id: int) -> int | None:
    return token_id if token_id >= 0 else None
