"""The score matrix of a benchmark: the label of each question or claim and each method's score.

It contains identifiers, labels and numbers, no text; every table can be recomputed from it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from franq_guard.datasets.jsonl import numbered_lines, write_rows
from franq_guard.franq import FloatArray

Split = Literal["train", "test"]

__all__ = ["BY_ALIAS", "GOLD", "MARKS", "TRAINED_ON", "Score", "Scores", "Split"]

FILE = "scores.jsonl"
GOLD = "gold-faithful"
"""Key under which rows may carry gold faithfulness, 0 or 1."""
TRAINED_ON = "passage-trained-on"
"""Key of 1 where the small faithfulness model was trained on a row's gold passage, else 0."""
BY_ALIAS = "true-by-gold-alias"
"""Key of the label that the gold aliases give, 0 or 1, where the true one is known by reading."""
MARKS = (GOLD, TRAINED_ON, BY_ALIAS)
"""Keys of a row's ``scores`` that are not methods and must not be used as features."""


@dataclass(frozen=True, slots=True)
class Score:
    """One question or claim.

    Args:
        id: unique in its data set.
        dataset: name of the data set; "mean" is taken.
        split: train (what calibrations were fitted on) or test.
        is_true: its label.
        scores: by method, higher = more likely true; None where not measured.
        group: the answer it is a claim of; claims of one answer are resampled together.

    Raises:
        ValueError: where a value is of the wrong kind.
    """

    id: str
    dataset: str
    split: Split
    is_true: bool
    scores: Mapping[str, float | None]
    group: str | None = None

    def __post_init__(self) -> None:
        for key in ("id", "dataset"):
            if not isinstance(getattr(self, key), str):
                raise ValueError(f"{key} must be text, not {getattr(self, key)!r}")
        if self.dataset == "mean":
            raise ValueError("a data set cannot be called 'mean': that is the tables' last column")
        if self.split not in ("train", "test"):
            raise ValueError(f"split must be 'train' or 'test', not {self.split!r}")
        if self.is_true not in (0, 1):
            raise ValueError(f"is_true must be 0 or 1, not {self.is_true!r}")
        if not isinstance(self.scores, Mapping):
            raise ValueError("scores must be an object: method -> number or null")
        if self.group is not None and not isinstance(self.group, str):
            raise ValueError(f"group must be text or null, not {self.group!r}")
        object.__setattr__(self, "is_true", bool(self.is_true))
        object.__setattr__(self, "scores", {m: _finite(m, v) for m, v in self.scores.items()})

    @classmethod
    def from_dict(cls, data: Any) -> Score:
        """A row of ``scores.jsonl``; raises ValueError where it does not fit."""
        if not isinstance(data, Mapping):
            raise ValueError("a row must be an object")
        if missing := {"id", "dataset", "split", "is_true", "scores"} - set(data):
            raise ValueError(f"the row lacks {', '.join(sorted(missing))}")
        return cls(
            id=data["id"],
            dataset=data["dataset"],
            split=data["split"],
            is_true=data["is_true"],
            scores=data["scores"],
            group=data.get("group"),
        )

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON; ``group`` only where there is one."""
        row = {key: getattr(self, key) for key in ("id", "dataset", "split")}
        row |= {"is_true": int(self.is_true), "scores": dict(self.scores)}
        return row if self.group is None else row | {"group": self.group}


@dataclass(frozen=True, slots=True)
class Scores:
    """All rows of a benchmark, in order.

    Raises:
        ValueError: where two rows of a data set have the same id.
    """

    rows: tuple[Score, ...]

    def __post_init__(self) -> None:
        seen: set[tuple[str, str]] = set()
        for row in self.rows:
            if (row.dataset, row.id) in seen:
                raise ValueError(f"the id {row.id!r} is there twice in data set {row.dataset!r}")
            seen.add((row.dataset, row.id))

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Scores:
        """From rows as ``scores.jsonl`` holds them."""
        return cls(tuple(Score.from_dict(row) for row in rows))

    @classmethod
    def read(cls, folder: Path) -> Scores:
        """From a benchmark's folder.

        Raises:
            FileNotFoundError: where there is no ``scores.jsonl``.
            ValueError: naming the line that does not fit.
        """
        return cls(tuple(_rows(folder / FILE)))

    def write(self, folder: Path) -> None:
        """Into a benchmark's folder, which is made."""
        write_rows(folder / FILE, (row.to_dict() for row in self.rows))

    @property
    def datasets(self) -> tuple[str, ...]:
        """In the order of their first rows."""
        return tuple(dict.fromkeys(row.dataset for row in self.rows))

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods, in the order of their first mention, without :data:`MARKS`."""
        found = dict.fromkeys(method for row in self.rows for method in row.scores)
        return tuple(method for method in found if method not in MARKS)

    def part(self, dataset: str, split: Split = "test") -> Scores:
        """The rows of one data set and split."""
        return Scores(tuple(r for r in self.rows if r.dataset == dataset and r.split == split))

    def is_true(self) -> FloatArray:
        """(n,) of 0/1."""
        return np.array([row.is_true for row in self.rows], float)

    def of_method(self, method: str) -> FloatArray:
        """(n,) confidences, NaN where not measured."""
        found = [row.scores.get(method) for row in self.rows]
        return np.array([math.nan if score is None else score for score in found], float)

    def groups(self) -> NDArray[np.int64]:
        """(n,): number of each row's answer, from 0; a row without ``group`` stands alone."""
        # Names are unique in a data set; the flag distinguishes an id from an equal group name.
        keys = [
            (r.dataset, r.group is None, r.id if r.group is None else r.group) for r in self.rows
        ]
        numbers = {key: at for at, key in enumerate(dict.fromkeys(keys))}
        return np.array([numbers[key] for key in keys], np.int64)


def _rows(file: Path) -> Iterator[Score]:
    if not file.is_file():
        raise FileNotFoundError(
            f"no {file.name} in {file.parent}: give the folder that `franq bench` wrote (--out)"
        )
    for at, line in numbered_lines(file):
        try:
            yield Score.from_dict(json.loads(line))
        except ValueError as error:
            raise ValueError(f"{file.name}, line {at}: {error}") from None


def _finite(method: str, score: Any) -> float | None:
    if score is None or (isinstance(score, float) and math.isnan(score)):
        return None
    try:
        value = float(score)
    except (TypeError, ValueError):
        raise ValueError(f"the score of {method!r} must be a number, not {score!r}") from None
    if not math.isfinite(value):
        raise ValueError(f"the score of {method!r} must be finite (null: not measured)")
    return value
