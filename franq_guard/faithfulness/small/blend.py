"""Combines the encoder's logits with counted features into a calibrated probability.

A logistic regression, fitted on pairs held out from training. It adds word overlap, which a small
encoder measures poorly, and turns the result into a probability. The claim is compared with three
texts: the sentence nearest to it, the chunk that supports it best, and everything that was
retrieved. The first two do not depend on the number of passages; with thirty passages, nearly every
number or name of a claim is found somewhere.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from franq_guard.faithfulness.small.facts import FACTS
from franq_guard.faithfulness.small.features import FEATURES
from franq_guard.faithfulness.small.replaced import REPLACED, Replaced

Floats = NDArray[np.float64]

_COUNTED: Final = FEATURES[:-2]
"""The features without the two lengths, which are separate inputs."""
INPUTS: Final = (
    "margin",
    "contradiction",
    "sentence_margin",
    "sentence_contradiction",
    "best_margin",  # the larger of the two
    "entailment",  # its probability
    *(f"{text}_{joined}" for text in ("sentence", "chunk", "all") for joined in ("both", "either")),
    *(f"sentence_{name}" for name in _COUNTED),
    *(f"chunk_{name}" for name in (*_COUNTED, *FACTS)),
    "all_content",
    "all_numbers_missing",
    "all_names",
    "cosine",  # of the sentence embeddings of claim and nearest chunk
    "claim_length",
    "chunks",  # log of their number, divided by 3
    *REPLACED,
)
LARGEST_MARGIN: Final = 8.0
_RATHER: Final = 0.5


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

    def against(self, changed: Sequence[float]) -> float:
        """Return the log-odds by which a fact that is all that differs refutes a claim, else 0.

        The same fact takes as much from P(faithful), which is where the weights come from: they
        were fitted on the fitting fold. Of 68 pairs there that have one (FM2, FEVER symmetric,
        MNLI, SNLI, written) 66 are contradictions and 2 neutral; the mean of -log P of their
        classes falls from .57 to .18, as with the best constant (3.5). On 75 of the training fold
        (73 contradictions, 2 entailed) it falls from .59 to .13. (The exception that `classes`
        makes is left out of these figures.)

        Args:
            changed: `REPLACED` of the claim; values above 1 are of what alone differs.
        """
        weights = self.weights[-len(REPLACED) :]
        signs = zip(weights, changed, strict=True)
        return max((0.0, *(-weight * value for weight, value in signs if value > 1)))

    def classes(self, logits: Floats, against: Floats) -> Floats:
        """Return the probabilities (n, 3) of logits (n, 3).

        Args:
            logits: the encoder's.
            against: log-odds (n,) that are added to the contradiction's, unless the encoder finds
                that the text entails the claim: another sentence of it may state what the nearest
                one does not.
        """
        scaled = logits / self.temperature
        scaled[:, 2] += np.where(_softmax(scaled)[:, 0] > _RATHER, 0.0, against)
        return _softmax(scaled)

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
            ValueError: the text was written for other inputs.
        """
        values = json.loads(text)
        if tuple(values["inputs"]) != INPUTS:
            raise ValueError("the weights were made for another version of this code")
        return cls(tuple(values["weights"]), values["intercept"], values["temperature"])


def encoder_alone() -> Blend:
    """Return the blend that uses only the encoder: the sigmoid of its margin."""
    return Blend((1.0,) + (0.0,) * (len(INPUTS) - 1), 0.0)


def _softmax(logits: Floats) -> Floats:
    grown = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=1, keepdims=True), dtype=np.float64)


def margins(logits: Floats) -> tuple[Floats, Floats]:
    """Return log-odds of entailment, clipped to [-8, 8], and P(contradiction), of logits (n, 3)."""
    top = logits.max(axis=1, keepdims=True)
    grown = np.exp(logits - top)
    log_other = np.log(grown[:, 1] + grown[:, 2]) + top[:, 0]
    margin = np.clip(logits[:, 0] - log_other, -LARGEST_MARGIN, LARGEST_MARGIN)
    return margin, grown[:, 2] / grown.sum(axis=1)


def inputs(
    chunks: Floats,
    sentences: Floats,
    near: list[float],
    chunk: list[float],
    whole: list[float],
    cosine: float,
    changed: Replaced,
) -> list[float]:
    """Return `INPUTS` for one piece of a claim.

    Args:
        chunks: logits (n, 3) of the piece against every chunk of its context.
        sentences: logits (m, 3) against the sentences nearest to it.
        near: `FEATURES` of the piece and the best of those sentences.
        chunk: `FEATURES` and `FACTS` of the piece and the best chunk.
        whole: `FEATURES` of the piece and the whole context.
        cosine: of the piece and the chunk nearest to it.
        changed: what the piece replaces of the sentences nearest to it.
    """
    margin, contradiction = margins(chunks)
    closer, against = margins(sentences)
    counted = [*near[: len(_COUNTED)], *chunk[: len(_COUNTED)], *chunk[len(FEATURES) :]]
    named = dict(zip(FEATURES, whole, strict=True))
    best = float(max(margin.max(), closer.max()))
    content = FEATURES.index("content")
    return [
        float(margin.max()),
        float(contradiction.max()),
        float(closer.max()),
        float(against[closer.argmax()]),
        best,
        *_joined(best, near[content], chunk[content], whole[content]),
        *counted,
        named["content"],
        named["numbers_missing"],
        named["names"],
        cosine,
        named["claim_length"],
        math.log1p(len(chunks)) / 3,
        *changed,
    ]


def _joined(margin: float, *shares: float) -> list[float]:
    """The probability of entailment, and for each share of words: of both, and of either, with it.

    A network that is sure of a paraphrase outweighs missing words, and shared words do not outweigh
    a network that is sure of the opposite. Probabilistic and, and or: each grows with either value,
    so that support for a claim never lowers its score.
    """
    entailed = 1 / (1 + math.exp(-margin))
    both = [entailed * share for share in shares]
    pairs = zip(both, shares, strict=True)
    return [entailed, *(v for one, share in pairs for v in (one, entailed + share - one))]
