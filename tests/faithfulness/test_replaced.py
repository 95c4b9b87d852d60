"""A fact of the claim in the place of another one of its nearest sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.faithfulness.small.replaced import REPLACED, replaced
from franq_guard.faithfulness.small.tokens import tokens

BAKERY = "In 2003 Elin Marsh sold the bakery in Brenn to Tomas Birk for nine thousand crowns."
MILL = "The mill at Harrow was never used during the war, and twenty-five people lived in it."
SENTENCES = (BAKERY, MILL)


def value(name, claim, sentences=SENTENCES):
    found = replaced(claim, sentences, "\n".join(sentences))
    return dict(zip(REPLACED, found, strict=True))[name]


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("In 2003 Elin Marsh sold the bakery.", False),
        ("In 2005 Elin Marsh sold the bakery.", True),
        ("Elin Marsh sold the bakery for 9 thousand crowns.", False),  # spelled out or not
        ("Elin Marsh sold the bakery for two thousand crowns.", True),
        ("25 people lived in the mill.", False),
        ("30 people lived in it.", True),
    ],
)
def test_a_number_in_the_place_of_another(claim, told):
    assert (value("number_replaced", claim) > 0) == told


def test_a_first_where_the_sentence_has_another_ordinal():
    sentence = "It was the seventh title of the series."
    assert value("number_replaced", "It was the first title of the series.", (sentence,)) == 1
    assert value("number_replaced", "It was the seventh title.", (sentence,)) == 0
    one = "Every word has one or more parts."
    assert value("number_replaced", "Every word has six or more parts.", (one,)) == 1


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("Elin Marsh sold the bakery to Tomas Birk.", False),
        ("Elin Marsh sold the bakery to Otto Lind.", True),
        ("Elin Marsh sold the bakery in Harrow to Tomas Birk.", True),  # of the other sentence
        ("Tomas Birk got his shop from Elin Marsh.", False),  # told in other words
    ],
)
def test_a_name_in_the_place_of_another(claim, told):
    assert (value("name_replaced", claim) > 0) == told


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Ada Vale moved to Brenn.", "She moved to Brenn."),  # a pronoun
        ("The arena stands in Southeast London.", "The arena stands in South East London."),
        ("The Court of Appeals of Brenn hears it.", "The Court of Appeals (CA) hears it."),
        ("It was a hit in the UK in spring.", "It was a hit in the United Kingdom in spring."),
        ("Nikolai Marsh sang it.", "Nicolai Marsh sang it."),
        ("It is a large mill in Brennland.", "It is a large Brennish mill."),
    ],
)
def test_the_same_name_in_another_form_is_no_other_name(claim, sentence):
    assert value("name_replaced", claim, (sentence,)) == 0


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("It was a number 1 hit.", "It was a number one hit."),
        ("It grew in the 1990's.", "It grew in the 1990s."),
        ("It was the 1st mill.", "It was the first mill."),
    ],
)
def test_the_same_number_in_another_form_is_no_other_number(claim, sentence):
    assert value("number_replaced", claim, (sentence,)) == 0
    assert value("number_unknown", claim, (sentence,)) == 0


def test_the_value_is_the_share_of_the_other_words_that_the_sentence_has():
    # beside 2005 and the names of the sentence: sold, bakery and quickly, of which two are there
    claim = "In 2005 Elin Marsh quickly sold the bakery."
    assert value("number_replaced", claim) == pytest.approx(4 / 5)  # elin, marsh, sold, bakery


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("The mill at Harrow was never used during the war.", False),
        ("The mill at Harrow was not used during the war.", False),
        ("The mill at Harrow was used during the war.", True),
        ("Elin Marsh did not sell the bakery.", True),
        ("Elin Marsh hasn't sold the bakery.", True),
    ],
)
def test_a_negation_of_one_of_the_two(claim, told):
    assert (value("negation_added", claim) > 0) == told


def test_a_number_is_unknown_where_no_sentence_has_it():
    assert value("number_unknown", "The mill was sold for 9 crowns.") == 0
    assert value("number_unknown", "The mill at Harrow was never used by 7 people.") > 0


def test_a_question_states_nothing():
    assert value("name_replaced", "Did Elin Marsh sell the bakery to Otto Lind?") == 0
    assert value("name_replaced", "who sold the bakery in Brenn Otto Lind") == 0
    assert (
        value("number_replaced", "When in 2005 Elin Marsh sold the bakery, he left.", (BAKERY,)) > 0
    )


def test_words_are_told_by_what_they_are():
    found = {token.text: token.kind for token in tokens("Mills in Brenn weren't sold, she said 3.")}
    assert found == {
        "mill": "opening", "brenn": "name", "not": "negation", "sold": "word", "she": "pronoun",
        "said": "word", "3": "number",
    }  # fmt: skip
    assert tokens("Otto Lind left.")[0].kind == "name"  # it opens the sentence, and a name follows


def test_nothing_is_told_of_nothing():
    assert replaced("", SENTENCES, "") == replaced("It.", (), "") == [0] * len(REPLACED)


@given(st.text(max_size=60), st.text(max_size=60))
def test_every_value_is_a_share(claim, text):
    assert all(0 <= v <= 1 for v in replaced(claim, (text,), text))


@given(st.text(alphabet="ab 12.,ABnot", min_size=1, max_size=60))
def test_a_sentence_replaces_nothing_of_itself(text):
    assert replaced(text, (text,), text) == [0] * len(REPLACED)
