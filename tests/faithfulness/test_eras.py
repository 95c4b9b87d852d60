"""Decades, centuries and names in other words than the passages'."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.faithfulness.small.aliases import names_as_in
from franq_guard.faithfulness.small.amounts.eras import eras_as_in
from franq_guard.faithfulness.small.spelling import as_written

FOUNDED = "Acme was founded in 1987."
CASTLE = "The castle was built in 1342."


@pytest.mark.parametrize(
    ("claim", "text", "written"),
    [
        ("Acme was started in the 1980s.", FOUNDED, "Acme was started in 1987."),
        ("It began in the late 1980s.", FOUNDED, "It began in 1987."),
        ("It was built in the 14th century.", CASTLE, "It was built in 1342."),
        ("It dates from the fourteenth century.", CASTLE, "It dates from 1342."),
        ("It was known since the mid-14th century.", CASTLE, "It was known since 1342."),
        ("It is of the 1300s.", "Built in the 14th century.", "It is of the 14th century."),
        ("It is of the 14th century.", "Built in the 1300s.", "It is of the 1300s."),
        ("Of the 19th century.", "The late nineteenth century.", "Of the late nineteenth century."),
        # another part of it, another one, two years within, and the text's own words
        ("It began in the early 1980s.", FOUNDED, "It began in the early 1980s."),
        ("It was built in the 13th century.", CASTLE, "It was built in the 13th century."),
        ("It began in the 1980s.", "In 1981 and 1987.", "It began in the 1980s."),
        ("It began in the 1980s.", "In the 1980s, in 1987.", "It began in the 1980s."),
        # what is before it, or at one of its ends, is not in that year
        ("It was so before the 1980s.", FOUNDED, "It was so before the 1980s."),
        ("At the end of the 1980s it closed.", FOUNDED, "At the end of the 1980s it closed."),
        ("It is from the 4th century BC.", "Built in 342.", "It is from the 4th century BC."),
    ],
)  # fmt: skip
def test_eras(claim, text, written):
    assert eras_as_in(text, claim) == written


@given(st.integers(1000, 2099), st.integers(1000, 2099))
def test_a_year_is_read_for_its_own_decade_alone(year, other):
    claim = f"It was built in the {other // 10 * 10}s."
    # "the 1900s" are the century, every other such decade has ten years
    size = 100 if other // 10 % 10 == 0 else 10
    within = year // size == other // size
    assert eras_as_in(f"Built in {year}.", claim) == (
        f"It was built in {year}." if within else claim
    )


FDA = "The FDA approved the drug."


@pytest.mark.parametrize(
    ("claim", "text", "written"),
    [
        ("The Food and Drug Administration approved it.", FDA, "The FDA approved it."),
        ("The European Union fined Acme.", "The EU fined Acme.", "The EU fined Acme."),
        ("The United States joined.", "The USA joined.", "The USA joined."),
        ("The USA joined.", "The United States joined.", "The United States joined."),
        # the text has the name, too, or the claim has the initials
        ("The Food and Drug Administration.", f"Food and Drug Administration. {FDA}",
         "The Food and Drug Administration."),
        ("The Food and Drug Administration (FDA).", FDA, "The Food and Drug Administration (FDA)."),
        # another name, words in small letters, a longer name, two letters
        ("The Federal Aviation Administration.", FDA, "The Federal Aviation Administration."),
        ("Cars arrive today.", "A CAT scan.", "Cars arrive today."),
        ("The Center for Disease Control and Prevention.", "The CDC said.",
         "The Center for Disease Control and Prevention."),
        ("Marloes Arts wrote it.", "She has an MA.", "Marloes Arts wrote it."),
        # the network knows "US"
        ("The US joined.", "The United States joined.", "The US joined."),
    ],
)  # fmt: skip
def test_names(claim, text, written):
    assert names_as_in(text, claim) == written
    assert as_written(claim, text) == written


def test_the_model_tells_them_apart(model):
    asked = [
        (CASTLE, "The castle was built in the 14th century."),  # before .04
        (FOUNDED, "Acme was started in the 1980s."),  # .08
        (FDA, "The Food and Drug Administration approved the drug."),  # .01
        ("The USA joined in 1941.", "The United States joined in 1941."),  # .13
        (CASTLE, "The castle was built in the 13th century."),
        (FDA, "The Federal Aviation Administration approved the drug."),
    ]
    found = model.score_passages([[text] for text, _ in asked], [claim for _, claim in asked])
    assert min(found[:4]) > 0.5
    assert max(found[4:]) < 0.2
