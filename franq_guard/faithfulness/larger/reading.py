"""Reads (claim piece, text) pairs with the larger network: each text once, then its claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from franq_guard.basics.deadline import between_batches
from franq_guard.basics.text import without_surrogates
from franq_guard.basics.threads import threads_for
from franq_guard.faithfulness.larger.adapter import MAX_CLAIM, MAX_PASSAGE
from franq_guard.faithfulness.larger.network import Network
from franq_guard.faithfulness.small.features import features
from franq_guard.faithfulness.small.reading import Logits, PairReader, TextPair, best_windows

PASSAGE, CLAIM = "Passage:", "Claim:"
_BATCH_TOKENS = 4096
"""Tokens per forward pass, those of the text counted for each claim; limits the memory used. At
least one claim is read."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """A claim beside a text: its tokens, and what both share."""

    ids: list[int]
    features: list[float]


class LanguageModelReader(PairReader):
    """Reads a text once for all claims beside it.

    Args:
        network: in evaluation mode.
        tokenizer: the language model's.
        room: how many pairs the cache holds; 0 turns it off.
    """

    def __init__(self, network: Network, tokenizer: Any, *, room: int) -> None:
        super().__init__(room=room)
        self._network, self._tokenizer = network, tokenizer
        self._before = len(self._ids([CLAIM])[0])

    def _ids(self, lines: list[str]) -> list[list[int]]:
        found: list[list[int]] = self._tokenizer(lines, add_special_tokens=False)["input_ids"]
        return found

    def _read(self, texts: Sequence[TextPair]) -> list[Logits]:
        if not texts:
            return []
        by_text: dict[str, list[int]] = {}
        for place, (_, text) in enumerate(texts):
            by_text.setdefault(text, []).append(place)
        claims = self._ids([line_of(CLAIM, claim) for claim, _ in texts])
        passages = self._ids([line_of(PASSAGE, text) for text in by_text])
        found: list[list[float]] = []
        owners: list[int] = []
        for ids, (text, places) in zip(passages, by_text.items(), strict=True):
            beside = [
                _Claim(claims[place][:MAX_CLAIM], features(texts[place][0], text))
                for place in places
            ]
            for window in self._windows(ids):
                found += self._about(window, beside)
                owners += places
        return best_windows(found, owners)

    def _windows(self, ids: list[int]) -> list[list[int]]:
        """A text of too many tokens in parts, each behind the word "Passage:"."""
        if len(ids) <= MAX_PASSAGE:
            return [ids]
        word = self._ids([PASSAGE])[0]
        rest, room = ids[len(word) :], MAX_PASSAGE - len(word)
        return [[*word, *rest[i : i + room]] for i in range(0, len(rest), room)]

    def _about(self, passage: list[int], claims: Sequence[_Claim]) -> list[list[float]]:
        """The logits (n, 3) of claims beside one text, in their order."""
        work = self._network.weights
        longest = max(len(claim.ids) for claim in claims)
        size = max(1, _BATCH_TOKENS // (len(passage) + longest))
        found: list[list[float]] = []
        with torch.inference_mode(), torch.autocast("cpu", enabled=False):
            between_batches()
            with threads_for(len(passage) * work):
                cache = self._network.passage(passage)
            for start in range(0, len(claims), size):
                between_batches()
                inputs = self._tensors(claims[start : start + size])
                with threads_for(inputs[0].numel() * work):
                    found += self._network(cache, *inputs).float().tolist()
        return found

    def _tensors(self, claims: Sequence[_Claim]) -> tuple[torch.Tensor, ...]:
        lengths = torch.tensor([len(claim.ids) for claim in claims])
        width = int(lengths.max())
        ids = torch.tensor([claim.ids + [0] * (width - len(claim.ids)) for claim in claims])
        places = torch.arange(width)[None, :]
        inside = (places >= self._before) & (places < lengths[:, None])
        return ids, inside, lengths - 1, torch.tensor([claim.features for claim in claims])


def line_of(word: str, text: str) -> str:
    """A line of the prompt: a word such as "Claim:", then the text on one line."""
    return f"{word} {' '.join(without_surrogates(text).split())}\n"
