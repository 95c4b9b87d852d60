"""Learned FRANQ with signals of its own, chosen on data sets left out (short form).

The paper takes the same three signals for every model, and each data set's own training rows. A
logistic function in each branch may weigh several signals, but 200 rows, a quarter of them true,
are too few for that: it is fitted on the training rows of all data sets together. Which signals it
reads is chosen on these rows, too: one after the other, that which raises the likelihood of data
sets left out of the fit most, until none does. No test row decides on anything; in the rows
"without the data set" neither does any other row of the data set that is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from franq_bench.fits.fitted import SIGNALS, matrix
from franq_bench.fits.logistic import AdditiveLogistic, unbounded
from franq_bench.fits.one_change import changed_line
from franq_bench.fits.variants import Fit, Values, known, mean_rows, measured, raw, with_variants
from franq_bench.tables.layout import METRIC_TITLES
from franq_bench.tables.method_names import title
from franq_bench.tables.resampling import METRICS
from franq_bench.tables.scores import TRAINED_ON, Score, Scores
from franq_bench.tables.significance import drawn_means
from franq_guard.calibration.mixture import FranqMixture, Sign
from franq_guard.franq import FloatArray
from franq_guard.metrics.measures import pr_auc
from franq_guard.report.tables import Column, Table

__all__ = ["Signals", "own_signals_table"]

Parts = Mapping[str, Sequence[Score]]
"""Training rows by data set."""
Predict = Callable[[Sequence[Score]], Values]
"""P(true) of rows (n,)."""
_P_FAITHFUL: Final = SIGNALS[0]
_FREE: Final = frozenset({"pmi"})
"""A difference of two log-probabilities may count either way; of the others more is more sure."""
_LEAST_GAIN: Final = 1e-4
"""Of a row's mean log-likelihood; less is nothing."""
_PENALTY: Final = 10.0
"""While signals are chosen; it stands among those that the fit itself then chooses from."""


@dataclass(frozen=True)
class Signals:
    """The methods that may serve as signals, and the two ways to fit some of them.

    Attributes:
        candidates: methods that every row has a score of.
        confidences: those whose scores lie in [0, 1]; they are read as log-odds.
    """

    candidates: tuple[str, ...]
    confidences: frozenset[str]

    @classmethod
    def of(cls, scores: Scores) -> Signals:
        """Those of a matrix of raw methods: all but the faithfulness scores."""
        names = [m for m in measured(scores, scores.methods) if not m.startswith(_P_FAITHFUL)]
        values = {m: matrix(scores.rows, [m]) for m in names}
        there = tuple(m for m in names if not np.isnan(values[m]).any())
        inside = (m for m in there if values[m].min() >= 0 and values[m].max() <= 1)
        return cls(there, frozenset(inside))

    def read(self, rows: Sequence[Score], names: Sequence[str]) -> FloatArray:
        """P(faithful) and these signals without bounds, (n, 1 + k)."""
        found = matrix(rows, [_P_FAITHFUL, *names])
        for at, name in enumerate(names, start=1):
            found[:, at] = unbounded(found[:, at], log_space=name not in self.confidences)
        return found

    def learned(self, names: Sequence[str], train: Sequence[Score], **options: Any) -> Predict:
        """Learned FRANQ, both branches of these signals; ``options`` of :class:`FranqMixture`."""
        signs: list[Sign] = [0 if name in _FREE else 1 for name in names]
        model = FranqMixture(signs=signs, **options).fit(self.read(train, names), _labels(train))
        return lambda rows: known(model.predict_proba(self.read(rows, names))[:, 1])

    def added_up(self, names: Sequence[str], train: Sequence[Score]) -> Predict:
        """P(faithful) and these signals added up (logistic regression)."""
        model = AdditiveLogistic(log_space=True).fit(self.read(train, names), _labels(train))
        return lambda rows: known(model.predict_proba(self.read(rows, names))[:, 1])

    def chosen(self, parts: Parts) -> tuple[str, ...]:
        """The signals that help on data sets left out, that which helps most first."""
        names: tuple[str, ...] = ()
        best = self._held_out(parts, names)
        while left := [name for name in self.candidates if name not in names]:
            likelihood, name = max((self._held_out(parts, (*names, one)), one) for one in left)
            if likelihood < best + _LEAST_GAIN:
                break
            names, best = (*names, name), likelihood
        return names

    def _held_out(self, parts: Parts, names: Sequence[str]) -> float:
        """A row's mean log-likelihood by learned FRANQ fitted on the other data sets."""
        found = []
        for name, rows in parts.items():
            predict = self.learned(names, _joined(_without(parts, name)), penalties=(_PENALTY,))
            p_true = np.array(predict(rows), float)
            found.append(np.log(np.where(_labels(rows) == 1, p_true, 1 - p_true)).mean())
        return float(np.mean(found))

    def best_alone(self, parts: Parts) -> str:
        """The signal, or P(faithful), with the highest mean PR-AUC on these rows."""

        def mean(name: str) -> float:
            found = [pr_auc(_labels(rows), matrix(rows, [name])[:, 0]) for rows in parts.values()]
            return float(np.mean(found))

        return max((_P_FAITHFUL, *self.candidates), key=mean)


