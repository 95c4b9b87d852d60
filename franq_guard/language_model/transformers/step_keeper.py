"""What is kept of each step while ``generate`` runs: log-probability, entropy, top-k."""

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
    """A logits processor that changes nothing. Everything stays on the device until :meth:`finish`.

    The token chosen at a step is known only at the next one, so one row of log-probabilities per
    sequence waits for it; no more are ever held. It must stand first in the list of processors to
    see the model's own distribution.
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
        """Keeps what is needed of (B, V) scores; returns them as they are."""
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
        """What was kept (B, T) of the written ids (B, T).

        ``generate`` may run a step further than it reports; that step is dropped. Raises
        ``ValueError`` where the steps cannot be those of the answers.
        """
        steps = answers.shape[1]
        if self._waiting is None or len(self._entropies) < steps or not steps:
            raise ValueError("the steps that were kept are not those of the written tokens")
        if len(self._logprobs) < steps:
            self._take(answers[:, steps - 1])
        if self._waiting.shape[0] != answers.shape[0] or len(self._logprobs) < steps:
            raise ValueError("the rows that were kept are not those of the written tokens")
        return self._kept(steps)

    def so_far(self) -> tuple[Tensor, TokenScores] | None:
        """The ids (B, T) written so far and what was kept of them; None before the second step.

        From any thread, while ``generate`` runs: lists only grow, and the last list to do so is
        the one that is counted.
        """
        steps = len(self._logprobs)
        if not steps:
            return None
        return torch.stack(self._chosen[:steps], dim=1), self._kept(steps)

    def _kept(self, steps: int) -> TokenScores:
        """What was kept (B, T) of the first steps."""
        top_ids, top = zip(*self._top[:steps], strict=True)
        return TokenScores(
            torch.stack(self._logprobs[:steps], dim=1),
            torch.stack(self._entropies[:steps], dim=1),
            torch.stack(top_ids, dim=1),
            torch.stack(top, dim=1),
        )

    def _take(self, chosen: Tensor) -> None:
        assert self._waiting is not None  # noqa: S101 - set by the step before
        self._chosen.append(chosen)
        index = chosen.to(self._waiting.device).unsqueeze(1)
        self._logprobs.append(self._waiting.gather(1, index).squeeze(1))
