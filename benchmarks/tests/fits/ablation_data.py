"""Small score matrices for the ablations, and FRANQ written again as plain loops."""

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from franq_bench.tables.scores import Score, Scores

P, FAITH, UNFAITH = "faithfulness", "semantic-entropy", "eigenvalues-entail"


def rows(dataset, split, true, **columns):
    """Rows with columns of scores; underscores in names stand for hyphens."""
    return [
        Score(
            f"{split}{i}",
            dataset,
            split,
            bool(label),
            {name.replace("_", "-"): values[i] for name, values in columns.items()},
        )
        for i, label in enumerate(true)
    ]


def random_scores(datasets=("a", "b"), train=40, test=30, seed=0, gold=False):
    """Both classes everywhere; signals that know something of the label."""
    rng = np.random.default_rng(seed)
    made = []
    for name in datasets:
        for split, n in (("train", train), ("test", test)):
            true = np.arange(n) % 3 == 0
            columns = {
                method.replace("-", "_"): [
                    float(v) for v in 1 / (1 + np.exp(-rng.normal(2 * true)))
                ]
                for method in (P, FAITH, UNFAITH, "parametric-knowledge")
            }
            columns["sar"] = [float(v) for v in rng.normal(3 * true - 40)]  # -uncertainty, unscaled
            if gold:
                columns["gold_faithful"] = [
                    float(v) for v in rng.random(n) < columns["faithfulness"]
                ]
            made += rows(name, split, true, **columns)
    return Scores(tuple(made))


def parts(scores, dataset):
    return [[r for r in scores.rows if (r.dataset, r.split) == (dataset, s)] for s in SPLITS]


SPLITS = ("train", "test")


def isotonic(x, y):
    """Pool adjacent violators over distinct x; linear between, flat outside."""
    blocks = []  # sum of y, rows, x values
    for value in sorted(set(x)):
        own = [b for a, b in zip(x, y, strict=True) if a == value]
        blocks.append([sum(own), len(own), [value]])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            total, count, values = blocks.pop()
            blocks[-1] = [blocks[-1][0] + total, blocks[-1][1] + count, blocks[-1][2] + values]
    xs = [v for block in blocks for v in block[2]]
    ys = [block[0] / block[1] for block in blocks for _ in block[2]]
    return lambda value: float(np.interp(value, xs, ys))


def branch(train, method, calibration, inside, fewest):
    chosen = [r for r in train if inside(r)] if calibration == "condition" else train
    true = sum(r.is_true for r in chosen)
    if not chosen or min(true, len(chosen) - true) < fewest:
        chosen = train
    return isotonic([r.scores[method] for r in chosen], [float(r.is_true) for r in chosen])


def franq_loop(
    train, test, *, faith=FAITH, unfaith=UNFAITH, calibration="condition", hard=False, gold=False,
    calibrate=False, fewest=5,
):  # fmt: skip
    """P(true) = P(faithful) * UQ_faith + (1 - P(faithful)) * UQ_unfaith, as the paper writes it."""
    inside = (lambda r: r.scores["gold-faithful"] == 1) if gold else (lambda r: r.scores[P] > 0.5)
    weight = p_curve(train) if calibrate else float
    f = u = float
    if calibration != "none":
        f = branch(train, faith, calibration, inside, fewest)
        u = branch(train, unfaith, calibration, lambda r: not inside(r), fewest)
    found = []
    for r in test:
        p = weight(r.scores[P])
        p = float(p > 0.5) if hard else p
        found.append(p * f(r.scores[faith]) + (1 - p) * u(r.scores[unfaith]))
    return found


def p_curve(train):
    return isotonic([r.scores[P] for r in train], [r.scores["gold-faithful"] for r in train])


def average_precision(test, values):
    """scikit-learn's; values rounded so that rounding errors make no order among ties."""
    false = [not r.is_true for r in test]
    return average_precision_score(false, -np.round(values, 10))


def roc_auc(test, values):
    return roc_auc_score([r.is_true for r in test], np.round(values, 10))


def mean_of(metric, scores, **options):
    """Mean over the data sets of a metric of :func:`franq_loop`."""
    found = []
    for name in scores.datasets:
        train, test = parts(scores, name)
        found.append(metric(test, franq_loop(train, test, **options)))
    return float(np.mean(found))


def cells(table, column):
    """Figures of a column by the row's first cell."""
    at = [c.title for c in table.columns].index(column)
    return {row[0]: row[at] for row in table.rows if len(row) > 1}