def own_signals_table(scores: Scores, *, resamples: int = 200) -> list[Table]:
    """Learned FRANQ of chosen signals, and the same signals added up, beside the best single one.

    Args:
        scores: raw methods, train and test rows.
        resamples: of the paired bootstrap.

    Returns:
        One table; none with fewer than three data sets, where the training rows of one are all true
        or all false, where a row lacks P(faithful), or where no signal helps.
    """
    bare = raw(scores)
    parts = {name: bare.part(name, "train").rows for name in bare.datasets}
    if len(parts) < 3 or any(len(set(_labels(rows))) < 2 for rows in parts.values()):
        return []
    if np.isnan(matrix(bare.rows, [_P_FAITHFUL])).any():
        return []
    signals = Signals.of(bare)
    names = signals.chosen(parts)
    if not names:
        return []
    made = with_variants(bare, _variants(signals, parts, names))
    rows, means = mean_rows(made), drawn_means(made, resamples=resamples)
    base = next(iter(rows))
    columns = [Column("variant")]
    for metric in METRICS:
        heading = METRIC_TITLES[metric]
        columns += [Column(heading, "lower" if metric == "ece" else "higher")]
        columns += [Column(f"change of {heading}")]
    return [
        Table(
            name="own-signals",
            title="Learned FRANQ with signals of its own, fitted on all data sets together",
            columns=tuple(columns),
            rows=tuple(changed_line(name, base, rows, means, METRICS) for name in rows),
            note=f"Chosen on the training rows, by the likelihood of data sets left out: "
            f"{', '.join(map(title, names))}. P_faithful is the faithfulness score, which the sum "
            "has as well. Means over the data sets' test rows. Changes are against the first row, "
            "the method with the highest mean PR-AUC on the training rows; in brackets 95 % "
            "intervals of the paired bootstrap, with choice and fit held fixed, * where they leave "
            "zero out. Without the data set: chosen and fitted on the training rows of the others."
            f"{_of_unseen(scores, made)}",
        )
    ]


def _of_unseen(scores: Scores, made: Scores) -> str:
    """The first two rows' PRR on the test rows that :func:`.held_out.held_out` is about."""
    known = {(row.dataset, row.id) for row in scores.rows if row.scores.get(TRAINED_ON)}
    kept = tuple(row for row in made.rows if (row.dataset, row.id) not in known)
    if not kept or len(kept) == len(made.rows):
        return ""
    first, own, *_ = mean_rows(Scores(kept)).values()
    if first.prr is None or own.prr is None:
        return ""
    return (
        f" On the {len(kept)} test rows with gold passages that the small faithfulness model was "
        f"not trained on, the first two rows have a PRR of {first.prr:.2f} and {own.prr:.2f}."
    )


def _variants(signals: Signals, parts: Parts, names: Sequence[str]) -> dict[str, Fit]:
    """The rows of the table; the first one is what the others are compared with."""
    best = signals.best_alone(parts)
    others = {name: _without(parts, name) for name in parts}
    chosen = {name: signals.chosen(rest) for name, rest in others.items()}
    made: dict[str, Fit] = {
        f"the best single signal of the training rows: {title(best)}": _alone(best)
    }
    ways = {
        "FRANQ, learned, signals of its own": signals.learned,
        "the same signals added up": signals.added_up,
    }
    for words, way in ways.items():
        made[words] = _whatever(way(names, _joined(parts)))
    for words, way in ways.items():
        left_out = {name: way(chosen[name], _joined(rest)) for name, rest in others.items()}
        made[f"{words}, without the data set"] = _by_data_set(left_out)
    return made


def _alone(method: str) -> Fit:
    return lambda _, test: [row.scores.get(method) for row in test]


def _whatever(predict: Predict) -> Fit:
    return lambda _, test: predict(test) if test else []


def _by_data_set(predict: Mapping[str, Predict]) -> Fit:
    return lambda _, test: predict[test[0].dataset](test) if test else []


def _without(parts: Parts, left_out: str) -> Parts:
    return {name: rows for name, rows in parts.items() if name != left_out}


def _joined(parts: Parts) -> list[Score]:
    return [row for rows in parts.values() for row in rows]


def _labels(rows: Sequence[Score]) -> np.ndarray[Any, Any]:
    return np.array([row.is_true for row in rows], int)
