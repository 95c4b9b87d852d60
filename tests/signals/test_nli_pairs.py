import math

import numpy as np
import pytest

from franq_guard.records import Generation, Token
from franq_guard.signals.nli_pairs import alternative_relations, pooled_nli, semantic_matrices
from franq_guard.signals.short_form import (
    eigenvalue_confidence,
    entropy_confidence,
    short_form_signals,
)
from franq_guard.uncertainty.ccp import CONTRADICTS, ENTAILS, NEUTRAL

CAPITALS = {"Paris", "it is Paris"}


class FakeNli:
    """Two texts of CAPITALS entail each other, "Rome" contradicts them, the rest is neutral."""

    def __init__(self):
        self.calls = []

    def __call__(self, premises, hypotheses):
        self.calls.append(list(zip(premises, hypotheses, strict=True)))
        return np.array([self.row(*pair) for pair in self.calls[-1]])

    @staticmethod
    def row(a, b):
        if {a, b} <= CAPITALS:
            return [0.8, 0.1, 0.1]
        return [0.1, 0.2, 0.7] if "Rome" in (a, b) else [0.2, 0.6, 0.2]


def test_pairs_are_pooled_and_asked_once():
    nli = FakeNli()
    pairs = [("Paris", "Rome"), ("it is Paris", "Paris"), ("Paris", "Rome"), ("Rome", "Rome")]
    got = pooled_nli(nli, pairs)
    assert nli.calls == [[("Paris", "Rome"), ("it is Paris", "Paris")]]
    np.testing.assert_array_equal(
        got, [[0.1, 0.2, 0.7], [0.8, 0.1, 0.1], [0.1, 0.2, 0.7], [1, 0, 0]]
    )


def test_identity_can_be_left_to_the_model():
    nli = FakeNli()
    assert pooled_nli(nli, [("Rome", "Rome")], trust_identity=False).tolist() == [[0.1, 0.2, 0.7]]


def test_blank_texts_are_never_sent():
    nli = FakeNli()
    got = pooled_nli(nli, [("", " "), ("", "Rome"), ("Rome", "\n")], trust_identity=False)
    assert got.tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0]]
    assert nli.calls == []


def test_nothing_to_ask():
    assert pooled_nli(FakeNli(), []).shape == (0, 3)
    assert semantic_matrices(FakeNli(), []) == []


def test_matrices_of_several_answers_in_one_call():
    nli = FakeNli()
    first, second, empty = semantic_matrices(
        nli, [["Paris", "it is Paris", "Paris"], ["Rome", "Paris"], []]
    )
    assert len(nli.calls) == 1
    # 3 texts, 2 distinct: both directions of one pair; Rome/Paris both directions
    assert len(nli.calls[0]) == 4
    np.testing.assert_array_equal(first.entail, [[1, 0.8, 1], [0.8, 1, 0.8], [1, 0.8, 1]])
    assert first.entails.all()
    np.testing.assert_array_equal(second.contradict, [[0, 0.7], [0.7, 0]])
    assert second.entails.tolist() == [[True, False], [False, True]]
    assert empty.entail.shape == (0, 0)


def test_alternatives_of_all_tokens_in_one_call():
    nli = FakeNli()
    tokens = [["Paris", "it is Paris", "Rome"], ["Paris", "Berlin"]]
    got = alternative_relations(nli, tokens, width=4)
    assert len(nli.calls) == 1
    assert got.tolist() == [
        [ENTAILS, ENTAILS, CONTRADICTS, NEUTRAL],
        [ENTAILS, NEUTRAL, NEUTRAL, NEUTRAL],
    ]


def sampled(text, *logprobs):
    size = len(text)
    tokens = tuple(Token(i, 0 if i == 0 else size, size, p) for i, p in enumerate(logprobs))
    return Generation(text, tokens, source="captured")


def test_short_form_by_hand():
    # Two texts of one meaning, log p -1 and -2, drawn 2 and 1 times:
    # class probability e^-1 + e^-2 = e^-1 (1 + e^-1); SE = 1 - log(1 + 1/e)
    samples = [sampled("Paris", -1.0), sampled(" Paris", -0.5, -0.5), sampled("it is Paris", -2.0)]
    (got,) = short_form_signals([samples], FakeNli())
    entropy = 1 - math.log(1 + math.exp(-1))
    assert got.semantic_entropy == pytest.approx(entropy)
    assert got.uq_faith == pytest.approx(math.exp(-entropy))
    # W = [[1, 1, .8], [1, 1, .8], [.8, .8, 1]]; row sums 2.8, 2.8, 2.6; W - D^.5..: eigenvalues of
    # D^-1/2 W D^-1/2 are 1, 0 and trace - 1 = 1/2.8 + 1/2.8 + 1/2.6 - 1
    eigenvalues = 1 + (2 / 2.8 + 1 / 2.6 - 1)
    assert got.sum_of_eigenvalues == pytest.approx(eigenvalues)
    assert got.uq_unfaith == pytest.approx(1 - (eigenvalues - 1) / 2)


def test_short_form_needs_two_samples_with_known_probabilities():
    got = short_form_signals(
        [
            [sampled("Paris", -1.0)],
            [],
            [sampled("Paris", -1.0), sampled("Rome", math.nan)],
            [sampled("Paris", -1.0), Generation("Rome")],
            [sampled("Paris", -1.0), sampled("Rome", -2.0)],
        ],
        FakeNli(),
    )
    assert [signals is None for signals in got] == [True, True, True, True, False]


def test_confidences_stay_in_bounds():
    assert entropy_confidence(-0.59) == 1
    assert entropy_confidence(math.inf) == 0
    assert eigenvalue_confidence(1.0, 10) == 1
    assert eigenvalue_confidence(10.0, 10) == 0
    assert eigenvalue_confidence(10.000001, 10) == 0
    assert eigenvalue_confidence(0.999999, 10) == 1
    assert eigenvalue_confidence(5.5, 10) == pytest.approx(0.5)
