import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from franq_guard.franq import franq

unit = st.floats(0, 1)


def test_by_hand():
    # 0.8 * 0.9 + 0.2 * 0.1 = 0.72 + 0.02; 0 * 0.9 + 1 * 0.3; 1 * 0.6 + 0 * 0.2
    got = franq([0.8, 0.0, 1.0], [0.9, 0.9, 0.6], [0.1, 0.3, 0.2])
    np.testing.assert_allclose(got, [0.74, 0.3, 0.6], rtol=1e-15)


def test_a_missing_branch_matters_only_where_it_carries_weight():
    got = franq([1, 0, 0.5, math.nan], [0.4, math.nan, 0.4, 0.4], [math.nan, 0.7, math.nan, 0.4])
    np.testing.assert_array_equal(got, [0.4, 0.7, math.nan, math.nan])


def test_no_claims():
    assert franq([], [], []).shape == (0,)


@pytest.mark.parametrize("bad", [(1.1, 0.5, 0.5), (0.5, -3.0, 0.5), (0.5, 0.5, math.inf)])
def test_outside_the_unit_interval(bad):
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\]"):
        franq(*([v] for v in bad))


def test_shapes_differ():
    with pytest.raises(ValueError, match="shapes differ"):
        franq([0.5, 0.5], [0.5], [0.5])


@settings(deadline=None)
@given(unit, unit, unit)
def test_between_the_branches(weight, faith, unfaith):
    value = franq([weight], [faith], [unfaith])[0]
    slack = 1e-15
    assert min(faith, unfaith) - slack <= value <= max(faith, unfaith) + slack
    assert 0 <= value <= 1


@settings(deadline=None)
@given(unit, unit, unit, unit)
def test_rises_with_each_branch(weight, faith, unfaith, more):
    low = franq([weight], [min(faith, more)], [unfaith])[0]
    high = franq([weight], [max(faith, more)], [unfaith])[0]
    assert low <= high


def test_the_classifier_is_public():
    from franq_guard import FranqClassifier as public
    from franq_guard.calibration.classifier import FranqClassifier

    assert public is FranqClassifier
