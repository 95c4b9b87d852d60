"""Compares two benchmarks of the same questions: differences with paired bootstrap intervals.

Each bootstrap resample of the questions is used for both benchmarks, so that the difficulty of the
questions cancels out. The answers and their labels may differ, so two models can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from franq_bench.tables.fallback_note import fallback_named, fallback_said
from franq_bench.tables.layout import signed
from franq_bench.tables.method_names import order, title
from franq_bench.tables.resampling import METRICS, bootstrap, ends, value
from franq_bench.tables.results import MEAN, Results
from franq_bench.tables.scores import Scores
from franq_bench.tables.summary import TITLES, settings_table
from franq_guard.franq import FloatArray
from franq_guard.report.sections import Section
from franq_guard.report.tables import Cell, Column, Table

__all__ = ["Difference", "compare", "comparison_sections", "difference_text", "pair",
           "training_rows"]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Difference:
    """B minus A, for one metric of one method on one data set ("mean": over them).

    Args:
        dataset: name.
        method: name.
        metric: pr_auc, prr, auroc or ece.
        n: questions both were judged on.
        a: figure of the first benchmark, None where not defined.
        b: of the second.
        difference: b - a.
        low: lower end of its 95 % percentile interval.
        high: upper end.
    """

    dataset: str
    method: str
    metric: str
    n: int
    a: float | None = None
    b: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low is not None and self.high is not None and self.low * self.high > 0

    def to_dict(self) -> dict[str, Any]:
        """As a row of JSON."""
        return asdict(self) | {"clear": self.clear}


def compare(a: Scores, b: Scores, *, resamples: int = 1000, seed: int = 0) -> list[Difference]:
    """Differences of every method that both contain, on the test part of every data set.

    Args:
        a: with the same test ids as ``b``: see :func:`pair`.
        b: likewise.
        resamples: of the bootstrap.
        seed: of the bootstrap; data sets are drawn independently.

    Returns:
        Data sets in order, then "mean": over the data sets where the metric is defined in both.

    Raises:
        ValueError: where the test ids differ.
    """
    _must_match(a, b)
    methods = [method for method in order(a.methods) if method in b.methods]
    found: list[_Cell] = []
    for at, name in enumerate(a.datasets):
        one, other = a.part(name), _in_order(b.part(name), a.part(name))
        if one.rows:
            found += _of_dataset(name, one, other, methods, resamples, (seed, at))
    rows = [cell.difference() for cell in found]
    for method in methods:
        rows += [_mean(metric, method, found).difference() for metric in METRICS]
    return rows


def training_rows(scores: Scores) -> Scores:
    """The training rows marked as test rows, to compare settings without using the test rows."""
    return Scores(tuple(replace(r, split="test") for r in scores.rows if r.split == "train"))


def pair(a: Scores, b: Scores) -> tuple[Scores, Scores]:
    """The test rows that both hold, by data set and id.

    Raises:
        ValueError: if there are no common test rows.
    """
    both = _keys(a) & _keys(b)
    if not both:
        raise ValueError(
            "the two benchmarks share no test question: draw both from the same data with the same "
            "seed and number of test questions"
        )
    one, other = (
        Scores(tuple(r for r in s.rows if r.split == "test" and (r.dataset, r.id) in both))
        for s in (a, b)
    )
    return one, other


def comparison_sections(
    differences: Sequence[Difference], names: tuple[str, str], results: Sequence[Results] = ()
) -> Iterator[Section]:
    """The comparison as a report: a table for each metric, then the settings that differ."""
    fell = zip(names, map(fallback_said, results), strict=False)  # no results: nothing is known
    said = " ".join(f"{name}: {note}" for name, note in fell if note)
    for metric in METRICS:
        chosen = [row for row in differences if row.metric == metric and row.a is not None]
        if chosen:
            table = fallback_named(_table(metric, chosen, names), said)
            yield Section(TITLES[metric], (table,))
    if len(results) == 2:
        for heading, pairs in (
            ("Settings that differ", (results[0].settings, results[1].settings)),
            ("Versions that differ", (results[0].versions, results[1].versions)),
        ):
            if tables := _differing(heading, names, *pairs):
                yield Section(heading, tables)


def difference_text(row: Difference) -> str:
    """A difference with its interval, and a star if that excludes zero: +.05 [.01, .09] *."""
    if row.difference is None:
        return "-"
    text = signed(row.difference, row.low, row.high)
    return text.replace(" ", "\u00a0")  # a cell of one line


@dataclass(frozen=True, slots=True)
class _Cell:
    """Figures of both, and of both in every resample (B,)."""

    dataset: str
    method: str
    metric: str
    n: int
    a: float
    b: float
    drawn: FloatArray

    @property
    def known(self) -> bool:
        return math.isfinite(self.a) and math.isfinite(self.b)

    def difference(self) -> Difference:
        who = (self.dataset, self.method, self.metric, self.n)
        if not self.known:
            return Difference(*who)
        return Difference(*who, self.a, self.b, self.b - self.a, *ends(self.drawn))


def _of_dataset(
    name: str,
    a: Scores,
    b: Scores,
    methods: Sequence[str],
    resamples: int,
    seed: tuple[int, int],
) -> Iterator[_Cell]:
    truths = a.is_true(), b.is_true()
    values = [{method: part.of_method(method) for method in methods} for part in (a, b)]
    drawn = [
        bootstrap(truth, scores, groups=a.groups(), resamples=resamples, seed=seed)
        for truth, scores in zip(truths, values, strict=True)
    ]
    for method in methods:
        for metric in METRICS:
            one, other = (value(metric, truths[i], values[i][method]) for i in (0, 1))
            spread = drawn[1][metric][method] - drawn[0][metric][method]
            yield _Cell(name, method, metric, len(a.rows), one, other, spread)


def _mean(metric: str, method: str, cells: Sequence[_Cell]) -> _Cell:
    """NaN where some data set judges other methods but not this one."""
    judged = {cell.dataset for cell in cells if cell.metric == metric and cell.known}
    own = [
        cell
        for cell in cells
        if (cell.method, cell.metric) == (method, metric) and cell.dataset in judged
    ]
    total = sum(cell.n for cell in own)
    if not own:
        return _Cell(MEAN, method, metric, total, math.nan, math.nan, np.empty(0))
    a, b = (float(np.mean([getattr(cell, side) for cell in own])) for side in "ab")
    return _Cell(MEAN, method, metric, total, a, b, np.mean([cell.drawn for cell in own], axis=0))


def _must_match(a: Scores, b: Scores) -> None:
    if _keys(a) == _keys(b):
        return
    parts = []
    for name in dict.fromkeys((*a.datasets, *b.datasets)):
        one, other = ({i for d, i in _keys(s) if d == name} for s in (a, b))
        if one != other:
            parts.append(
                f"{name}: {len(one & other)} shared, {len(one - other)} only in the first, "
                f"{len(other - one)} only in the second"
            )
    raise ValueError(
        f"the test questions differ ({'; '.join(parts)}): run both with the same data, seed and "
        "--test, or compare the shared ones only (--shared)"
    )


def _keys(scores: Scores) -> set[tuple[str, str]]:
    return {(row.dataset, row.id) for row in scores.rows if row.split == "test"}


def _in_order(part: Scores, like: Scores) -> Scores:
    rows = {row.id: row for row in part.rows}
    return Scores(tuple(rows[row.id] for row in like.rows))


def _table(metric: str, rows: Sequence[Difference], names: tuple[str, str]) -> Table:
    found = {(row.dataset, row.method): row for row in rows}
    sets = list(dict.fromkeys(row.dataset for row in rows))
    last = MEAN if MEAN in sets else sets[-1]
    shown = [name for name in sets if name != MEAN] if len(sets) == 2 else sets
    lines: list[tuple[Cell, ...]] = []
    for method in order(row.method for row in rows):
        whole = found.get((last, method))
        cells = [found.get((name, method)) for name in shown]
        lines.append((
            title(method),
            whole.a if whole else None,
            whole.b if whole else None,
            *(difference_text(cell) if cell else "-" for cell in cells),
        ))  # fmt: skip
    better: Any = "lower" if metric == "ece" else "higher"
    return Table(
        name=f"difference-{metric}",
        title=f"{TITLES[metric]}: {names[1]} minus {names[0]}",
        columns=(
            Column("method"),
            *(Column(f"{name}: {last}", better) for name in names),
            *(Column(name) for name in shown),
        ),
        rows=tuple(lines),
        note="In brackets the 95 % interval of the paired bootstrap; * where it leaves zero out. "
        "No correction for the number of comparisons.",
    )


def _differing(
    heading: str, names: tuple[str, str], one: Mapping[str, Any], other: Mapping[str, Any]
) -> tuple[Table, ...]:
    keys = [key for key in {**one, **other} if one.get(key) != other.get(key)]
    return tuple(
        settings_table(
            {key: values.get(key) for key in keys}, f"{heading} {at}", f"{heading}: {name}"
        )
        for at, (name, values) in enumerate(zip(names, (one, other), strict=True))
        if keys
    )
