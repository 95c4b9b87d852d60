import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.calibration.promise import (
    Promise,
    PromiseRefusedError,
    at_most_flagged,
    fewest_at_share,
    fewest_claims,
    most_flagged,
    one_an_answer,
    upper_bound,
)


def flags(n, *counts):
    """One rule for each count: it flags the first so many of n claims."""
    return np.array([np.arange(n) < count for count in counts])


# -- numbers worked out by hand ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("alpha", "delta", "n"),
    [
        (0.05, 0.1, 45),  # .95^45 = .0994, .95^44 = .1047
        (0.1, 0.1, 22),  # .9^22 = .0985, .9^21 = .1094
        (0.01, 0.1, 230),  # .99^230 = .0991, .99^229 = .1001
        (0.5, 0.25, 2),  # .5^2 = .25
    ],
)
def test_fewest_claims(alpha, delta, n):
    assert fewest_claims(alpha, delta) == n


@pytest.mark.parametrize(
    ("n", "most"),
    [
        (10, None),  # .8^10 = .1074
        (11, 0),  # .8^11 = .0859
        # P(2 or fewer of 25, each .2) = .0038 + .0236 + .0708 = .0982; of 24: .1145
        (24, 1),
        (25, 2),
    ],
)
def test_how_many_may_be_flagged(n, most):
    assert most_flagged(n, 0.2, 0.1) == most


def test_how_many_answers_show_it_if_the_share_stays():
    # P(1 or none of 18, each .2) = .0180 + .0811 = .0991, of 17: .0225 + .0957 = .118; a twentieth
    # of 11 to 18 is one at least
    assert fewest_at_share(1, 20, 0.2, 0.1) == 18
    assert fewest_at_share(0, 3, 0.2, 0.1) == 11
    assert fewest_at_share(7, 20, 0.2, 0.1) is None  # .35 is more than .2 with any number
    assert fewest_at_share(199, 1000, 0.2, 0.1) is None  # more than anybody labels
    with pytest.raises(ValueError, match="n >= 1"):
        fewest_at_share(0, 0, 0.2, 0.1)


def test_the_bound_with_none_flagged_is_in_closed_form():
    # (1 - b)^n = delta
    assert upper_bound(0, 45, delta=0.1) == pytest.approx(1 - 0.1 ** (1 / 45))
    assert upper_bound(0, 1, delta=0.1) == pytest.approx(0.9)
    assert upper_bound(3, 3, delta=0.1) == 1


def test_the_bound_solves_the_binomial_equation():
    # 1 of 77: (1 - b)^77 + 77 b (1 - b)^76 = .1
    b = upper_bound(1, 77, delta=0.1)
    assert (1 - b) ** 77 + 77 * b * (1 - b) ** 76 == pytest.approx(0.1)
    # .95^77 + 77 * .05 * .95^76 = .0193 + .0781 = .0974 < .1, but for 76: .0203 + .0811 = .1014
    assert b < 0.05 < upper_bound(1, 76, delta=0.1)


def test_the_strictest_rule_within_the_bound_is_chosen():
    # 200 claims: 4 flagged give .0396, 6 give .0521
    found = at_most_flagged(flags(200, 0, 4, 6), alpha=0.05, delta=0.1)
    assert found == Promise(0.05, 0.1, 200, 4, pytest.approx(0.0396, abs=1e-4), 1)


def test_testing_stops_at_the_first_rule_that_fails():
    # the third rule would pass by itself, but the second has failed before it
    assert at_most_flagged(flags(200, 1, 9, 0), alpha=0.05, delta=0.1).rule == 0


def test_an_exact_count_is_no_more_than_that():
    # 7 of 100: 7 / 100 * 100 is 7.000000000000001, whose ceiling would be 8
    assert upper_bound(7, 100, delta=0.1) == pytest.approx(0.1149, abs=1e-4)
    assert at_most_flagged(flags(100, 7), alpha=0.12, delta=0.1).flagged == 7  # 8: .1267


def test_too_few_claims_are_refused_with_the_number_needed():
    with pytest.raises(PromiseRefusedError, match=r"44 answers with a true claim .* 45 are needed"):
        at_most_flagged(flags(44, 0), alpha=0.05, delta=0.1)
    assert at_most_flagged(flags(45, 0), alpha=0.05, delta=0.1).bound < 0.05


def test_refused_where_even_the_most_lenient_rule_flags_too_many():
    with pytest.raises(PromiseRefusedError, match=r"flags 9 of 100 .* up to 0\.13\d .* than 0\.05"):
        at_most_flagged(flags(100, 9, 9), alpha=0.05, delta=0.1)


@pytest.mark.parametrize(
    "wrong", [np.zeros(50, bool), np.zeros((2, 50)), np.zeros((0, 50), bool), []]
)
def test_other_shapes_and_numbers_are_refused(wrong):
    with pytest.raises(ValueError, match="rules, claims"):
        at_most_flagged(wrong)


