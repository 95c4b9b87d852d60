"""Numbers, names and their order, looked up one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.faithfulness.small.facts import FACTS, facts, names, normalised

SOLD = (
    "Elin Marsh sold the bakery to Tomas Birk in 2003. It bakes 1,200 loaves a day. "
    "The lamp runs for nine hours. The bridge was designed by Ada Holt for Otto Lind."
)


def value(name, claim, text=SOLD):
    return dict(zip(FACTS, facts(claim, text), strict=True))[name]


@pytest.mark.parametrize(
    ("claim", "absent"),
    [
        ("It bakes 1,200 loaves.", 0),
        ("It bakes 1200 loaves.", 0),
        ("It bakes 1,300 loaves.", 1),
        ("The lamp runs for 9 hours.", 0),
        ("The lamp runs for fourteen hours.", 1),
        ("It was sold in 2003 for 7 crowns.", 1),  # one of two numbers is enough
        ("It was sold.", 0),
    ],
)
def test_a_number_that_is_nowhere_is_told_however_it_is_written(claim, absent):
    assert value("number_absent", claim) == absent


def test_spelled_out_numbers_and_ordinals_are_digits():
    found = normalised("Twenty-five of the 3rd and third, one or first, sixty seven.")
    assert found == ("25", "of", "the", "3", "and", "3", "one", "or", "first", "67")


def test_a_number_is_strange_where_it_stands_beside_other_words():
    # beside 2003 stand "marsh sold the bakery to tomas birk in" and what follows
    assert value("number_strange", "Birk got the bakery in 2003.") == pytest.approx(1 / 3)  # got
    assert value("number_strange", "The bridge was made in 2003.") == 1.0
    assert value("number_strange", "The lamp runs for 9 hours.") == 0.0


@pytest.mark.parametrize(
    ("claim", "absent"),
    [
        ("The owner was Elin Marsh.", 0),
        ("The owner was Elin Hart.", 0),  # one word of the name is there
        ("The owner was Greta Vohl.", 1),
        ("The owner was tired.", 0),
    ],
)
def test_a_name_that_is_nowhere_is_told(claim, absent):
    assert value("name_absent", claim) == absent


@pytest.mark.parametrize(
    ("claim", "swapped"),
    [
        ("Elin Marsh sold it to Tomas Birk.", 0),
        ("Tomas Birk sold the bakery to Elin Marsh.", 1),
        ("Tomas Birk was sold the bakery by Elin Marsh.", 0),  # passive: the order turns with it
        ("The bridge was designed by Otto Lind for Ada Holt.", 0),  # the words between differ
        ("Tomas Birk and Elin Marsh met.", 0),
        ("Ada Holt and Elin Marsh met.", 0),
    ],
)
def test_two_names_that_changed_places_are_told(claim, swapped):
    assert value("order", claim) == swapped


def test_names_leave_out_what_only_opens_a_sentence():
    assert names("The Harrow Mill stands in Brenn. Nobody knows J. Smith.") == (
        "Harrow Mill", "Brenn", "Nobody", "Smith",
    )  # fmt: skip


@given(st.text(max_size=80), st.text(max_size=80))
def test_every_fact_is_a_share(claim, text):
    found = facts(claim, text)
    assert len(found) == len(FACTS)
    assert all(0 <= v <= 1 for v in found)


@given(st.text(alphabet="ab 12.,AB", min_size=1, max_size=60))
def test_a_text_states_all_its_own_facts(text):
    assert facts(text, text)[0] == 0
    assert facts(text, text)[2:] == [0, 0]
