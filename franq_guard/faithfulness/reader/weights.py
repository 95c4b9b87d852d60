"""From the small model's probability and a claim's likelihood to one probability.

A logistic regression with three numbers. Its file is JSON and names the two models it was fitted
with: beside others the numbers mean something else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FORMAT: Final = "franq.reader/1"
FILE: Final = Path(__file__).parent / "weights" / "reader.json"
_LARGEST_ODDS: Final = 8.0


class ReaderWeightsError(RuntimeError):
    """The weights are damaged, or were fitted with other models; the message says what to do."""


def log_odds(probabilities: Sequence[float] | Floats) -> Floats:
    """Return the log-odds of probabilities, at most 8 in size."""
    p = np.clip(np.asarray(probabilities, dtype=np.float64), 1e-12, 1 - 1e-12)
    return np.clip(np.log(p / (1 - p)), -_LARGEST_ODDS, _LARGEST_ODDS)


@dataclass(frozen=True, slots=True)
class ReaderWeights:
    """What the two inputs weigh, and the fingerprints of the models they were fitted with.

    Args:
        odds: of the log-odds of the small model's P(faithful).
        likelihood: of the claim's mean log-probability (nats), see `reading.likelihoods`.
        intercept: added to both.
        small: the small model's fingerprint.
        language_model: the language model's.
    """

    odds: float
    likelihood: float
    intercept: float
    small: str
    language_model: str

    def probability(self, small: Sequence[float], likelihoods: Sequence[float]) -> list[float]:
        """Return P(faithful) of each claim; NaN where its likelihood is NaN."""
        score = self.odds * log_odds(small) + self.likelihood * np.asarray(likelihoods, float)
        return [float(p) for p in 1 / (1 + np.exp(-np.clip(score + self.intercept, -50, 50)))]

    def check(self, *, small: str, language_model: str) -> None:
        """Refuse models that the weights were not fitted with.

        Raises:
            ReaderWeightsError: naming the models.
        """
        for fitted, used in ((self.small, small), (self.language_model, language_model)):
            if fitted != used:
                raise ReaderWeightsError(
                    f"the reader's weights were fitted with {fitted}, not with {used}; "
                    "`python -m franq_bench.training.reader` fits them again"
                )

    @property
    def digest(self) -> str:
        """Eight hex digits of all of it."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:8]

    def to_json(self) -> str:
        """Return the weights as JSON."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=1) + "\n"

    @classmethod
    def load(cls, path: Path = FILE) -> ReaderWeights:
        """Read what `to_json` wrote.

        Raises:
            ReaderWeightsError: the file is missing, damaged or of another version.
        """
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            if values.pop("format") != FORMAT:
                raise ValueError(f"its format is not {FORMAT}")
            return cls(**values)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ReaderWeightsError(f"the reader's weights in {path.name}: {error}") from error
