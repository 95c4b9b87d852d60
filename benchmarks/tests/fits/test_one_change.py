"""Fallback, learned FRANQ and the additive logistic, and one thing changed at a time."""

import math
from dataclasses import replace

import numpy as np
import pytest

from franq_bench.fits.fallback import UNFITTED, fallback_of, fallback_table
from franq_bench.fits.fitted import FITTED, SIGNALS, fitted_scores, matrix, with_fitted
from franq_bench.fits.logistic import AdditiveLogistic, LearnedFranq, unbounded
from franq_bench.fits.one_change import changes, one_change
from franq_bench.fits.paper_form import as_paper, as_paper_said, whose
from franq_bench.fits.reciprocal import reciprocal, with_reciprocals
from franq_bench.fits.variants import franq, judged
from franq_bench.tables.fallback_note import fallback_named, fallback_said
from franq_bench.tables.results import MEAN, Results, metric_rows
from franq_bench.tables.scores import Score, Scores
from franq_bench.tables.summary import main_table
from franq_guard.calibration.mixture import FranqMixture
from franq_guard.uncertainty.methods import confidence

from .ablation_data import FAITH, UNFAITH, P, random_scores

LIBRARY = "semantic-entropy:lm-polygraph"
LONG = (P, "max-probability", "parametric-knowledge")


def made(counts, dataset="a", split="train"):
    """Rows by (P_faithful, true): as many as counted, UQ rising with truth."""
    found = []
    for (p, true), n in counts.items():
        for i in range(n):
            values = {P: p, FAITH: 0.2 + 0.5 * true + i / 100, UNFAITH: 0.3 + 0.3 * true + i / 100}
            found.append(Score(f"{split}{p}{true}{i}", dataset, split, bool(true), values))
    return found


def test_fallback_is_named_with_its_counts():
    # 4 false rows among the faithful: one too few; 5 and 6 among the others: enough
    rows = made({(0.9, 1): 20, (0.9, 0): 4, (0.1, 1): 5, (0.1, 0): 6})
    assert fallback_of(rows) == ("faith",)
    table = fallback_table(Scores(tuple(rows)))
    assert table.rows == (("a", "global: 20 true, 4 false", "own: 5 true, 6 false"),)
    assert "UQ_faith on a (1 of 1)" in table.note
    assert "UQ_unfaith on" not in table.note
    enough = made(dict.fromkeys([(0.9, 1), (0.9, 0), (0.1, 1), (0.1, 0)], 9))
    assert "none" in fallback_table(Scores(tuple(enough))).note


def test_what_is_not_fitted_is_not_called_without_fallback():
    one_label = made({(0.9, 1): 20, (0.1, 1): 3})
    assert fallback_of(one_label) == UNFITTED
    alone = fallback_table(Scores(tuple(one_label)))
    assert alone.rows == (("a", "not fitted: 20 true, 0 false", "not fitted: 3 true, 0 false"),)
    why = "not fitted on a: all training rows have one label."
    assert alone.note.startswith(f"FRANQ, condition-calibrated: {why}")
    assert "Fallback" not in alone.note
    # two others are fitted: one has 4 false faithful rows, one too few
    others = [
        *made({(0.9, 1): 20, (0.9, 0): 4, (0.1, 1): 5, (0.1, 0): 6}, "b"),
        *made(dict.fromkeys([(0.9, 1), (0.9, 0), (0.1, 1), (0.1, 0)], 9), "c"),
    ]
    both = fallback_table(Scores((*one_label, *others)))
    assert f"UQ_faith on b (1 of 2). N{why[1:]}" in both.note


def test_the_papers_rule_uses_the_condition_however_few_its_rows_are():
    train = made({(1.0, 1): 20, (1.0, 0): 4, (0.1, 1): 5, (0.1, 0): 25})
    test = made({(1.0, 1): 3}, split="test")
    alone = fitted_scores("franq-condition-alone", train, test)
    # P_faithful is 1: the faithful branch alone. Its own rows: all below .3 false, above .7 true
    assert alone == [1.0, 1.0, 1.0]
    # a test row between the two: the own curve rises over other rows than the curve of all
    between = [replace(test[0], scores={P: 1.0, FAITH: 0.4, UNFAITH: 0.4})]
    own = fitted_scores("franq-condition-alone", train, between)[0]
    assert own != fitted_scores("franq-condition", train, between)[0]


