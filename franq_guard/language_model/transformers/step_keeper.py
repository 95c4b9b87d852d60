"""Keeps log-probability, entropy and top-k of each step while ``generate`` runs."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import LogitsProcessor

from franq_guard.language_model.transformers.token_scores import (
    TokenScores,
    log_probs,
    scores_of,
    stack,
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
        self._steps: list[TokenScores] = []

    @torch.no_grad()
    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Keep what is needed from the (B, V) scores and return them unchanged."""
        if self._waiting is None:
            self.prompt = input_ids
        else:
            self._take(self._waiting, input_ids[:, -1])
        self._waiting = log_probs(scores)
        return scores

    def finish(self, answers: Tensor) -> TokenScores:
        """The scores (B, T) of the generated ids (B, T).

        ``generate`` may run one step more than it returns; that step is dropped. Raises
        ``ValueError`` if the steps cannot belong to the answers.
        """
        rows, steps = answers.shape
        waiting = self._waiting
        if waiting is None or len(waiting) != rows or not 0 < steps <= len(self._steps) + 1:
            raise ValueError("the recorded steps do not belong to the generated tokens")
        if len(self._steps) < steps:
            self._take(waiting, answers[:, -1])
        return stack(self._steps[:steps])

    def so_far(self, since: int = 0) -> tuple[Tensor, TokenScores] | None:
        """The ids (B, T) generated from step ``since`` on and their scores; None if there are none.

        A step is known when the next one begins. May be called from any thread while ``generate``
        runs: lists are only appended to, and the one that is appended to last gives the number of
        steps.
        """
        steps = len(self._steps)
        if steps <= since:
            return None
        return torch.stack(self._chosen[since:steps], dim=1), stack(self._steps[since:steps])

    def _take(self, rows: Tensor, chosen: Tensor) -> None:
        """Keep the scores of the ids (B,) that were chosen by these log-probabilities (B, V)."""
        self._chosen.append(chosen.clone())  # a view would keep the prompt and all ids before it
        self._steps.append(scores_of(rows, chosen.to(rows.device), self._top_k))
