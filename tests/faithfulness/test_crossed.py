"""A claim that says of a thing what its sentence says of another."""

import pytest

from franq_guard.faithfulness.small.differences.crossed import crosses
from franq_guard.faithfulness.small.replaced import replaced

PLANS = "Basic costs $5 and Pro costs $15 a month."
SALES = "Sales rose by 4% in March and by 9% in April."
CHURCH = "The church was begun in 1248 and finished in 1880."
MOVES = "In 2010 he moved to Bonn, in 2014 to Kiel."
PRICES = "Adults pay 12 euros (students 9 euros), children 6 euros."


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Pro costs $5 a month.", PLANS),
        ("Basic costs $15.", PLANS),
        ("In March sales rose by 9%.", SALES),
        ("Sales rose by 4% in April.", SALES),
        ("The church was begun in 1880.", CHURCH),
        ("The church was finished in 1248.", CHURCH),
        ("In 2014 he moved to Bonn.", MOVES),
        ("Children pay 9 euros.", PRICES),
        ("Adults pay 6 euros.", PRICES),
        ("Ben was born in Oslo.", "Ann was born in Oslo and Ben was born in Rome."),
        ("Ann was born in Rome.", "Ann was born in Oslo, while her brother Ben was born in Rome."),
        ("The film was shot by Bo Ray.", "The film was shot by Ann Lee and cut by Bo Ray."),
    ],
)
def test_what_is_said_of_another_thing_is_a_fact_replaced(claim, sentence):
    assert crosses(claim, sentence)
    assert replaced(claim, [sentence], sentence).number_replaced == 2  # all words are there


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Basic costs $5.", PLANS),
        ("Pro costs $15 a month, Basic $5.", PLANS),
        ("In April sales rose by 9%.", SALES),
        ("Sales rose by 4% in March.", SALES),
        ("The church was begun in 1248.", CHURCH),
        ("In 2014 he moved to Kiel.", MOVES),
        ("Students pay 9 euros.", PRICES),
        # The second part is told of the subject of the first.
        ("Adults pay 9 euros in summer.", "Adults pay 12 euros in winter and 9 euros in summer."),
        ("Ben was born in Rome.", "Ann was born in Oslo and Ben was born in Rome."),
        ("Ann met Ben in Rome.", "Ann, a nurse in Oslo, met Ben, a cook, in Rome."),
        # One price of two things.
        ("Adults pay 12 euros.", "Adults and students pay 12 euros, children 6 euros."),
        ("Students pay 12 euros.", "Adults and students pay 12 euros, children 6 euros."),
        # It denies the other number, and rightly so.
        ("Pro is not sold for $5.", PLANS),
        # A year is not compared with a height.
        ("The tower of 1248 is high.", "The tower of 1248 is 80 m high, and its bells are old."),
    ],
)
def test_numbers_of_their_own_things(claim, sentence):
    assert not crosses(claim, sentence)
    assert replaced(claim, [sentence], sentence).number_replaced == 0
