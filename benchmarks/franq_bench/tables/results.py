"""The results of a benchmark: ``results.json``, and its rows recomputed from the scores."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from franq_bench.tables.resampling import METRICS, bootstrap, standard_error, value
from franq_bench.tables.scores import Score, Scores
from franq_guard.franq import FloatArray
from franq_guard.report.tables import Table

__all__ = ["METRICS", "SCHEMA", "Dataset", "Results", "Row", "Score", "Scores",
           "figures_of", "firsts", "metric_rows", "of_all", "place", "rounded"]  # fmt: skip

SCHEMA = "franq.bench/1"
FILE = "results.json"
MEAN = "mean"
_Made = TypeVar("_Made", "Dataset", "Row")


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data set as it was used; ``accuracy``: share of true answers (claims) among the test rows.

    ``not_attempted``: refusals, left out of everything else.
    """

    name: str
    n_train: int
    n_test: int
    accuracy: float | None = None
    not_attempted: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A method on a data set ("mean": over them), each figure with its bootstrap standard error.

    None: not defined (one class only; ECE of scores outside [0, 1]) or not measured on every row.
    """

    dataset: str
    method: str
    pr_auc: float | None = None
    pr_auc_se: float | None = None
    prr: float | None = None
    prr_se: float | None = None
    auroc: float | None = None
    auroc_se: float | None = None
    ece: float | None = None
    ece_se: float | None = None

    def figure(self, metric: str) -> tuple[float | None, float | None]:
        """A metric and its standard error."""
        return getattr(self, metric), getattr(self, f"{metric}_se")


@dataclass(frozen=True, slots=True)
class Results:
    """The contents of ``results.json``."""

    settings: Mapping[str, Any]
    versions: Mapping[str, Any]
    datasets: tuple[Dataset, ...]
    rows: tuple[Row, ...]
    tables: tuple[Table, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """As JSON (``franq.bench/1``)."""
        return {
            "schema": SCHEMA,
            "settings": dict(self.settings),
            "versions": dict(self.versions),
            "datasets": [asdict(d) for d in self.datasets],
            "rows": [asdict(row) for row in self.rows],
            "tables": [table.to_dict() for table in self.tables],
        }

    @classmethod
    def from_dict(cls, data: Any) -> Results:
        """From JSON.

        Raises:
            ValueError: naming what does not fit.
        """
        if not isinstance(data, Mapping) or data.get("schema") != SCHEMA:
            found = data.get("schema") if isinstance(data, Mapping) else type(data).__name__
            raise ValueError(f"not a {SCHEMA} file: its schema is {found!r}")
        if missing := {"settings", "versions", "datasets", "rows"} - set(data):
            raise ValueError(f"the results lack {', '.join(sorted(missing))}")
        for key in ("settings", "versions"):
            if not isinstance(data[key], Mapping):
                raise ValueError(f"{key} must be an object")
        for key in ("datasets", "rows", "tables"):
            if not isinstance(data.get(key, []), list):
                raise ValueError(f"{key} must be a list")
        return cls(
            settings=data["settings"],
            versions=data["versions"],
            datasets=tuple(_made(Dataset, row) for row in data["datasets"]),
            rows=tuple(_made(Row, row) for row in data["rows"]),
            tables=tuple(Table.from_dict(table) for table in data.get("tables", [])),
        )

    @classmethod
    def read(cls, folder: Path) -> Results:
        """From a benchmark's folder.

        Raises:
            FileNotFoundError: where there is no ``results.json``.
            ValueError: where it does not fit.
        """
        file = folder / FILE
        if not file.is_file():
            raise FileNotFoundError(
                f"no {FILE} in {folder}: give the folder that `franq bench` wrote (--out)"
            )
        try:
            return cls.from_dict(json.loads(file.read_text(encoding="utf-8")))
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None

    def write(self, folder: Path) -> None:
        """Into a benchmark's folder, which is made."""
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False, indent=1)
        (folder / FILE).write_text(text + "\n", encoding="utf-8")


def of_all(results: Results) -> list[Row]:
    """The rows of the means over the data sets; where there is one data set, its own."""
    only = results.datasets[0].name if len(results.datasets) == 1 else MEAN
    return [row for row in results.rows if row.dataset == only]


