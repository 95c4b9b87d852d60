"""A plan and its larger one, "Harvest" and "Harvest Plus", do not disagree; a short name may."""

import pytest

from franq_guard.records import Passage
from franq_guard.signals.grades import are_grades
from franq_guard.signals.siblings import are_siblings

SHORT = Passage("The Quill plan has ten seats. It costs 4 euros.")
LONG = Passage("The Quill Plus plan has 40 seats. It costs 9 euros.")


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("Quill has ten seats.", "Quill Plus has 40 seats."),
        ("The seats of a Quill 4 are red.", "The seats of a Quill 4 Pro Max are blue."),
        ("The Quill S goes 300 km.", "The Quill S Long Range goes 500 km."),
        # "Comfort" and "Family" may be in any name, but not beside a fare and a ticket.
        ("The Quill fare is not refunded.", "The Quill Comfort fare is refunded."),
        ("A Quill Ticket is valid for an hour.", "A Quill Ticket Family is valid for a day."),
        # Two grades with words of their own.
        ("Ten may join with Quill Basic.", "Twenty may join with Quill Premium."),
    ],
)
def test_grades(short, long):
    assert are_grades(short, Passage(short), Passage(long))
    assert are_grades(long, Passage(long), Passage(short))
    # The claim has the value of the other one: the passage that seems to state it does not.
    assert not are_grades(short, Passage(long), Passage(short))
    assert not are_siblings(short, Passage(long), Passage(short))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Norda Foods employs 420 people.", "Norda employs 390 people."),
        ("The Norda plant makes tyres.", "The Norda Rubber plant makes no tyres."),
        ("The Norda Business School is new.", "The Norda School is old."),
        ("Norda Express runs at night.", "Norda does not run at night."),
        ("Adam Quill Junior died in 1931.", "Adam Quill died in 1934."),
        ("The Quill Plus costs 9 euros.", "The Quill Plus costs 4 euros."),
        ("The Quill 500 weighs 2 kg.", "The Quill weighs 3 kg."),
        ("The plus is red.", "The Plus is blue."),
        ("Quill is free.", "Plus is not free."),
    ],
)
def test_no_grades(one, two):
    assert not are_grades(one, Passage(one), Passage(two))
    assert not are_grades(two, Passage(two), Passage(one))


@pytest.mark.parametrize(
    ("other", "grades"),
    [
        ("Quill Plus has a lid. It costs 9 euros.", True),
        # Here "Quill" is short for "Quill Plus", so a passage on Quill may be on either.
        ("Quill Plus has a lid. Quill costs 9 euros.", False),
        # It comes first, so it is a name of its own.
        ("Quill has no lid. Quill Plus costs 9 euros.", True),
    ],
)
def test_a_short_form_comes_after_the_whole_name(other, grades):
    claim = "Quill costs 4 euros."
    assert are_grades(claim, Passage(claim), Passage(other)) is grades


def test_a_title_is_read_first():
    claim = "Quill costs 4 euros."
    stating = Passage(claim)
    assert are_grades(claim, stating, Passage("It costs 9 euros.", title="Quill Plus"))
    assert not are_grades(claim, stating, Passage("Quill costs 9 euros.", title="Quill Plus"))


@pytest.mark.parametrize(
    ("said", "grades"),
    [
        ("What does the Quill plan cost?", True),
        ("Is Quill Plus large? Quill Plus has 40 seats.", False),  # then it is a wrong claim
        ("How do Quill and Quill Plus differ? The Quill plan has ten seats.", True),
        ("What does it cost?", False),
    ],
)
def test_what_was_said_tells_what_it_is(said, grades):
    assert are_grades("It costs 4 euros.", SHORT, LONG, said=said) is grades
