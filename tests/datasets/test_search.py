"""Word search: rare words win, and what shares no word is not found."""

import math

import pytest

from franq_guard.datasets.search import Bm25

TEXTS = ["The oak bridge.", "Seals sleep under the ice.", "The the the.", "!?"]


def test_the_rarest_shared_words_win():
    search = Bm25(TEXTS, k=2)
    assert [i for i, _ in search.best("Is the bridge of oak?")] == [0, 2]
    assert [i for i, _ in search.best("SEALS")] == [1]
    assert search.best("granite") == search.best("?!") == []


def test_the_score_is_lucenes():
    # One word, in one of four texts: idf = ln(1 + (4 - 1 + .5) / (1 + .5)); tf 1 in a text of 5
    # words, 3 + 5 + 3 + 1 over 4 texts = 3 on average; k1 = 1.5, b = .75:
    # idf * 1 / (1 + 1.5 * (.25 + .75 * 5 / 3)).
    ((_, score),) = Bm25(TEXTS, k=1).best("ice")
    expected = math.log(1 + 3.5 / 1.5) / (1 + 1.5 * (0.25 + 0.75 * 5 / 3))
    assert score == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(("texts", "k"), [([], 1), (TEXTS, 0)])
def test_nonsense_is_refused(texts, k):
    with pytest.raises(ValueError, match="at least one text"):
        Bm25(texts, k=k)
