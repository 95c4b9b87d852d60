"""Words of a claim in each other's places, beside other words, and numbers that a claim derives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.faithfulness.small.differences.derived import (
    computed,
    stated_differences,
    states_a_case,
)
from franq_guard.faithfulness.small.differences.exchanged import exchanged
from franq_guard.faithfulness.small.replaced import replaced


def values(claim, sentence):
    return replaced(claim, [sentence], sentence)._asdict()


@pytest.mark.parametrize(
    ("claim", "sentence", "told"),
    [
        (
            "Label doors with words instead of pictures.",
            "Label all the doors with pictures instead of words.",
            True,
        ),
        (
            "Adults pay 6 euros and children 12 euros.",
            "Adults pay 12 euros each and children 6 euros.",
            True,
        ),
        (
            "The fair moved from Wednesday to Monday.",
            "The fair was moved from Monday to Wednesday.",
            False,  # side by side: it may be a list in another order
        ),
        (
            "The fair moved from Monday to Wednesday.",
            "The fair moved from Monday to Wednesday.",
            False,
        ),
        (
            "On Monday the fair moved to Brenn.",
            "The fair moved to Brenn on Monday.",
            False,
        ),  # one moved
        (
            "Ada Vale was taught by Otto Lind.",
            "Otto Lind taught Ada Vale in Brenn.",
            False,
        ),  # passive
        (
            "Ada left Brenn after Otto came.",
            "Otto came before Ada left Brenn.",
            False,
        ),  # an opposite
        ("Ada pays Otto.", "Otto pays Ada.", False),  # too few words
        (
            "The system consists of pumps, valves and pipes.",
            "The system consists of pipes, valves and pumps.",
            False,  # a list
        ),
    ],
)
def test_two_words_in_each_others_places(claim, sentence, told):
    found = values(claim, sentence)["words_exchanged"]
    assert found == (2.0 if told else 0.0)  # every word is there, so twice a share of 1


WORDS = st.lists(st.sampled_from("abcdefgh"), min_size=4, max_size=8, unique=True)


@given(WORDS, st.data())
def test_exactly_two_words_apart_have_to_change_places(words, data):
    i = data.draw(st.integers(0, len(words) - 3))
    j = data.draw(st.integers(i + 2, len(words) - 1))
    swapped = [*words]
    swapped[i], swapped[j] = words[j], words[i]
    assert exchanged(swapped, words)
    assert exchanged(swapped, ["x", *words, "y"])
    assert not exchanged(words, words)
    assert not exchanged([*swapped, "z"], words)  # a word that the sentence lacks


@pytest.mark.parametrize(
    ("number", "others", "told"),
    [
        ("10", ["18", "8"], True),
        ("26", ["18", "8"], True),
        ("144", ["18", "8"], True),
        ("6", ["48", "8"], True),
        ("7", ["48", "8"], False),
        ("10", ["18"], False),
        ("x", ["1"], False),
        ("0", ["0", "3"], True),
        ("3", map(str, range(20, 40)), False),
    ],
)
def test_a_number_that_two_others_give(number, others, told):
    assert computed(number, others) is told


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("For a stay of five nights you pay less.", True),
        ("You pay less if you stay five nights.", True),
        ("A stay of five nights costs less.", True),
        ("The stay lasts five nights.", False),
    ],
)
def test_a_claim_that_states_a_case(claim, told):
    assert states_a_case(claim) is told


def test_the_claims_own_new_numbers_prove_nothing_of_each_other():
    plant = "The plant has 11 turbines, 5 boilers and 7 chimneys."
    found = values("The plant has 12 turbines, 4 boilers and 3 chimneys.", plant)
    assert found["number_replaced"] == 2  # though 12 is 4 * 3


def test_a_number_of_a_case_or_a_sum_is_not_called_the_only_difference():
    rule = "Stays of 3 nights get a discount of 80 euros."
    assert values("Stays of 5 nights get a discount of 80 euros.", rule)["number_replaced"] == 2
    assert values("If stays of 5 nights get a discount of 80 euros.", rule)["number_replaced"] == 1
    assert (
        values("Stays of 3 nights get a discount of 240 euros.", rule)["number_replaced"] == 1
    )  # 3 * 80


@pytest.mark.parametrize(
    ("claim", "sentence", "sign"),
    [
        ("It opens at 9 p.m. on Monday.", "It opens at 9 a.m. on Monday.", "number_replaced"),
        ("It opens at 9 am on Monday.", "It opens at 9 a.m. on Monday.", ""),
        ("It opens at 9 PM on Monday.", "It opens at 9 a.m. on Monday.", "number_replaced"),
        # The EU is the European Union, and Brenn is there as well.
        (
            "The EU and Brenn signed the pact in the old hall.",
            "The European Union and Brenn signed the pact in the old hall.",
            "",
        ),
        (
            "Vik and Brenn signed the pact in the old hall.",
            "The European Union and Brenn signed the pact in the old hall.",
            "name_replaced",
        ),
        (
            "Ada Vale was taught by Otto Lind at the school.",
            "Otto Lind taught Ada Vale at the school.",
            "",
        ),
        # "only if" is "not unless"; the negation is not all that differs.
        ("It is stored only if you agree.", "It is not stored unless you agree.", ""),
    ],
)
def test_what_alone_differs(claim, sentence, sign):
    alone = {name for name, value in values(claim, sentence).items() if value > 1}
    assert alone == ({sign} if sign else set())


@pytest.mark.parametrize(
    ("claim", "others", "told"),
    [
        ("Net profit fell by €14 million.", ["58", "44"], {"14"}),
        ("By about 14 million euros it fell.", ["58", "44"], {"14"}),
        ("It lasted seven months longer.", ["9", "16"], {"7"}),
        ("It was sold twenty-two days later.", ["63", "41"], {"22"}),
        ("It is 1,700 homes more.", ["31200", "32900"], {"1700"}),
        ("A guest pays 2.40 less.", ["2.50", "4.90"], {"2.40"}),
        ("There is a difference of $7 to the other.", ["19", "12"], {"7"}),
        ("It was 0.7% above that.", ["1.8", "2.5"], {"0.7"}),
        ("Net profit fell by €15 million.", ["58", "44"], set()),  # 58 - 44 is no 15
        ("Net profit fell to 14 million.", ["58", "44"], set()),  # not told as a difference
        ("Days fell by 4.1 here and by 2.3 there.", ["4.1", "2.3", "1.8"], set()),  # as they stand
        ("Stay 2 or more nights.", ["3", "5"], set()),
        ("It fell by 3.", map(str, range(20, 40)), set()),  # of so many some two differ by 3
    ],
)
def test_a_number_told_as_the_difference_of_two_others(claim, others, told):
    assert stated_differences(claim, others) == told


def test_a_difference_of_the_sentences_numbers_is_neither_unknown_nor_another_number():
    year = "Net profit of the yard fell from 58 to 44 million euros in 2019."
    right = values("Net profit of the yard fell by 14 million euros in 2019.", year)
    wrong = values("Net profit of the yard fell by 24 million euros in 2019.", year)
    assert (right["number_unknown"], right["number_replaced"]) == (0, 0)
    assert wrong["number_unknown"] > 0
    assert wrong["number_replaced"] > 0