def test_every_table_with_condition_calibrated_franq_names_the_fallback():
    scores = with_fitted(random_scores(["a"], train=12))
    fallback = fallback_table(scores)
    assert "(1 of 1)" in fallback.note
    rows = tuple(metric_rows(scores, resamples=2))
    results = Results({}, {}, (), rows, (fallback,))
    table, said = main_table(results, "prr"), fallback_said(results)
    assert fallback.note in fallback_named(table, said).note
    assert fallback_named(fallback, said) == fallback  # not said twice
    assert fallback_named(table, fallback_said(Results({}, {}, (), rows))) == table


@pytest.mark.parametrize("make", [LearnedFranq, AdditiveLogistic])
def test_logistic_functions_rank_by_the_signals_and_leave_gaps_out(make):
    rng = np.random.default_rng(0)
    true = rng.random(300) < 0.5
    signals = 1 / (1 + np.exp(-rng.normal(2.0 * true[:, None] - 1, 1, (300, 3))))
    signals[::10, 1] = np.nan
    model = make().fit(signals, true.astype(int))
    found = model.predict_proba(signals)[:, 1]
    assert np.isnan(found[::10]).all()
    known = ~np.isnan(found)
    assert ((found[known] > 0) & (found[known] < 1)).all()
    assert found[known & true].mean() > found[known & ~true].mean() + 0.3
    assert model.to_json().startswith("[")
    assert np.isnan(make().fit(signals * np.nan, true.astype(int)).predict_proba(signals)).all()


def copied_answers(split):
    """40 answers of ten equal claims each; the signals are noise: only a copy tells a label."""
    rng = np.random.default_rng(0)
    noise, true = rng.random((40, 3)), rng.random(40) < 0.5
    found = []
    for i, answer in enumerate(noise):
        values = dict(zip(SIGNALS, map(float, answer), strict=True))
        for j in range(10):
            found.append(Score(f"{split}{i}/{j}", "a", split, bool(true[i]), values, f"{i}"))
    return found


def test_the_penalty_of_learned_franq_is_chosen_over_whole_answers():
    train, test = copied_answers("train"), copied_answers("test")
    X = np.array([[row.scores[m] for m in SIGNALS] for row in train])
    features = np.column_stack([X[:, 0], np.log(X[:, 1:] / (1 - X[:, 1:]))])
    expected = {}
    for groups in (None, [row.group for row in train]):
        model = FranqMixture(faith=(0,), unfaith=(1,), signs=(1, 1))
        model.fit(features, [row.is_true for row in train], groups=groups)
        expected[groups is None] = model.predict_proba(features)[:, 1]
        if groups:
            assert model.penalty_ == 100.0  # noise: the strongest penalty
    assert not np.allclose(expected[True], expected[False], atol=1e-3)
    found = fitted_scores("franq-learned", train, test)
    assert found == pytest.approx(expected[False].tolist(), abs=1e-9)


def test_signals_without_bounds():
    odds = unbounded(np.array([0.5, 0.9, 1e-300, 1.0]), log_space=False)
    assert odds[:2] == pytest.approx([0, math.log(9)])
    assert np.isfinite(odds).all()
    assert unbounded(np.array([-3.0, -1e9]), log_space=True).tolist() == [-3.0, -700.0]


def test_the_reciprocal_inverts_the_confidence_in_use():
    for name, uncertainties in (("semantic-entropy", (0.2, 3)), ("eigenvalues-entail", (1, 5))):
        for n in (10, 6):
            for u in uncertainties:
                value = confidence(name, u, samples=n)
                other = confidence(f"{name}:reciprocal", u, samples=n)
                assert reciprocal(name, value, samples=n) == pytest.approx(other)
                assert reciprocal(f"{name}:reciprocal", other, samples=n) == other
    # five meanings: 1 - 4 / 9 in use with ten samples, 1 - 4 / 5 with six, 1 / 5 as the reciprocal
    for n, value in ((10, 1 - 4 / 9), (6, 1 - 4 / 5)):
        assert reciprocal("eigenvalues-entail", value, samples=n) == pytest.approx(1 / 5)
    assert reciprocal("semantic-entropy", 0.0, samples=10) == 0.0
    assert reciprocal("perplexity", 0.3, samples=10) == 0.3


