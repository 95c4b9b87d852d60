"""Cosines of texts, each embedded once."""

import numpy as np
import pytest

from franq_guard.faithfulness.small.nearness import Nearness

VECTORS = {"a": (1, 0), "b": (0.6, 0.8), "c": (0, 1), "d": (-1, 0)}


@pytest.fixture
def near():
    asked = []

    def embed(texts):
        asked.append(list(texts))
        return np.array([VECTORS[text] for text in texts], dtype=np.float32)

    return Nearness(embed, room=2), asked


def test_the_nearest_text_counts_and_none_is_below_zero(near):
    nearness, _ = near
    assert nearness.best([("a", ["c", "b"]), ("a", ["d"])]) == pytest.approx([0.6, 0.0])


def test_each_text_is_embedded_once_while_there_is_room(near):
    nearness, asked = near
    nearness.best([("a", ["b"]), ("b", ["a"])])
    nearness.best([("a", ["b"])])
    assert asked == [["a", "b"]]
    nearness.best([("c", ["b"])])  # "a" has to go
    nearness.best([("a", ["b"])])
    assert asked == [["a", "b"], ["c"], ["a"]]


def test_what_is_forgotten_is_embedded_again(near):
    nearness, asked = near
    nearness.best([("a", ["b"])])
    nearness.forget()
    assert nearness.best([("a", ["b"])]) == pytest.approx([0.6])
    assert asked == [["a", "b"], ["a", "b"]]


def test_nothing_asked_is_nothing_embedded(near):
    nearness, asked = near
    assert nearness.best([]) == []
    assert asked == []
