"""Keeps log-probability, entropy and top-k of each step while ``generate`` runs."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import LogitsProcessor

from franq_guard.language_model.transformers.token_scores import (
    TokenScores,
    entropy_and_top,
    log_probs,
)


class StepKeeper(LogitsProcessor):  # type: ignore[misc]
    """A logits processor that changes nothing; all tensors stay on the device until :meth:`finish`.

    The token chosen at a step is known only at the next step, so one row of log-probabilities per
    sequence is kept until then, and never more. It must be the first in the list of processors to
    get the model's own distribution.
    """

    def __init__(self, top_k: int) -> None:
        self.prompt: Tensor | None = None
        self._top_k = top_k
        self._waiting: Tensor | None = None
        self._chosen: list[Tensor] = []
        self._logprobs: list[Tensor] = []
        self._entropies: list[Tensor] = []
        self._top: list[tuple[Tensor, Tensor]] = []

    @torch.no_grad()
    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Keep what is needed from the (B, V) scores and return them unchanged."""
        if self._waiting is None:
            self.prompt = input_ids
        else:
            self._take(input_ids[:, -1])
        self._waiting = log_probs(scores)
        entropy, top_ids, top = entropy_and_top(self._waiting, self._top_k)
        self._entropies.append(entropy)
        self._top.append((top_ids, top))
        return scores

    def finish(self, answers: Tensor) -> TokenScores:
        """The scores (B, T) of the generated ids (B, T).

        ``generate`` may run one step more than it returns; that step is dropped. Raises
        ``ValueError`` if the steps cannot belong to the answers.
        """
        steps = answers.shape[1]
        if self._waiting is None or len(self._entropies) < steps or not steps:
            raise ValueError("the recorded steps do not belong to the generated tokens")
        if len(self._logprobs) < steps:
            self._take(answers[:, steps - 1])
        if self._waiting.shape[0] != answers.shape[0] or len(self._logprobs) < steps:
            raise ValueError("the recorded rows do not belong to the generated tokens")
        return self._kept(steps)

    def so_far(self, since: int = 0) -> tuple[Tensor, TokenScores] | None:
        """The ids (B, T) generated from step ``since`` on and their scores; None if there are none.

        A step is known when the next one begins. May be called from any thread while ``generate``
        runs: lists are only appended to, and the one that is appended to last gives the number of
        steps.
        """
        steps = len(self._logprobs)
        if steps <= since:
            return None
        return torch.stack(self._chosen[since:steps], dim=1), self._kept(steps, since)

    def _kept(self, steps: int, since: int = 0) -> TokenScores:
        """The scores (B, T) of the first steps, from step ``since`` on."""
        top_ids, top = zip(*self._top[since:steps], strict=True)
        return TokenScores(
            torch.stack(self._logprobs[since:steps], dim=1),
            torch.stack(self._entropies[since:steps], dim=1),
            torch.stack(top_ids, dim=1),
            torch.stack(top, dim=1),
        )

    def _take(self, chosen: Tensor) -> None:
        assert self._waiting is not None  # noqa: S101 - set by the step before
        self._chosen.append(chosen)
        index = chosen.to(self._waiting.device).unsqueeze(1)
        self._logprobs.append(self._waiting.gather(1, index).squeeze(1))
