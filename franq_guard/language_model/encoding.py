"""Converts strings to ids and back for one tokeniser: prompts, given answers, the window."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import groupby
from typing import Any

from franq_guard.basics.text import without_surrogates
from franq_guard.language_model.base import Prompt, plain_text
from franq_guard.language_model.tokens import Vocabulary
from franq_guard.records import Generation, Token

NAN = float("nan")


class Encoder:
    """A tokeniser and the window of its model (``None``: no limit), in tokens."""

    def __init__(self, tokenizer: Any, window: int | None) -> None:
        self.tokenizer = tokenizer
        self.window = window
        self.vocabulary = Vocabulary(tokenizer)
        self._special = self.vocabulary.special
        self._size = len(tokenizer)
        self._prefix = self._added_prefix()

    def render(self, prompt: Prompt) -> str:
        """The prompt by the chat template, or plain text ending in ``Answer:`` if there is none.

        Special tokens in the prompt's own text are made ineffective: a passage that contains an
        end-of-turn marker must not end the turn.
        """
        system, user = self._harmless(prompt.system), self._harmless(prompt.user)
        if not getattr(self.tokenizer, "chat_template", None):
            return plain_text(Prompt(system, user))
        turns = [{"role": "user", "content": user}]
        if not system:
            return self._apply(turns)
        turns.insert(0, {"role": "system", "content": system})
        from jinja2 import TemplateError

        try:
            return self._apply(turns)
        except TemplateError:  # some templates reject a system message
            return self._apply([{"role": "user", "content": f"{system}\n\n{user}"}])

    def _apply(self, turns: list[dict[str, str]]) -> str:
        # A model that may think first (Qwen 3) is to answer at once, as what is scored does.
        thinks = "enable_thinking" in str(self.tokenizer.chat_template)
        at_once = {"enable_thinking": False} if thinks else {}
        rendered = self.tokenizer.apply_chat_template(
            turns, tokenize=False, add_generation_prompt=True, **at_once
        )
        return str(rendered)

    def _harmless(self, text: str) -> str:
        text = without_surrogates(text)
        for token in self._special.values():
            if len(token) > 1 and token in text:
                text = text.replace(token, f"{token[0]} {token[1:]}")
        return text

    def prompt_ids(self, prompt: str | Sequence[int]) -> list[int]:
        """The prompt's ids; a string is tokenised and gets a BOS token unless it has one.

        An empty prompt becomes one BOS (or end-of-text) token, because the model needs at least one
        token before the answer.
        """
        if not isinstance(prompt, str):
            return list(prompt) or [self._first()]
        ids = self.ids(prompt)
        if ids[: len(self._prefix)] != self._prefix:
            ids = self._prefix + ids
        return ids or [self._first()]

    def ids(self, text: str) -> list[int]:
        """The text's ids, without added special tokens."""
        text = without_surrogates(text)
        return list(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    @cached_property
    def line_breaks(self) -> frozenset[int]:
        """Ids whose text contains a line break."""
        tokens = self.tokenizer.convert_ids_to_tokens(range(self._size))
        # A line break in plain text, in byte-level BPE and as a SentencePiece byte.
        spelled = ("\n", "\u010a", "<0x0A>")
        found = (i for i, t in enumerate(tokens) if t and any(mark in t for mark in spelled))
        return frozenset(i for i in found if "\n" in self.tokenizer.decode([i]))

    def is_special(self, token_id: int) -> bool:
        """Whether the id is a special token, which is left out of an answer's text."""
        return token_id in self._special

    def prompt_text(self, ids: Sequence[int]) -> str:
        """The string of a prompt's ids, with special tokens.

        SentencePiece puts a blank before a text, and its decoder takes it away at the beginning
        alone: what stands behind a special token ("<s> The") would get another one if encoded.
        """
        text = self._decode(ids)
        bare = "".join(self._decode(list(run)) for _, run in groupby(ids, key=self.is_special))
        return bare if bare != text and self.ids(bare) == list(ids) else text

    def text(self, ids: Sequence[int]) -> str:
        """The answer's text, without special tokens."""
        return self._decode(ids, skip_special_tokens=True)

    def _decode(self, ids: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        text = self.tokenizer.decode(
            list(ids),
            skip_special_tokens=skip_special_tokens,
            clean_up_tokenization_spaces=False,
        )
        return str(text)

    def answer(self, answer: Generation, prompt: Sequence[int]) -> Generation:
        """The answer with tokens: its own, or its text tokenised as the prompt's continuation.

        Its own tokens are not used if their ids do not spell it in this tokeniser: tokens from a
        server have none, and those of another model are another's.
        """
        if not answer.text or self._spelled(answer):
            return answer
        ids = self._continuation(without_surrogates(answer.text), prompt)
        return self.with_ids(answer, ids)

    def with_ids(self, answer: Generation, ids: Sequence[int]) -> Generation:
        """The answer with tokens of unknown probability, whose spans cover its text."""
        spans = self.vocabulary.spans(ids, answer.text)
        tokens = tuple(Token(i, a, b, NAN) for i, (a, b) in zip(ids, spans, strict=True))
        return Generation(answer.text, tokens, answer.prompt, answer.prompt_token_ids, "none")

    def _spelled(self, answer: Generation) -> bool:
        """Whether the tokens' ids spell the text, or more; case and white space may differ."""
        ids = [token.id for token in answer.tokens]
        if not ids or not all(0 <= i < self._size for i in ids):
            return False
        return _squeezed(answer.text) in _squeezed(self.text(ids))

    def fit(self, ids: list[int], room: int) -> list[int]:
        """At most ``room`` ids: the leading special tokens, then the end of the prompt.

        The question is at the end, so the oldest text after the template's start is cut.
        """
        if len(ids) <= room:
            return ids
        head = 0
        while head < min(len(ids), room // 2) and ids[head] in self._special:
            head += 1
        return ids[:head] + ids[len(ids) - (room - head) :]

    def leaving_room(self, prompt: str, length: int) -> tuple[str, list[int]]:
        """The prompt as text and ids, cut by :meth:`fit` if there is no room for an answer.

        ``length``: of the answer, in tokens; the prompt keeps at least half of the window.
        """
        ids = self.prompt_ids(prompt)
        if self.window is None:
            return prompt, ids
        seen = self.fit(ids, max(self.window - length, self.window // 2))
        return prompt if len(seen) == len(ids) else self.prompt_text(seen), seen

    def room(self, prompt: Sequence[int], length: int) -> int:
        """How many of ``length`` tokens of an answer fit into the window after the prompt."""
        return length if self.window is None else min(length, self.window - len(prompt))

    def _continuation(self, text: str, prompt: Sequence[int]) -> list[int]:
        """Ids of ``text`` after the prompt's last character, with a space before it if needed."""
        tail = self.prompt_text(prompt[-4:])[-1:]
        ends_special = bool(prompt) and prompt[-1] in self._special
        gap = "" if not tail or tail.isspace() or text[:1].isspace() or ends_special else " "
        if not self.tokenizer.is_fast or not tail or ends_special:
            return self.ids(gap + text)
        encoded = self.tokenizer(
            tail + gap + text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        offsets = encoded["offset_mapping"]
        first = next((i for i, (_, end) in enumerate(offsets) if end > len(tail)), len(offsets))
        if first < len(offsets) and offsets[first][0] < len(tail):  # one token covers both
            return self.ids(gap + text)
        return list(encoded["input_ids"][first:])

    def _added_prefix(self) -> list[int]:
        plain = self.ids("a")
        full = list(self.tokenizer("a", verbose=False)["input_ids"])
        for at in range(len(full) - len(plain) + 1):
            if full[at : at + len(plain)] == plain:
                return full[:at]
        return []

    def _first(self) -> int:
        known = (self.tokenizer.bos_token_id, self.tokenizer.eos_token_id, 0)
        return next(int(i) for i in known if i is not None)


def _squeezed(text: str) -> str:
    return "".join(without_surrogates(text).casefold().split())