def test_franq_of_the_reciprocals_is_the_row_of_the_other_mapping():
    scores = random_scores(train=30)
    names = tuple(f"{name}:reciprocal" for name in SIGNALS[1:])
    mapped = with_reciprocals(scores, names, samples=6)
    options = {"signals": (SIGNALS[0], *names)}
    train, test = mapped.part("a", "train").rows, mapped.part("a", "test").rows
    changed = changes(scores, SIGNALS, log_space=False, samples=6)
    (label,) = [name for name in changed if "1 / V" in name]
    assert label.endswith("instead of exp(-SE), 1 - (V - 1) / 5")
    assert changed[label](train, test) == fitted_scores("franq-none", train, test, **options)
    assert not any("1 / V" in name for name in changes(mapped, **options, log_space=False))


def test_learned_franq_of_the_shipped_signal_weighs_it_in_both_branches():
    bare = random_scores(train=30)
    assert not any("Max Token Entropy" in name for name in changes(bare, SIGNALS, log_space=False))
    uncertainty = SIGNALS[1]
    scores = Scores(
        tuple(
            replace(r, scores={**r.scores, "max-token-entropy": r.scores[uncertainty]})
            for r in bare.rows
        )
    )
    train, test = scores.part("a", "train").rows, scores.part("a", "test").rows
    changed = changes(scores, SIGNALS, log_space=False)
    (label,) = [name for name in changed if name.startswith("calibration: learned, and both")]
    twice = (SIGNALS[0], uncertainty, uncertainty)
    assert changed[label](train, test) == fitted_scores("franq-learned", train, test, twice)


def test_one_change_compares_with_the_papers_form():
    scores = random_scores(train=30)
    [table] = one_change(scores, resamples=20)
    figures = {row[0]: row[1:] for row in table.rows}
    whole = {
        r.method: r for r in metric_rows(with_fitted(scores), resamples=2) if r.dataset == MEAN
    }
    assert len(FITTED) == 8
    base = table.rows[0]
    assert base[1] == pytest.approx(whole["franq-condition-alone"].prr)
    assert base[2] is None
    learned = next(row for name, row in figures.items() if "learned" in name)
    assert learned[0] == pytest.approx(whole["franq-learned"].prr)
    gap = learned[0] - base[1]
    assert learned[1].startswith("+" if gap > 0 else "-")
    assert "[" in learned[1]
    assert one_change(Scores(tuple(r for r in scores.rows if not r.is_true))) == []


def test_trees_with_other_settings_are_xgboost_itself():
    from xgboost import XGBClassifier

    scores = random_scores(train=30)
    [table] = one_change(scores, resamples=20)
    figures = {row[0]: row[1] for row in table.rows}
    names = list(figures)
    first = names.index("the same trees, 50 of depth 2")
    assert names[first : first + 2] == [
        "the same trees, 50 of depth 2", "the same trees, XGBoost's own settings",
    ]  # fmt: skip
    judged_alone = []
    for name in scores.datasets:
        train, test = (scores.part(name, split).rows for split in ("train", "test"))
        labels = [row.is_true for row in train]
        own = XGBClassifier(random_state=0, n_jobs=1).fit(matrix(train, SIGNALS), labels)
        told = own.predict_proba(matrix(test, SIGNALS))[:, 1]
        judged_alone += [
            replace(r, scores={"max-nli": float(v)}) for r, v in zip(test, told, strict=True)
        ]
    rows = metric_rows(Scores(tuple(judged_alone)), resamples=2)
    row = next(r for r in rows if r.dataset == MEAN)
    assert figures["the same trees, XGBoost's own settings"] == pytest.approx(row.prr)


