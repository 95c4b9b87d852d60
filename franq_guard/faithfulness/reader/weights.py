"""From a claim's reading and the small model's probability to one probability.

A logistic regression. Its file is JSON and names the two models it was fitted with: beside others
the numbers mean something else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np

from franq_guard.faithfulness.reader.reading import Floats, Reading

FORMAT: Final = "franq.reader/1"
FILE: Final = Path(__file__).parent / "weights" / "reader.json"
SMALL: Final = "small"
"""The input that is the log-odds of the small model's P(faithful)."""
_LARGEST_ODDS: Final = 8.0
_COLUMNS: Final[Mapping[str, Callable[[Reading], Floats]]] = {
    "given": lambda reading: reading.given,
    "alone": lambda reading: reading.alone,
    "gain": lambda reading: reading.given - reading.alone,
    "entropy": lambda reading: reading.entropy,
}
_STATISTICS: Final[Mapping[str, Callable[[Floats], float]]] = {
    "sum": lambda column: float(column.sum()),
    "mean": lambda column: float(column.mean()),
    "lowest": lambda column: float(column.min()),
    "highest": lambda column: float(column.max()),
    "spread": lambda column: float(column.std()),
}
NUMBERS: Final = tuple(f"{column}_{name}" for column in _COLUMNS for name in _STATISTICS)
"""What is computed of a reading. The gain is what the passage adds to a token's log-probability."""


class ReaderWeightsError(RuntimeError):
    """The weights are damaged, or were fitted with other models; the message says what to do."""


def numbers(reading: Reading) -> list[float]:
    """Return `NUMBERS` of a reading, in nats."""
    columns = [column(reading) for column in _COLUMNS.values()]
    return [statistic(column) for column in columns for statistic in _STATISTICS.values()]


def log_odds(probabilities: Sequence[float] | Floats) -> Floats:
    """Return the log-odds of probabilities, at most 8 in size."""
    p = np.clip(np.asarray(probabilities, dtype=np.float64), 1e-12, 1 - 1e-12)
    return np.clip(np.log(p / (1 - p)), -_LARGEST_ODDS, _LARGEST_ODDS)


def table(small: Sequence[float], readings: Sequence[Reading], names: Sequence[str]) -> Floats:
    """Return the named inputs (n, len(names)) of n claims; `SMALL` is one that may be named."""
    rows = np.array([numbers(reading) for reading in readings]).reshape(-1, len(NUMBERS))
    every = np.column_stack([log_odds(small), rows])
    return every[:, [(SMALL, *NUMBERS).index(name) for name in names]]


@dataclass(frozen=True, slots=True)
class ReaderWeights:
    """Weight of each input, and the fingerprints of the two models they were fitted with."""

    weights: Mapping[str, float]
    intercept: float
    small: str
    language_model: str

    def __post_init__(self) -> None:
        unknown = set(self.weights) - {SMALL, *NUMBERS}
        if unknown:
            raise ValueError(f"unknown inputs: {', '.join(sorted(unknown))}")

    def probability(self, small: Sequence[float], readings: Sequence[Reading]) -> list[float]:
        """Return P(faithful) of each claim; NaN where the language model gave NaN."""
        inputs = table(small, readings, tuple(self.weights))
        score = inputs @ np.array(list(self.weights.values())) + self.intercept
        return [float(p) for p in 1 / (1 + np.exp(-np.clip(score, -50, 50)))]

    def check(self, *, small: str, language_model: str) -> None:
        """Refuse models that the weights were not fitted with.

        Raises:
            ReaderWeightsError: naming the models.
        """
        for fitted, used in ((self.small, small), (self.language_model, language_model)):
            if fitted != used:
                raise ReaderWeightsError(
                    f"the reader's weights were fitted with {fitted}, not with {used}; fit your "
                    "own with `python -m franq_bench.training.reader`"
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
