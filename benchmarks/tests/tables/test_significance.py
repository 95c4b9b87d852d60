"""FRANQ against the best other method on the same resamples, and its rank."""

from dataclasses import replace

import numpy as np
import pytest

from franq_bench.tables.layout import signed
from franq_bench.tables.results import Dataset, Results, metric_rows
from franq_bench.tables.scores import Score, Scores
from franq_bench.tables.significance import drawn_means, significance


def made(**columns):
    true = np.arange(60) % 2 == 0
    rng = np.random.default_rng(1)
    noise = {name: rng.normal(size=60) for name in columns}
    rows = [
        Score(
            str(i), "d", "test", bool(true[i]),
            {n.replace("_", "-"): float(strength * true[i] + noise[n][i])
             for n, strength in columns.items()},
        )
        for i in range(60)
    ]  # fmt: skip
    scores = Scores(tuple(rows))
    return Results({}, {}, (Dataset("d", 0, 60),), tuple(metric_rows(scores, resamples=2))), scores


def lines(results, scores):
    [table] = significance(results, scores, resamples=200)
    return table.rows


def test_a_clear_difference_has_a_star_and_a_narrow_rank():
    rows = lines(*made(franq_condition=0.0, franq_learned=6.0, perplexity=2.5, p_true=0.0))
    assert rows[0][0].startswith("PR-AUC; best other: Perplexity")
    auroc = next(i for i, row in enumerate(rows) if row[0].startswith("ROC-AUC"))
    condition, learned = rows[auroc + 1], rows[auroc + 2]
    assert condition[2].startswith("-")
    assert condition[2].endswith("*")
    assert learned[3] == "1 of 4 [1, 1]"
    assert condition[3].split()[0] in ("3", "4")


def test_the_same_scores_differ_by_nothing():
    results, scores = made(franq_condition=1.0, perplexity=1.0)
    same = Scores(tuple(
        Score(r.id, "d", "test", r.is_true, dict.fromkeys(r.scores, r.scores["perplexity"]))
        for r in scores.rows
    ))  # fmt: skip
    again = Results({}, {}, results.datasets, tuple(metric_rows(same, resamples=2)))
    row = lines(again, same)[1]
    assert row[2] == ".00 [.00, .00]"
    assert row[3].endswith("of 2 [1, 1]")  # no method is better than an equal one


def test_the_last_bit_of_a_figure_gives_no_place():
    """Sums differ in it between processors; equal methods share a place."""
    results, scores = made(perplexity=1.0, franq_condition=1.0)
    equal = {"perplexity": 0.7, "franq-condition": 0.7 + 2**-52}
    rows = tuple(replace(row, auroc=equal[row.method]) for row in results.rows)
    found = lines(replace(results, rows=rows), scores)
    at = next(i for i, row in enumerate(found) if row[0].startswith("ROC-AUC"))
    assert found[at + 1][3].startswith("1 of 2")


def test_a_place_lies_within_its_own_interval():
    """Four equal methods behind a clear first: each is second, in every resample, too."""
    results, scores = made(perplexity=9.0, p_true=0.0)
    copies = ("franq-none", "franq-global", "franq-condition")
    rows = tuple(
        replace(r, scores=r.scores | dict.fromkeys(copies, r.scores["p-true"])) for r in scores.rows
    )
    again = Results({}, {}, results.datasets, tuple(metric_rows(Scores(rows), resamples=2)))
    ranks = [row[3] for row in lines(again, Scores(rows)) if len(row) > 1][:9]  # but for the ECE
    assert ranks == 9 * ["2 of 5 [2, 2]"]


@pytest.mark.parametrize(
    ("difference", "low", "high", "shown"),
    [
        (0.051, 0.014, 0.09, "+.05 [.01, .09] *"),
        (-0.051, -0.09, -0.014, "-.05 [-.09, -.01] *"),
        (0.051, -0.014, 0.09, "+.05 [-.01, .09]"),
        (0.004, 0.001, 0.012, ".00 [.00, .01] *"),  # shown as zero: without a sign
        (-0.004, -0.012, -0.001, ".00 [-.01, .00] *"),
        (0.0, 0.0, 0.0, ".00 [.00, .00]"),
        (0.5, None, None, "+.50"),
    ],
)
def test_a_difference_with_its_interval(difference, low, high, shown):
    assert signed(difference, low, high) == shown


def test_nothing_to_compare():
    assert significance(*made(perplexity=1.0), resamples=5) == ()
    assert significance(*made(franq_condition=1.0), resamples=5) == ()
    assert drawn_means(Scores(()))["prr"] == {}