def with_method(scores, method, made):
    """A further method, its score made of the row's others."""
    return Scores(tuple(replace(r, scores={**r.scores, method: made(r)}) for r in scores.rows))


def test_the_first_row_has_semantic_entropy_as_the_paper_ran_it():
    scores = with_method(random_scores(train=30), LIBRARY, lambda r: 1 - r.scores[FAITH])
    [table] = one_change(scores, resamples=2)
    expected = judged(scores, {"it": franq((P, LIBRARY, UNFAITH), min_per_class=0)})["it"].prr
    figures = {row[0]: row[1] for row in table.rows}
    assert table.rows[0][1] == pytest.approx(expected)
    own = judged(scores, {"it": franq(min_per_class=0)})["it"].prr
    assert figures["UQ_faith: Semantic Entropy"] == pytest.approx(own) != expected
    # the same row as in the main tables, whose other methods keep the signals of the run
    fitted = {r.method: r.prr for r in metric_rows(with_fitted(scores)) if r.dataset == MEAN}
    assert fitted["franq-condition-alone"] == table.rows[0][1]
    assert fitted["franq-condition"] == pytest.approx(own)  # every condition has enough rows


def test_p_faithful_alone_is_one_of_the_changes():
    scores = random_scores(train=30)
    [table] = one_change(scores, resamples=2)
    figures = {row[0]: row[1:] for row in table.rows}
    raw = {r.method: r for r in metric_rows(scores) if r.dataset == MEAN}[P]
    alone = figures["no uncertainty: P(faithful) alone"]
    assert (alone[0], alone[2], alone[4]) == (raw.prr, raw.pr_auc, raw.ece)


@pytest.mark.parametrize(
    ("signals", "taken", "who"),
    [
        ((P, FAITH, UNFAITH), (P, LIBRARY, UNFAITH), "the paper"),
        ((P, "parametric-knowledge", UNFAITH), None, "the paper, for corrupted passages,"),
        (LONG, None, "the paper"),
        ((P, "max-token-entropy", UNFAITH), None, "this run"),
        ((P, FAITH, "degree-entail"), None, "this run"),
        (("max-nli", FAITH, UNFAITH), None, "this run"),
    ],
)
def test_the_papers_signals_are_told_from_others(signals, taken, who):
    scores = with_method(random_scores(train=9), LIBRARY, lambda r: r.scores[FAITH])
    assert as_paper(signals, scores.rows) == (taken or signals)
    assert whose(as_paper(signals, scores.rows)) == who
    said = as_paper_said(signals, scores.rows)
    assert said.startswith("FRANQ, condition-calibrated, as in the paper, has ")
    assert ("not the paper's" in said) == (who == "this run")
    assert ("Semantic Entropy (lm-polygraph)" in said) == (taken is not None)


def test_the_papers_rule_names_conditions_without_any_row():
    enough = made({(0.9, 1): 6, (0.9, 0): 6, (0.1, 1): 6, (0.1, 0): 6}, "a")
    low = made({(0.49, 1): 6, (0.49, 0): 6}, "b")  # nowhere above .5
    one_label = made({(0.1, 1): 6}, "c")  # not fitted at all
    whole = Scores((*enough, *low, *one_label))
    rows = with_method(whole, LIBRARY, lambda r: r.scores[FAITH]).rows
    assert as_paper_said((P, FAITH, UNFAITH), rows).endswith(
        ", as in the paper, has no fallback where a condition has rows, and the paper's form of "
        "UQ_faith, Semantic Entropy (lm-polygraph). It takes the curve of all rows for UQ_faith "
        "on b, which has no faithful training row."
    )
    said = as_paper_said((P, FAITH, UNFAITH), rows[: len(enough)])
    assert said.endswith("has no fallback and the paper's form of UQ_faith, Semantic Entropy "
                         "(lm-polygraph).")  # fmt: skip
    # with .4 as the threshold b's rows are all faithful
    said = fallback_table(Scores((*enough, *low)), faithful_above=0.4).note
    assert said.endswith("all rows for UQ_unfaith on b, which has no unfaithful training row.")
    own = as_paper_said((P, UNFAITH, FAITH), low)
    assert "no fallback where a condition has rows, but this run's signals" in own
    assert own.endswith("UQ_faith on b, which has no faithful training row.")


