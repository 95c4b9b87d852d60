import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from franq_guard.datasets.agreeing import agreement, corrected_rate, counted, votes
from franq_guard.datasets.claim_set import ClaimJudgement, ClaimSet
from franq_guard.records import Claim, Generation, Trace

LABELS = ("true", "false", "unverifiable")


def labelled(*labels: str, answer: str = "a") -> dict[tuple[str, int], str]:
    return {(answer, i): label for i, label in enumerate(labels)}


def test_kappa_by_hand() -> None:
    # Of 4 claims 3 agree: p = .75. By chance (3/4)(2/4) + (1/4)(2/4) = .5: kappa = .25/.5 = .5.
    people = labelled("true", "true", "true", "false")
    judge = labelled("true", "true", "false", "false")
    found = agreement(people, judge, "factuality")
    assert (found.n, found.accuracy, found.kappa) == (4, 0.75, 0.5)
    assert found.confusion == ((2, 1, 0), (0, 1, 0), (0, 0, 0))


@given(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=2))
def test_the_same_as_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    first, second = zip(*pairs, strict=True)
    found = agreement(labelled(*first), labelled(*second), "factuality")
    expected = confusion_matrix(first, second, labels=LABELS)
    assert np.array_equal(found.confusion, expected)
    if len({*first, *second}) > 1:
        assert found.kappa == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)
    else:
        assert math.isnan(found.kappa)


def test_claims_of_one_voice_alone_do_not_count() -> None:
    found = agreement(
        labelled("true", "false"), {("a", 0): "true", ("b", 7): "false"}, "factuality"
    )
    assert found.n == 1
    assert agreement({}, {}, "faithfulness").to_dict()["kappa"] is None


def test_several_people_vote_and_ties_are_left_out() -> None:
    said = [
        ClaimJudgement("a", 0, f"person:{who}", factuality=vote)  # type: ignore[arg-type]
        for who, vote in (("x", "true"), ("y", "false"), ("z", "false"))
    ]
    said += [ClaimJudgement("a", 1, f"person:{who}", factuality=v) for who, v in (("x", "true"),)]
    assert votes(said, ["person"], "factuality") == {("a", 0): "false", ("a", 1): "true"}
    assert votes(said, ["person:x", "person:y"], "factuality") == {("a", 1): "true"}


def test_a_rate_by_hand() -> None:
    # Four answers of one claim each: people say 1, 1, 0, 0 and the judge 1, 1, 1, 0; on four more
    # claims the judge says 1, 1, 0, 0. Variances of means (n / (n - 1) * sum of squares / n^2):
    # people 4/3 * 1/16 = 1/12; judge on the sample (mean .75) 4/3 * .75/16 = 1/16; on all eight
    # (mean 5/8) 8/7 * 1.875/64 = 15/448, so 15/224 for four of them;
    # of their sum 2, 2, 1, 0 (mean 1.25): 4/3 * 2.75/16 = 11/48. Covariance:
    # (11/48 - 1/12 - 1/16) / 2 = 1/24. Weight: (1/24) / (1/16 + 15/224) = 28/87.
    # Rate: .5 + 28/87 * (.5 - .75) = .5 - 7/87. Variance of people - 28/87 judge:
    # 1/12 + w^2 * 1/16 - 2 w * 1/24; plus w^2 * 15/224.
    people = {(f"a{i}", 0): "true" if i < 2 else "false" for i in range(4)}
    judge = {(f"a{i}", 0): "true" if i < 3 else "false" for i in range(4)}
    judge |= {(f"b{i}", 0): "true" if i < 2 else "false" for i in range(4)}
    rate = corrected_rate(judge, people, "true")
    assert (rate.judge, rate.people) == (0.625, 0.5)
    w = 28 / 87
    assert rate.weight == pytest.approx(w)
    assert rate.corrected == pytest.approx(0.5 - 7 / 87)
    variance = 1 / 12 + w**2 / 16 - 2 * w / 24 + w**2 * 15 / 224
    assert rate.high - rate.corrected == pytest.approx(1.6448536 * variance**0.5)


def test_the_interval_holds_what_it_promises_and_is_narrower_with_a_good_judge() -> None:
    rng = np.random.default_rng(0)
    inside, widths, alone = 0, [], []
    for _ in range(400):
        truth = rng.random(600) < 0.3
        judge = np.where(rng.random(600) < 0.1, ~truth, truth)  # wrong in one of ten
        names = ["false", "true"]
        said = {(f"a{i}", 0): names[int(v)] for i, v in enumerate(judge)}
        people = {(f"a{i}", 0): names[int(truth[i])] for i in range(100)}
        rate = corrected_rate(said, people, "true")
        inside += rate.low <= 0.3 <= rate.high
        widths.append(rate.high - rate.low)
        without = corrected_rate({k: said[k] for k in people}, people, "true")
        alone.append(without.high - without.low)
    # 90 % promised; two standard errors of 400 draws are 3 %.
    assert inside / 400 >= 0.87
    assert np.mean(widths) < 0.85 * np.mean(alone)


@pytest.mark.parametrize(("label", "share"), [("true", 1.0), ("false", 0.0)])
def test_a_sample_of_one_label_alone_is_not_certain(label: str, share: float) -> None:
    # The normal approximation says 1.00 to 1.00 here, after 8 votes.
    people = {(f"a{i}", 0): "true" for i in range(8)}
    judge = people | {(f"b{i}", 0): "true" if i % 3 else "false" for i in range(9)}
    rate = corrected_rate(judge, people, label)
    exact = binomtest(round(8 * share), 8).proportion_ci(0.9, method="exact")
    assert rate.corrected == pytest.approx(share)
    assert (rate.low, rate.high) == pytest.approx((exact.low, exact.high))


def test_one_more_answer_of_the_judge_does_not_turn_the_rate() -> None:
    """Its two claims are of one answer, which by itself has no variance at all."""
    people = {(f"a{i}", 0): "false" if i % 4 == 0 else "true" for i in range(40)}
    alone = corrected_rate(people, people, "true")
    more = corrected_rate(people | {("b", 0): "false", ("b", 1): "false"}, people, "true")
    assert (alone.corrected, alone.weight) == (0.75, 0.0)
    assert more.corrected > 0.68
    assert more.high - more.low == pytest.approx(alone.high - alone.low, rel=0.1)


def test_too_few_people_give_no_interval() -> None:
    rate = corrected_rate(labelled("true", "false"), labelled("true"), "true")
    assert (rate.judge, rate.people, rate.n_people) == (0.5, 1.0, 1)
    assert math.isnan(rate.corrected)
    assert math.isnan(rate.low)


def test_a_set_is_counted(tmp_path: Path) -> None:
    made = ClaimSet.create(tmp_path, {})
    for name in ("a", "b"):
        claims = (Claim("It is.", ((0, 6),)), Claim("Is it?", ((7, 13),), not_a_claim="question"))
        made.add_answer(Trace("Q?", (), Generation("It is. Is it?"), claims=claims, id=name))
    made.add(ClaimJudgement("a", 0, "person:x", "faithful", "true"))
    made.add(ClaimJudgement("b", 0, "judge:m", error="time-out"))
    found = counted(made, ["person", "judge"])
    assert (found.questions, found.answers, found.claims, found.not_judged) == (1, 2, 2, 1)
    assert found.labels["factuality"] == {"true": 1, "false": 0, "unverifiable": 0}
    assert found.to_dict()["labels"]["faithfulness"]["faithful"] == 1
