"""The protocol of every language model, and the two records it takes and returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from franq_guard.basics.failures import OwnMessage
from franq_guard.records import Generation, Reason, Trace

Progress = Callable[[int, int], None]
"""Called with (prompts done, prompts in all) after every batch."""


class MissingModelError(RuntimeError, OwnMessage):
    """A model is not installed; the message says how to install it."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt before any chat template: the system text (may be empty) and the user message."""

    system: str
    user: str


def plain_text(prompt: Prompt) -> str:
    """A prompt for a model without a chat template; it ends in ``Answer:``."""
    return "\n\n".join(part for part in (prompt.system, prompt.user) if part) + "\n\nAnswer:"


@dataclass(frozen=True, slots=True)
class Contrast:
    """The prompt for Parametric Knowledge: what the model would have seen without the passages.

    If ``prompt`` is None, ``reason`` says why. ``found`` of ``total`` passages were in the captured
    prompt; ``residue`` in [0, 1] is the share of their four-word sequences that is still in it.
    """

    prompt: str | None
    reason: Reason | None
    found: int
    total: int
    residue: float


def check_sampling(n: int, max_new_tokens: int, temperature: float) -> None:
    """Raise ``ValueError`` for settings with which nothing can be sampled."""
    if n < 1 or max_new_tokens < 1 or not temperature > 0:
        raise ValueError("sampling needs n >= 1, max_new_tokens >= 1 and temperature > 0")


class LanguageModel(Protocol):
    """A white-box model. Log-probabilities are nats of the full distribution at temperature 1."""

    @property
    def fingerprint(self) -> str:
        """Name, weights digest and dtype; ties a calibrator to the model it was fitted for."""
        ...

    def render(self, prompt: Prompt) -> str:
        """The exact string for the model, by its chat template; plain text if it has none."""
        ...

    def generate(
        self,
        prompts: Sequence[str],
        *,
        max_new_tokens: int = 128,
        progress: Progress | None = None,
    ) -> list[Generation]:
        """One greedy answer per prompt, source ``captured``, with the prompt's text and ids."""
        ...

    def sample(
        self,
        prompts: Sequence[str],
        *,
        n: int = 10,
        max_new_tokens: int = 32,
        temperature: float = 1.0,
        seed: int = 0,
    ) -> list[list[Generation]]:
        """``n`` samples per prompt, no top-k or top-p; duplicates are kept."""
        ...

    def score(
        self, prompts: Sequence[str | Sequence[int]], answers: Sequence[Generation]
    ) -> list[Generation]:
        """The answers with each token's log-probability after the prompt (``teacher-forced``)."""
        ...

    def without_evidence(self, trace: Trace) -> Contrast:
        """The trace's prompt without the passages, or the reason why there is none."""
        ...


def is_foreign(written: Generation, model: LanguageModel) -> bool:
    """Whether another model wrote it: ids of tokens and prompt may be of another vocabulary."""
    return written.writer is not None and written.writer != model.fingerprint
