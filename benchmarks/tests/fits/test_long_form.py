import math
from dataclasses import replace

import numpy as np
import pytest

from franq_bench.fits.fitted import FITTED, with_fitted
from franq_bench.fits.long_form import GRID, LOGARITHMS, LOWEST, SIGNALS, ablation_tables
from franq_bench.fits.refit import refitted
from franq_bench.tables.fallback_note import fallback_named
from franq_bench.tables.method_names import title
from franq_bench.tables.results import MEAN, Dataset, Results, metric_rows
from franq_bench.tables.scores import GOLD, Score, Scores
from franq_guard.report.tables import Column, Table

CONDITION = "franq-condition"


@pytest.fixture(scope="module")
def scores():
    """Two data sets whose claims are the likelier true the higher their scores."""
    rng = np.random.default_rng(0)
    rows = []
    for name in ("one", "two"):
        for i in range(80):
            level = rng.random(len(GRID) + 1)
            true = int(level.mean() + 0.2 * rng.standard_normal() > 0.5)
            values = dict(zip(("faithfulness", *GRID), level.tolist(), strict=True))
            values |= {m: math.log(values[m]) for m in LOGARITHMS}
            values[GOLD] = float(values["faithfulness"] > 0.4)
            split = "train" if i < 40 else "test"
            rows.append(Score(f"{name}/{i}", name, split, bool(true), values, group=str(i)))
    rows[-1] = replace(rows[-1], scores=rows[-1].scores | {"max-nli": 0.0})
    return with_fitted(Scores(tuple(rows)), signals=SIGNALS, log_space=True)


@pytest.fixture(scope="module")
def tables(scores):
    return {table.name: table for table in ablation_tables(scores, draws=2, resamples=0)}


def mean_of(scores, method=CONDITION):
    return next(r for r in metric_rows(scores) if (r.method, r.dataset) == (method, MEAN))


def cell(table, row, column):
    at = [c.title for c in table.columns].index(column)
    return next(r[at] for r in table.rows if r[0] == row)


def test_every_ablation_holds_the_main_figure(scores, tables):
    own = mean_of(scores)
    pair = (title(SIGNALS[1]), title(SIGNALS[2]))
    assert cell(tables["uq-grid-prr"], *pair) == pytest.approx(own.prr)
    assert cell(tables["uq-grid-pr-auc"], *pair) == pytest.approx(own.pr_auc)
    assert cell(tables["thresholded"], title(CONDITION), "ECE") == pytest.approx(own.ece)
    assert cell(tables["faithfulness-calibration"], "as it is", "PRR") == pytest.approx(own.prr)
    assert cell(tables["training-size-prr"], "all (40)", title(CONDITION)) == pytest.approx(own.prr)
    assert "first-tree" in tables


def test_the_grid_takes_confidences_as_probabilities(scores, tables):
    """Max NLI as UQ_faith, put by hand into the place of the claim's log-probability."""
    log = {0.0: LOWEST}
    swapped = [
        replace(r, scores=r.scores | {SIGNALS[1]: log.get(p) or math.log(p)})
        for r in scores.rows
        for p in [r.scores["max-nli"]]
    ]
    own = mean_of(with_fitted(Scores(tuple(swapped)), signals=SIGNALS, log_space=True))
    found = cell(tables["uq-grid-prr"], title("max-nli"), title(SIGNALS[2]))
    assert found == pytest.approx(own.prr)


def test_only_what_applies(scores):
    assert ablation_tables(scores.part("one")) == []  # no training rows
    bare = [replace(r, scores={**r.scores, GOLD: None}) for r in scores.part("one", "train").rows]
    bare += scores.part("one").rows
    names = [t.name for t in ablation_tables(Scores(tuple(bare)), draws=1, resamples=0)]
    assert "faithfulness-calibration" not in names
    assert "thresholded" in names


def test_refitting_gives_them_again(scores):
    settings = {"signals": list(SIGNALS), "form": "long", "seed": 0}
    rows = tuple(metric_rows(scores))
    sets = tuple(Dataset(name, n_train=40, n_test=40) for name in scores.datasets)
    made = tuple(ablation_tables(scores))
    counted, other = (Table(name, "T", (Column("x"),), ()) for name in ("claims", "other"))
    results = Results(settings, {}, sets, rows, (*made, counted))
    # what no fit makes is not kept, but for counts and times
    stored = replace(results, tables=(other, *made, counted))
    assert refitted(stored, scores) == (results, scores)


def test_refitting_gives_the_unfaithful_claims_every_fitted_row(scores):
    """The stored table lacks all rows; of the two data sets "two" has 3 false faithful claims."""
    false = iter(range(99))
    rows = [
        row
        for row in scores.rows
        if (row.dataset, row.split, row.is_true) != ("two", "train", False)
        or row.scores[SIGNALS[0]] <= 0.5
        or next(false) < 3
    ]
    stored = [Table(f"unfaithful-{name}", "T", (Column("method"),), ()) for name in ("one", "two")]
    counted = Table("claims", "T", (Column("x"),), ())
    settings = {"signals": list(SIGNALS), "form": "long", "seed": 0,
                "target": "one: factuality; two: faithfulness"}  # fmt: skip
    given = Results(settings, {}, (), (), (stored[0], counted, stored[1]))
    made = refitted(given, Scores(tuple(rows)))[0].tables[-3:]
    assert [table.name for table in made] == ["unfaithful-one", "claims", "unfaithful-two"]
    for table in (made[0], made[2]):
        assert {title(method) for method in FITTED} <= {row[0] for row in table.rows}
    assert "(gold label), factuality" in made[0].title
    assert f"Fallback of {title(CONDITION)}: none" in made[0].note
    assert "two" not in made[0].note
    assert "not entailed by the passages" in made[2].note
    assert "UQ_faith on two (1 of 1)" in made[2].note
    said = f"Fallback of {title(CONDITION)}: of all data sets together."
    assert [fallback_named(table, said) for table in made] == list(made)