def test_the_librarys_form_is_taken_only_where_no_row_is_lost():
    scores = random_scores(train=9)
    signals = (P, FAITH, UNFAITH)
    assert as_paper(signals, scores.rows) == signals
    one_lacks = with_method(scores, LIBRARY, lambda r: None if r.id == "test3" else 0.5)
    assert as_paper(signals, one_lacks.rows) == signals
    both_lack = with_method(one_lacks, FAITH, lambda r: r.scores[LIBRARY])
    assert as_paper(signals, both_lack.rows) == (P, LIBRARY, UNFAITH)


def test_the_first_row_says_whose_signals_it_has():
    scores = with_method(random_scores(train=30), LIBRARY, lambda r: r.scores[FAITH])
    for signals, who in (
        ((P, FAITH, UNFAITH), "the paper"),
        ((P, "parametric-knowledge", UNFAITH), "the paper, for corrupted passages,"),
        ((P, UNFAITH, FAITH), "this run"),
    ):
        [table] = one_change(scores, signals=signals, resamples=2)
        assert table.rows[0][0] == f"as {who} has it: condition-calibrated, no fallback"


def test_the_long_form_tries_other_signals_as_log_probabilities():
    scores = with_method(random_scores(train=30), "max-nli", lambda r: r.scores[FAITH])
    whole = Scores(
        tuple(
            replace(r, scores=r.scores | {m: math.log(r.scores[m]) for m in (FAITH, UNFAITH)})
            for r in scores.rows
        )
    )
    [table] = one_change(whole, resamples=2, log_space=True)
    figures = {row[0]: row[1] for row in table.rows}
    # Max NLI is UQ_faith's own number here, so as UQ_faith it changes nothing
    assert figures["UQ_faith: Max NLI"] == pytest.approx(table.rows[0][1])
    assert "P_faithful: Max NLI" in figures  # a probability: its logarithm could not be a weight
    # Claim probabilities are stored as logarithms, also where a run has another UQ_faith
    stored = with_method(whole, "max-probability", lambda r: r.scores[UNFAITH])
    [table] = one_change(stored, resamples=2, log_space=True)
    [same] = [row for row in table.rows if row[0] == "UQ_unfaith: Max Sequence/Claim Probability"]
    assert same[1::2] == pytest.approx(table.rows[0][1::2])  # PRR, PR-AUC, ECE
    whole = with_method(whole, P, lambda r: r.scores["max-nli"])
    asked = {"it": franq((P, FAITH, UNFAITH), min_per_class=0, log_space=True)}
    assert figures["P_faithful: Max NLI"] == pytest.approx(judged(whole, asked)["it"].prr)


def test_another_split_moves_rows_from_one_curve_to_the_other():
    # The 20 false rows of P(faithful) .4 are faithful above .3 alone. False rows lie up to
    # UQ_faith .29 (.39 with them) and UQ_unfaith .39 (.49 with them), true ones from .70 and .60.
    train = made({(0.4, 0): 20, (0.9, 1): 10, (0.9, 0): 10, (0.1, 1): 10, (0.1, 0): 10})
    [row] = made({(0.4, 1): 1}, split="test")
    test = [replace(row, scores={P: 0.4, FAITH: 0.45, UNFAITH: 0.45})]
    variants = changes(Scores((*train, *test)), SIGNALS, log_space=False)
    name = "claims that count as faithful for the two curves: above"
    # .4 * (.45 - .39) / (.70 - .39) + .6 * (.45 - .39) / (.60 - .39)
    assert variants[f"{name} 0.3"](train, test) == [pytest.approx(0.24885, abs=1e-5)]
    # .4 * (.45 - .29) / (.70 - .29) + .6 * 0
    assert variants[f"{name} 0.7"](train, test) == [pytest.approx(0.15610, abs=1e-5)]
