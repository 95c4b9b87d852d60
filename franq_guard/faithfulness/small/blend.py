"""From the encoder's logits and the overlap features to a calibrated probability.

A logistic regression, fitted on pairs held back from training. It keeps what plain overlap knows
better than a small encoder, and makes the result a probability.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from franq_guard.faithfulness.small.features import FEATURES

Floats = NDArray[np.float64]

INPUTS = ("margin", "contradiction", *FEATURES)


@dataclass(frozen=True, slots=True)
class Blend:
    """Weights of `INPUTS`, an intercept, and the temperature of the three classes."""

    weights: tuple[float, ...]
    intercept: float
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if len(self.weights) != len(INPUTS):
            raise ValueError(f"expected {len(INPUTS)} weights, got {len(self.weights)}")

    def probability(self, inputs: Floats) -> Floats:
        """Return P(faithful) (n,) of inputs (n, len(INPUTS))."""
        score = inputs @ np.asarray(self.weights) + self.intercept
        return np.asarray(1 / (1 + np.exp(-np.clip(score, -50, 50))), dtype=np.float64)

    def classes(self, logits: Floats) -> Floats:
        """Return the probabilities (n, 3) of logits (n, 3)."""
        scaled = logits / self.temperature
        grown = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        return np.asarray(grown / grown.sum(axis=1, keepdims=True), dtype=np.float64)

    def to_json(self) -> str:
        """Return the blend as JSON."""
        values = {
            "inputs": INPUTS,
            "weights": self.weights,
            "intercept": self.intercept,
            "temperature": self.temperature,
        }
        return json.dumps(values)

    @classmethod
    def from_json(cls, text: str) -> Blend:
        """Read what `to_json` wrote.

        Raises:
            ValueError: it was made for other inputs.
        """
        values = json.loads(text)
        if tuple(values["inputs"]) != INPUTS:
            raise ValueError("the weights were made for another version of this code")
        return cls(tuple(values["weights"]), values["intercept"], values["temperature"])


def plain() -> Blend:
    """Return the blend that is the encoder alone: sigmoid of its margin."""
    return Blend((1.0,) + (0.0,) * (len(INPUTS) - 1), 0.0)


def inputs(logits: Floats, features: list[float]) -> list[float]:
    """Return `INPUTS` for one piece of a claim.

    Args:
        logits: (chunks, 3) of the piece against every chunk of its context.
        features: of the piece and the whole context.

    Returns:
        The best chunk's log-odds of entailment, the most contradicting chunk's probability of
        contradiction, and the features.
    """
    top = logits.max(axis=1, keepdims=True)
    grown = np.exp(logits - top)
    log_other = np.log(grown[:, 1] + grown[:, 2]) + top[:, 0]
    margin = float((logits[:, 0] - log_other).max())
    contradiction = float((grown[:, 2] / grown.sum(axis=1)).max())
    return [math.copysign(min(abs(margin), 12.0), margin), contradiction, *features]
