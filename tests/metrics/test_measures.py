import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

from franq_guard.metrics import measures as m

FIXTURE = Path(__file__).parents[1] / "fixtures" / "uq" / "metrics.json"
CASES = json.loads(FIXTURE.read_text())
IDS = [f"{c['kind']}-{len(c['ue'])}" for c in CASES]

labelled = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.5000001, 0.9, 1.0])),
    min_size=2,
    max_size=40,
).map(lambda rows: tuple(np.array(column, float) for column in zip(*rows, strict=True)))


def mean_of_the_kept(quality, kept, rejected):
    """Mean quality of what is kept, over rejecting 0 .. rejected-1 from the end of an order."""
    ordered, n = [quality[i] for i in kept], len(kept)
    return math.fsum(math.fsum(ordered[:k]) / k for k in range(n, n - rejected, -1)) / rejected


def mean_over_all_tie_orders(quality, ue, rejected):
    """The expectation of the same by counting: of a tie that k cuts, each is kept equally often."""
    areas = []
    for k in range(len(ue), len(ue) - rejected, -1):
        last = sorted(ue)[k - 1]
        inside = [q for q, u in zip(quality, ue, strict=True) if u < last]
        tied = [q for q, u in zip(quality, ue, strict=True) if u == last]
        areas.append((math.fsum(inside) + (k - len(inside)) / len(tied) * math.fsum(tied)) / k)
    return math.fsum(areas) / rejected


@pytest.mark.parametrize("case", CASES, ids=IDS)
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_prr_equals_the_reference(case, share):
    """The reference takes tied rows in the order of an unstable sort, which differs by processor.

    So its number is compared with the smallest and the largest over all orders of the ties (the
    worst and the best tied rows kept longest): without ties these two are the one value.
    """
    ue, target, values = np.array(case["ue"]), np.array(case["target"]), case["values"]
    n, rejected = len(ue), int(share * len(ue))
    spread = np.ptp(target)
    quality = (target - target.min()) / spread if spread else np.full(n, 0.5)
    low, high = (
        mean_of_the_kept(quality, sorted(range(n), key=order), rejected)
        for order in (lambda i: (ue[i], quality[i]), lambda i: (ue[i], -quality[i]))
    )
    mean = mean_over_all_tie_orders(quality, ue, rejected)
    reference = values[f"prr_raw_{share}"]
    assert low - 1e-9 <= reference <= high + 1e-9
    raw = m.prr_raw(target, -ue, max_rejection=share)
    assert raw == pytest.approx(mean, abs=1e-9)
    if len(np.unique(ue)) == n:
        assert raw == pytest.approx(reference, abs=1e-9)
    oracle = m.prr_raw(target, target, max_rejection=share)
    assert oracle == pytest.approx(values[f"prr_oracle_{share}"], abs=1e-9)
    if not spread:
        assert math.isnan(m.prr(target, -ue, max_rejection=share))
        return
    random = quality.mean()
    scale = values[f"prr_oracle_{share}"] - random
    expected = (mean - random) / scale
    assert m.prr(target, -ue, max_rejection=share) == pytest.approx(expected, abs=1e-9)
    # The 1000 shuffles stand for the mean quality, up to their own noise.
    noise = 4 / np.sqrt(1000 * n) / scale
    assert abs((reference - random) / scale - values[f"prr_normalized_{share}"]) < noise


BINARY = [c for c in CASES if set(c["target"]) == {0.0, 1.0}]


@pytest.mark.parametrize("case", BINARY, ids=[f"{c['kind']}-{len(c['ue'])}" for c in BINARY])
def test_areas_equal_the_reference(case):
    target, confidence, values = np.array(case["target"]), -np.array(case["ue"]), case["values"]
    got = m.pr_auc(target, confidence)
    assert got == pytest.approx(values["prauc_false_positive_class"], abs=1e-9)
    got = m.auroc(target, confidence)
    assert got == pytest.approx(values["rocauc_false_positive_class"], abs=1e-9)
    if len(np.unique(confidence)) == len(confidence):
        assert m.aurc(target, confidence) == pytest.approx(values["rcc_auc"], abs=1e-9)


