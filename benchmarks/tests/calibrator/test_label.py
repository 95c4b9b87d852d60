"""Truth labels from gold answers."""

import pytest

from franq_bench.calibrator.label import (
    copies,
    gradable,
    label_claims,
    matchable,
    normalise,
    states,
)
from franq_guard.records import Claim, Passage


def claims(*texts, refusal=False):
    return [Claim(t, ((0, len(t)),), not_a_claim="refusal" if refusal else None) for t in texts]


def test_normalise_drops_case_articles_punctuation():
    assert normalise("The  U.S. Open, a tournament!") == "u s open tournament"


@pytest.mark.parametrize(
    ("text", "answers", "expected"),
    [
        ("It was Ada Lovelace.", ["ada lovelace"], True),
        ("It was Ada.", ["Ada Lovelace"], False),
        ("In 1953 it fell.", ["195"], False),  # whole words only
        ("It was the Beatles", ["Beatles", "The Fab Four"], True),
        ("Anything", [], False),
    ],
)
def test_states(text, answers, expected):
    assert states(text, answers) is expected


def test_gradable_leaves_out_short_answers():
    assert gradable(["Paris"])
    assert not gradable(["5"])
    assert not gradable(["the", "Paris"])  # an article alone normalises to nothing
    assert not gradable([])


def test_matchable_leaves_out_lists_and_long_answers():
    assert matchable(["New South Wales"])
    assert not matchable(["Liu Bingzhong and Yao Shu"])
    assert not matchable(["red, green"])
    assert not matchable(["it cannot be written as a sum"])


def test_a_copy_of_a_passage_is_neither_called_true_nor_false():
    passages = [Passage("He left. The first bridge of the town was built by Ada Long in 1951.")]
    copied = claims("the first bridge of the town was built by Ada Long in 1951")
    changed = claims("The first bridge of the town was built by Ada Long in 1955.")
    assert label_claims(copied, ["Paris"], passages) == [None]
    assert label_claims(changed, ["Paris"], passages) == [False]
    assert not copies("bridge of the tow", passages)  # whole words


def test_claims_with_the_answer_are_true_the_rest_unknown():
    assert label_claims(claims("It is Paris.", "It is big."), ["Paris"]) == [True, None]


def test_without_the_answer_the_first_claim_is_false():
    assert label_claims(claims("It is Rome.", "It is big."), ["Paris"]) == [False, None]


def test_a_refusal_gets_no_label():
    found = [*claims("The text does not say.", refusal=True), *claims("It is Rome.")]
    assert label_claims(found, ["Paris"]) == [None, False]
    assert label_claims(found[:1], ["Paris"]) == [None]
