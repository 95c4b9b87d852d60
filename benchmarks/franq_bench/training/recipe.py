"""The numbers of the training recipe."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The settings that decide the trained weights, besides the data.

    The learning rates rise during the first `warm_up` share of the run and then fall to zero.
    """

    epochs: int = 1
    generated: int = 22_000
    batch_tokens: int = 3000
    rate: float = 1.2e-4
    head_rate: float = 5e-4
    warm_up: float = 0.04
    weight_decay: float = 0.01
    dropout: float = 0.0
    averaging: float = 0.998
    seed: int = 20
