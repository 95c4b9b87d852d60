"""Learned FRANQ with signals of its own: how they are chosen, and what may decide on it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from franq_bench.fits.own_signals import Signals, _variants, own_signals_table
from franq_bench.tables.scores import Score, Scores
from franq_guard.calibration.mixture import FranqMixture

SETS = ("a", "b", "c")
ALONE, LEARNED, SUM, LEFT_OUT, SUM_LEFT_OUT = range(5)


def made(seed=0, train=60, test=60):
    """Rows of three data sets: perplexity knows much, SAR (unscaled) a little, CCP nothing."""
    rng = np.random.default_rng(seed)
    rows = []
    for name in SETS:
        for split, n in (("train", train), ("test", test)):
            for i in range(n):
                true = i % 3 == 0
                scores = {
                    "faithfulness": float(rng.beta(2 + true, 2)),
                    "perplexity": 1 / (1 + math.exp(-rng.normal(3 * true))),
                    "sar": float(rng.normal(1.5 * true - 40)),
                    "ccp": float(rng.random()),
                }
                rows.append(Score(f"{split}{i}", name, split, true, scores))
    return Scores(tuple(rows))


@pytest.fixture(scope="module")
def scores():
    return made()


@pytest.fixture(scope="module")
def table(scores):
    [found] = own_signals_table(scores, resamples=20)
    return found


def training_rows(scores):
    return {name: scores.part(name, "train").rows for name in SETS}


def changed(scores, change, *, dataset, split):
    """The matrix with ``change`` of some rows."""
    return Scores(
        tuple(
            change(row) if (row.dataset, row.split) == (dataset, split) else row
            for row in scores.rows
        )
    )


def swapped(row):
    """The row with the other label."""
    return replace(row, is_true=not row.is_true)


def test_a_signal_stays_only_if_it_helps_on_data_sets_left_out(scores, table):
    signals = Signals.of(scores)
    assert signals.candidates == ("perplexity", "sar", "ccp")
    assert signals.chosen(training_rows(scores)) == ("perplexity", "sar")
    assert "left out: Perplexity, SAR." in table.note


def test_the_first_choice_is_the_likeliest_on_data_sets_left_out(scores):
    """Against a plain loop over the three signals; perplexity is read as log-odds, SAR as it is."""
    parts, likelihood = training_rows(scores), {}
    for name in ("perplexity", "sar", "ccp"):
        logs = []
        for held in SETS:
            X, y, of = [], [], []
            for at, dataset in enumerate(SETS):
                for row in parts[dataset]:
                    value = row.scores[name]
                    value = value if name == "sar" else math.log(value / (1 - value))
                    X.append((row.scores["faithfulness"], value))
                    y.append(row.is_true)
                    of.append(at != SETS.index(held))
            X, y, of = np.array(X), np.array(y), np.array(of)
            model = FranqMixture(penalties=(10.0,), signs=(1,)).fit(X[of], y[of])
            p = model.predict_proba(X[~of])[:, 1]
            logs += np.log(np.where(y[~of], p, 1 - p)).tolist()
        likelihood[name] = np.mean(logs)
    assert max(likelihood, key=likelihood.get) == "perplexity"
    signals = Signals.of(scores)
    for name, value in likelihood.items():
        assert signals._held_out(parts, (name,)) == pytest.approx(value, abs=1e-9)


def test_rows_of_the_table(scores, table):
    assert table.rows[ALONE][0] == "the best single signal of the training rows: Perplexity"
    assert table.rows[ALONE][2] is None  # nothing to compare the first row with
    assert [row[0] for row in table.rows[1:]] == [
        "FRANQ, learned, signals of its own",
        "the same signals added up",
        "FRANQ, learned, signals of its own, without the data set",
        "the same signals added up, without the data set",
    ]
    assert table.rows[LEARNED][1] > table.rows[ALONE][1]  # SAR and P_faithful know something, too


def test_added_up_is_a_logistic_regression_of_the_standardised_signals(scores):
    parts = training_rows(scores)
    train = [row for rows in parts.values() for row in rows]
    test = scores.part("a").rows

    def read(rows):
        odds = [
            [math.log(row.scores[name] / (1 - row.scores[name])) for row in rows]
            for name in ("faithfulness", "perplexity")
        ]
        return np.column_stack([*odds, [row.scores["sar"] for row in rows]])

    X = read(train)
    mean, spread = X.mean(axis=0), X.std(axis=0)
    model = LogisticRegression().fit((X - mean) / spread, [row.is_true for row in train])
    wanted = model.predict_proba((read(test) - mean) / spread)[:, 1]
    found = Signals.of(scores).added_up(("perplexity", "sar"), train)(test)
    assert found == pytest.approx(wanted, abs=1e-6)


def test_no_test_row_decides_on_the_fit(scores, table):
    """With the labels of the other data sets' test rows swapped, the predictions stay."""
    spoiled = scores
    for name in ("b", "c"):
        spoiled = changed(spoiled, swapped, dataset=name, split="test")
    predictions = []
    for rows in (scores, spoiled):
        signals, parts = Signals.of(rows), training_rows(rows)
        made = _variants(signals, parts, signals.chosen(parts))
        predictions.append({name: fit((), rows.part("a").rows) for name, fit in made.items()})
    assert predictions[0] == predictions[1]
    assert len(predictions[0]) == len(table.rows)


def test_without_the_data_set_none_of_its_training_rows_counts(scores, table):
    """With swapped labels in each data set's training rows, what was fitted without it stays."""
    only_a = Scores(tuple(r for r in scores.rows if r.split == "train" or r.dataset == "a"))
    spoiled = changed(only_a, swapped, dataset="a", split="train")
    before, after = (own_signals_table(rows, resamples=2)[0].rows for rows in (only_a, spoiled))
    for row in (LEFT_OUT, SUM_LEFT_OUT):
        assert before[row][1::2] == after[row][1::2]
    for row in (LEARNED, SUM):
        assert before[row][1::2] != after[row][1::2]


def test_pmi_may_count_either_way(scores):
    """SAR upside down is of no use; the same numbers as PMI are."""
    for name, chosen in (("sar", ()), ("pmi", ("pmi",))):
        rows = Scores(
            tuple(
                replace(
                    row,
                    scores={
                        "faithfulness": row.scores["faithfulness"],
                        name: -row.scores["sar"],
                    },
                )
                for row in scores.rows
            )
        )
        assert Signals.of(rows).chosen(training_rows(rows)) == chosen


def test_no_table_where_nothing_can_be_chosen(scores):
    two = Scores(tuple(row for row in scores.rows if row.dataset != "c"))
    assert own_signals_table(two) == []
    one_label = Scores(
        tuple(
            replace(row, is_true=True) if (row.dataset, row.split) == ("c", "train") else row
            for row in scores.rows
        )
    )
    assert own_signals_table(one_label) == []
    useless = Scores(
        tuple(
            replace(row, scores={m: row.scores[m] for m in ("faithfulness", "ccp")})
            for row in scores.rows
        )
    )
    assert own_signals_table(useless) == []


@pytest.mark.parametrize("split", ["train", "test"])
def test_no_table_where_a_row_lacks_p_faithful(scores, split):
    first = scores.part("b", split).rows[0].id
    unknown = changed(
        scores,
        lambda r: replace(r, scores=r.scores | {"faithfulness": None}) if r.id == first else r,
        dataset="b",
        split=split,
    )
    assert own_signals_table(unknown, resamples=2) == []