def test_by_hand():
    # Confidence falling: true .9, false .8, true .4, false .3
    true, p = [1, 0, 1, 0], [0.9, 0.8, 0.4, 0.3]
    # pairs (true, false) ranked right: (.9,.8) (.9,.3) (.4,.3); wrong: (.4,.8)
    assert m.auroc(true, p) == 3 / 4
    # false first from below: .3 hit 1/1 recall 1/2; .4 miss; .8 hit 2/3 recall 1
    assert m.pr_auc(true, p) == pytest.approx(1 / 2 * 1 + 1 / 2 * 2 / 3)
    # kept means for k = 1..4: 1, 1/2, 2/3, 1/2; half rejected: k = 3, 4 -> 7/12
    assert m.prr_raw(true, p) == pytest.approx(7 / 12)
    # oracle: k = 3, 4 -> 2/3, 1/2 the same as the score's; random 1/2
    assert m.prr(true, p) == pytest.approx(1.0)
    # all of it: (1 + 1/2 + 2/3 + 1/2)/4 = 2/3; oracle (1 + 1 + 2/3 + 1/2)/4 = 19/24
    assert m.prr(true, p, max_rejection=1.0) == pytest.approx((2 / 3 - 1 / 2) / (19 / 24 - 1 / 2))
    coverage, risk = m.risk_coverage(true, p)
    np.testing.assert_allclose(coverage, [0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(risk, [0, 1 / 2, 1 / 3, 1 / 2])
    # .01 + .64 + .36 + .09 over 4
    assert m.brier(true, p) == pytest.approx(1.10 / 4)
    # bins (.8,.9]: .1; (.7,.8]: .8; (.3,.4]: .6; (.2,.3]: .3; one claim each
    assert m.ece(true, p) == pytest.approx((0.1 + 0.8 + 0.6 + 0.3) / 4)


def test_reliability_bins():
    # 0 and .1 share the first bin, .1000001 opens the second, 1 closes the last
    table = m.reliability([0, 1, 1, 1], [0.0, 0.1, 0.1000001, 1.0])
    assert table.claims.tolist() == [2, 1, 0, 0, 0, 0, 0, 0, 0, 1]
    assert table.confidence[0] == pytest.approx(0.05)
    assert table.share_true[0] == 0.5
    assert np.isnan(table.share_true[2:9]).all()


@settings(deadline=None)
@given(labelled)
def test_as_scikit_learn(case):
    true, p = case
    assert m.brier(true, p) == pytest.approx(brier_score_loss(true, p, pos_label=1))
    if 0 < true.sum() < len(true):
        assert m.auroc(true, p) == pytest.approx(roc_auc_score(true, p), abs=1e-12)
        assert m.pr_auc(true, p) == pytest.approx(average_precision_score(1 - true, -p), abs=1e-12)


@settings(deadline=None)
@given(labelled, st.randoms(use_true_random=False))
def test_order_and_monotone_scale_do_not_matter(case, random):
    true, p = case
    rows = list(range(len(true)))
    random.shuffle(rows)
    for metric in (m.auroc, m.pr_auc, m.prr, m.aurc):
        value = metric(true, p)
        assert metric(true[rows], p[rows]) == pytest.approx(value, nan_ok=True)
        assert metric(true, 3 * p**3 - 7) == pytest.approx(value, nan_ok=True)
        low = -np.inf if metric is m.prr else 0
        assert math.isnan(value) or low <= value <= 1 + 1e-12


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2)), min_size=2, max_size=6))
def test_ties_are_the_mean_over_their_orders(rows):
    true, p = (np.array(column, float) for column in zip(*rows, strict=True))
    n = len(true)
    areas = []
    for order in itertools.permutations(range(n)):
        if all(p[a] >= p[b] for a, b in itertools.pairwise(order)):
            kept = np.cumsum(true[list(order)]) / np.arange(1, n + 1)
            areas.append(kept[n - n // 2 :].mean())
    if np.ptp(true):
        assert m.prr_raw(true, p) == pytest.approx(np.mean(areas))


@settings(deadline=None)
@given(labelled)
def test_ece_is_zero_where_every_bin_keeps_its_word(case):
    true, _ = case
    assert m.ece(true, np.full(len(true), true.mean())) == pytest.approx(0, abs=1e-12)


def test_one_class_and_no_claims_are_undefined_not_wrong():
    for metric in (m.auroc, m.pr_auc, m.prr, m.brier, m.ece, m.aurc):
        assert math.isnan(metric([], []))
    assert math.isnan(m.auroc([1, 1], [0.1, 0.2]))
    assert math.isnan(m.pr_auc([1, 1], [0.1, 0.2]))
    assert math.isnan(m.prr([1, 1], [0.1, 0.2]))
    assert m.pr_auc([0, 0], [0.1, 0.2]) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: m.auroc([1, 0], [0.5]), "must be equal"),
        (lambda: m.auroc([1, 0], [0.5, math.nan]), "NaN"),
        (lambda: m.auroc([1, 2], [0.5, 0.5]), "0 and 1 only"),
        (lambda: m.ece([1, 0], [0.5, 1.5]), r"in \[0, 1\]"),
        (lambda: m.ece([1, 0], [0.5, 0.5], bins=0), "bins"),
        (lambda: m.prr([1, 0], [0.5, 0.4], max_rejection=0), "max_rejection"),
        (lambda: m.bootstrap_se(m.auroc, [1, 0], [0.5, 0.4], groups=[1]), "shapes differ"),
    ],
)
def test_misuse(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def mean_truth(true, _):
    return float(np.mean(true))


def test_bootstrap_se_of_a_mean():
    # The standard error of a share: sqrt(.5 * .5 / 400) = 0.025
    true = np.tile([0.0, 1.0], 200)
    assert m.bootstrap_se(mean_truth, true, true) == pytest.approx(0.025, rel=0.1)
    # Four copies of each answer carry no news: 100 answers, sqrt(.25 / 100) = 0.05
    true, answer = np.repeat(np.tile([0.0, 1.0], 50), 4), np.repeat(np.arange(100), 4)
    got = m.bootstrap_se(mean_truth, true, true, groups=answer)
    assert got == pytest.approx(0.05, rel=0.1)
    # Of one answer nothing is known about others: its resamples are all alike, but not certain.
    assert math.isnan(m.bootstrap_se(mean_truth, true, true, groups=np.zeros(400)))


def test_bootstrap_leaves_the_global_generator_alone():
    np.random.seed(1)
    before = np.random.get_state()[1].copy()
    first = m.bootstrap_se(m.auroc, [1, 0, 1, 0], [0.9, 0.2, 0.3, 0.4], resamples=50)
    assert first == m.bootstrap_se(m.auroc, [1, 0, 1, 0], [0.9, 0.2, 0.3, 0.4], resamples=50)
    assert (np.random.get_state()[1] == before).all()


def test_precision_and_recall_by_hand():
    precision, recall = m.precision_recall([1, 0, 1, 0], [0.9, 0.8, 0.4, 0.3])
    # from below: .3 caught (1/1), .4 not, .8 caught (2/3), .9 not (2/4)
    np.testing.assert_allclose(precision, [1, 0.5, 2 / 3, 0.5])
    np.testing.assert_allclose(recall, [0.5, 0.5, 1, 1])