@pytest.mark.parametrize(("alpha", "delta"), [(0, 0.1), (1, 0.1), (0.05, 0), (0.05, 1.2)])
def test_shares_are_shares(alpha, delta):
    with pytest.raises(ValueError, match="between 0 and 1"):
        at_most_flagged(flags(50, 0), alpha=alpha, delta=delta)


# -- properties -------------------------------------------------------------------------------

SHARES = st.floats(0.01, 0.4)


@given(st.integers(1, 400), st.data(), SHARES)
def test_the_bound_grows_with_the_count_and_shrinks_with_n(n, data, delta):
    count = data.draw(st.integers(0, n - 1))
    bound = upper_bound(count, n, delta=delta)
    assert count / n < bound < upper_bound(count + 1, n, delta=delta) + 1e-12
    assert upper_bound(count, n + 1, delta=delta) < bound
    # exact: under the bound itself, count or fewer have probability delta
    chance = math.fsum(
        math.comb(n, i) * bound**i * (1 - bound) ** (n - i) for i in range(count + 1)
    )
    assert chance == pytest.approx(delta, rel=1e-6)


@given(SHARES, SHARES)
def test_fewest_claims_is_where_the_bound_meets_alpha(alpha, delta):
    least = fewest_claims(alpha, delta)
    assert upper_bound(0, least, delta=delta) <= alpha + 1e-9
    assert least == 1 or upper_bound(0, least - 1, delta=delta) > alpha - 1e-9


@given(st.lists(st.integers(0, 60), min_size=1, max_size=8), SHARES, st.randoms())
def test_the_choice_and_every_rule_before_it_keep_the_bound(counts, alpha, chance):
    n = 60
    table = flags(n, *counts)
    try:
        found = at_most_flagged(table, alpha=alpha, delta=0.2)
    except PromiseRefusedError:
        assert n < fewest_claims(alpha, 0.2) or upper_bound(counts[0], n, delta=0.2) > alpha
        return
    bounds = [upper_bound(count, n, delta=0.2) for count in counts]
    assert max(bounds[: found.rule + 1]) <= alpha
    assert found.rule + 1 == len(counts) or bounds[found.rule + 1] > alpha
    assert (found.flagged, found.bound) == (counts[found.rule], bounds[found.rule])
    shuffled = table[:, chance.sample(range(n), n)]
    assert at_most_flagged(shuffled, alpha=alpha, delta=0.2) == found


# -- one claim an answer ----------------------------------------------------------------------


def test_one_claim_of_every_answer_is_drawn_whatever_the_order():
    answers = [f"a{i // 4}" for i in range(80)]
    claims = [f"a{i // 4}/{i % 4}" for i in range(80)]
    drawn = one_an_answer(answers, claims)
    assert [answers[i] for i in drawn] == [f"a{i}" for i in range(20)]
    order = random.Random(1).sample(range(80), 80)
    again = one_an_answer([answers[i] for i in order], [claims[i] for i in order])
    assert {claims[order[i]] for i in again} == {claims[i] for i in drawn}
    # more answers leave the draw as it is
    assert one_an_answer([*answers, "b"], [*claims, "b/0"]) == [*drawn, 80]


def test_every_place_is_drawn():
    answers = [f"a{i // 4}" for i in range(4000)]
    drawn = one_an_answer(answers, [str(i % 4) for i in range(4000)])
    places = [i % 4 for i in drawn]
    # 250 of 1,000 each; three standard errors are 41
    assert all(abs(places.count(place) - 250) < 41 for place in range(4))


def test_each_claim_needs_its_answer():
    with pytest.raises(ValueError, match="zip"):
        one_an_answer(["a"], [])


# -- the promise, kept ------------------------------------------------------------------------

RULES = np.linspace(0, 0.3, 61)


def draws(number=1000, answers=150, per_answer=3):
    """Scores of true claims, uniform over answers, alike within one: rule t flags a share t."""
    rng = np.random.default_rng(7)
    for _ in range(number):
        of_answer = rng.uniform(size=(answers, 1))
        own = rng.uniform(size=(answers, per_answer))
        yield np.where(rng.uniform(size=own.shape) < 0.7, of_answer, own)


@pytest.mark.slow
def test_the_promise_is_broken_no_more_often_than_delta():
    alpha, delta = 0.05, 0.1
    broken, refused, shares = 0, 0, []
    for scores in draws():
        names = [str(i) for i in range(len(scores)) for _ in range(3)]
        drawn = one_an_answer(names, [str(i) for i in range(len(names))])
        true_claims = scores.ravel()[drawn]
        try:
            share = RULES[
                at_most_flagged(true_claims < RULES[:, None], alpha=alpha, delta=delta).rule
            ]
        except PromiseRefusedError:
            refused += 1
            continue
        broken += share > alpha
        shares.append(share)
    assert broken / 1000 <= delta + 2 * math.sqrt(delta * (1 - delta) / 1000)
    assert refused == 0
    assert np.mean(shares) > 0.02  # a rule worth having
