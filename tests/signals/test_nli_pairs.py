import numpy as np
import pytest

from franq_guard.signals.nli_pairs import alternative_relations, pooled_nli, semantic_matrices
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


def test_nan_is_no_entailment():
    with pytest.raises(ValueError, match="returned NaN"):
        pooled_nli(lambda a, b: np.full((len(a), 3), np.nan), [("Paris", "Rome")])


def test_blank_texts_are_never_sent():
    nli = FakeNli()
    got = pooled_nli(nli, [("", " "), ("", "Rome"), ("Rome", "\n")])
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
