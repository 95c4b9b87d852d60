"""The numbers of the training recipe."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The settings that decide the trained weights, besides the data.

    The learning rates rise during the first `warm_up` share of the run and then fall to zero. Each
    epoch draws anew: the share `repeated` of the labelled pairs of other people's sets, all written
    ones (`data.written`), and `generated` pairs made from passages.
    """

    epochs: int = 3
    generated: int = 16_000
    repeated: float = 0.6
    batch_tokens: int = 3000
    rate: float = 1.2e-4
    head_rate: float = 5e-4
    warm_up: float = 0.04
    weight_decay: float = 0.01
    dropout: float = 0.1
    averaging: float = 0.998
    seed: int = 20