def figures_of(rows: Iterable[Row], metric: str) -> dict[str, float]:
    """The figures of rows of one data set by method; without methods that have none."""
    figures = {row.method: row.figure(metric)[0] for row in rows}
    return {method: figure for method, figure in figures.items() if figure is not None}


def firsts(figures: Mapping[str, float], metric: str) -> list[str]:
    """The best method, or the best ones where several are equal."""
    return [method for method in figures if place(figures, method, metric) == 1]


def place(figures: Mapping[str, float], method: str, metric: str) -> int:
    """One more than the methods that are better: equal ones share a place."""
    values = rounded(np.array([*figures.values()]), metric)
    own = values[list(figures).index(method)]
    return int((values > own).sum()) + 1


def rounded(figures: FloatArray, metric: str) -> FloatArray:
    """Figures by which methods are ordered, the higher the better.

    Rounded: the last bit of a sum differs between processors and would order equal methods.
    """
    return np.round(-figures if metric == "ece" else figures, 9)


def metric_rows(
    scores: Scores | Sequence[Mapping[str, Any]], *, resamples: int = 1000, seed: int = 0
) -> list[Row]:
    """Every method on the test part of every data set, then the means over the data sets.

    A method that was not measured on every test row of a data set has None there, so that all
    methods are compared on the same rows. The mean is over the data sets where a metric is defined
    (both classes occur); its standard error treats the data sets as independent.

    Args:
        scores: the matrix, or its rows as ``scores.jsonl`` holds them.
        resamples: of the bootstrap; the same ones for all methods of a data set.
        seed: of the bootstrap.

    Returns:
        Data sets in order, methods in order within each; "mean" last.
    """
    matrix = scores if isinstance(scores, Scores) else Scores.of(scores)
    rows = [
        row
        for name in matrix.datasets
        for row in _of_dataset(name, matrix.part(name), matrix.methods, resamples, seed)
    ]
    return [*rows, *(_mean(method, rows) for method in matrix.methods)]


def _of_dataset(
    name: str, part: Scores, methods: Sequence[str], resamples: int, seed: int
) -> list[Row]:
    true = part.is_true()
    confidences = {method: part.of_method(method) for method in methods}
    drawn = bootstrap(true, confidences, groups=part.groups(), resamples=resamples, seed=seed)
    rows = []
    for method, confidence in confidences.items():
        figures: dict[str, float | None] = {}
        for metric in METRICS:
            found = _known(value(metric, true, confidence) if len(true) else math.nan)
            error = _known(standard_error(drawn[metric][method]))
            figures |= {metric: found, f"{metric}_se": None if found is None else error}
        rows.append(Row(name, method, **figures))
    return rows


def _mean(method: str, rows: Sequence[Row]) -> Row:
    figures: dict[str, float | None] = {}
    for metric in METRICS:
        judged = {row.dataset for row in rows if getattr(row, metric) is not None}
        own = [row.figure(metric) for row in rows if row.method == method and row.dataset in judged]
        if own and all(found is not None for found, _ in own):
            figures[metric] = float(np.mean([found for found, _ in own]))
            if all(error is not None for _, error in own):
                errors = np.array([error for _, error in own], float)
                figures[f"{metric}_se"] = float(np.sqrt((errors**2).sum()) / len(own))
    return Row(MEAN, method, **figures)


def _known(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _made(kind: type[_Made], data: Any) -> _Made:
    """A record from JSON: every text and number of the right kind, nothing unknown."""
    what = kind.__name__.lower()
    if not isinstance(data, Mapping):
        raise ValueError(f"a {what} must be an object, not {type(data).__name__}")
    known = {f.name: str(f.type) for f in fields(kind)}
    if unknown := set(data) - set(known):
        raise ValueError(f"a {what} has unknown keys: {', '.join(sorted(unknown))}")
    for key, type_ in known.items():
        found = data.get(key)
        if not isinstance(found, _KINDS[type_]) or isinstance(found, bool):
            raise ValueError(f"{key} of a {what} must be {type_}, not {found!r}")
    return kind(**data)


_KINDS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float | None": (int, float, type(None)),
    "int | None": (int, type(None)),
}
