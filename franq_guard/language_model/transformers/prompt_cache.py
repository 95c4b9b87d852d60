"""The cache of a prompt, which samples, a greedy answer and further questions share."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from franq_guard.basics.text import common_start
from franq_guard.language_model.transformers.network import Network, keeps_all
from franq_guard.language_model.transformers.token_scores import TokenScores, scores_of_chunks


class PromptCache:
    """The cache of a prompt's ids and the logits (1, V) after them; not thread-safe.

    For a text that begins with a part of the cached ids, only the rest is computed. If the
    architecture's cache cannot be cut, everything is computed each time; the numbers are the same.
    """

    @torch.inference_mode()
    def __init__(self, network: Network, prompt: Sequence[int]) -> None:
        self.network = network
        self.prompt = list(prompt)
        self.logits, self.cache = network.prefill(prompt)
        self._held = list(prompt)

    @property
    def one_row(self) -> bool:
        """Whether all branches can be in one row of the cache (see :meth:`Network.branch`)."""
        return self.network.branches and keeps_all(self.cache)

    def branches(self) -> Branches:
        """An empty tree of continuations of the prompt; what was read after it is forgotten."""
        self._hold_prompt()
        return Branches(self)

    def copied(self) -> Any:
        """A copy of the cache that holds the prompt alone; None where there is no cache."""
        self._hold_prompt()
        return copy.deepcopy(self.cache)

    @torch.inference_mode()
    def score(
        self, context: Sequence[int], targets: Sequence[int], *, top_k: int = 0
    ) -> TokenScores:
        """The scores of each target (T,) after the context, which begins like the prompt."""
        ids = [*context, *targets][:-1]
        start = min(common_start(self._held, ids), len(context) - 1)
        if keeps_all(self.cache):
            self._cut(start)
        else:
            start, self.cache = 0, None
        # Kept only once everything is read: a cache that is half filled is of no use.
        cache, self.cache, self._held = self.cache, None, []
        rows = torch.arange(len(context) - 1 - start, len(ids) - start)
        at = rows.to(self.network.device)
        new = self.network.tensor([ids[start:]])
        chosen = torch.tensor(targets, device=self.network.device)
        logits = self.network.logits_at(new, torch.zeros_like(at), at, cache)
        kept = scores_of_chunks(logits, chosen, top_k)
        if cache is not None:
            self.cache, self._held = cache, ids
        return kept

    def _hold_prompt(self) -> None:
        """Let the cache hold the prompt alone, whatever was read since."""
        if common_start(self._held, self.prompt) < len(self.prompt):
            self.logits, self.cache = self.network.prefill(self.prompt)
        else:
            self._cut(len(self.prompt))
        self._held = self.prompt[:]

    def _cut(self, length: int) -> None:
        if self.cache is not None and (extra := self.cache.get_seq_length() - length) > 0:
            self.cache.crop(-extra)


class Branches:
    """A tree of continuations in one row of the cache; each sees the prompt and its own path.

    Without it, ten samples of a prompt of 900 tokens need ten copies of the prompt's keys and
    values, and read them at every step (39 MB each for a model of 135 million parameters in
    float32, compared with 540 MB of weights that a step has to read anyway).
    """

    def __init__(self, cache: PromptCache) -> None:
        self._prompt = cache
        self._length = len(cache.prompt)
        self._depth = 0
        self._path = torch.ones((1, 0), dtype=torch.bool, device=cache.network.device)

    def step(self, ids: Sequence[int], parents: Sequence[int]) -> Tensor:
        """Logits (B, V) after one more id per branch; ``parents``: the branch each continues."""
        network, device = self._prompt.network, self._path.device
        known = self._path[torch.tensor(parents, device=device)]
        self._path = torch.cat([known, torch.eye(len(ids), dtype=torch.bool, device=device)], 1)
        prompt = torch.ones((len(ids), self._length), dtype=torch.bool, device=device)
        seen = torch.cat([prompt, self._path], 1)
        position = self._length + self._depth
        self._depth += 1
        return network.branch(ids, position, seen, self._prompt.cache)
