"""A word of the claim whose opposite stands in its place."""

import re
from importlib.resources import files
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.faithfulness.small.differences.opposites import opposed
from franq_guard.faithfulness.small.replaced import replaced

WORDS = ("rose", "before", "opened", "allowed", "largest", "north", "won", "successful")
DAM = "Sales of the Harrow dairy rose by a third after the new barn was opened."


@pytest.mark.parametrize(
    "claim",
    [
        "Sales of the Harrow dairy fell by a third after the new barn was opened.",
        "Sales of the Harrow dairy decreased by a third.",  # rose: of the same side as increased
        "Sales of the Harrow dairy rose before the new barn was opened.",
        "Sales rose by a third after the new barn was closed.",
        "Sales of the Harrow dairy fell.",  # at its end the sentence goes on
    ],
)
def test_an_opposite_in_the_place_of_a_word(claim):
    assert opposed(claim, DAM)


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        (DAM, DAM),
        ("Sales of the dairy increased by a third.", DAM),
        ("The barn was opened first, and sales rose after that.", DAM),
        ("Dogs are banned in the park.", "Dogs are not allowed in the park."),  # the same
        ("Dogs aren't permitted in the park.", "Dogs are forbidden in the park."),
        ("Prices rose and fell.", "Prices fell and rose."),  # both words in both
        ("The tower is old.", "It was opened long before the young king moved in."),
        ("It is able to swim.", "It is stable in water."),  # no prefix
    ],
)
def test_no_opposite(claim, sentence):
    assert not opposed(claim, sentence)
    assert not opposed(sentence, claim)


def test_a_word_with_a_prefix_is_the_opposite_of_the_word():
    assert opposed("The first attempt was successful.", "The first attempt was unsuccessful.")
    assert opposed("The permit is invalid.", "The permit is valid.")
    assert not opposed("The inape was old.", "The ape was old.")  # too short


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("red", "grey"),
        ("blue", "red"),
        ("wooden", "steel"),
        ("aunt", "sister"),
        ("upheld", "overturned"),
        ("weekdays", "weekend"),
    ],
)
def test_a_word_excludes_every_other_side_of_its_group(one, other):
    here, there = f"The court saw the {one} case.", f"The court saw the {other} case."
    assert opposed(here, there)
    assert opposed(there, here)


@pytest.mark.parametrize(("one", "other"), [("grey", "gray"), ("steel", "iron"), ("red", "aunt")])
def test_words_of_one_side_or_of_two_groups_exclude_nothing(one, other):
    assert not opposed(f"The {one} case.", f"The {other} case.")


def test_no_word_of_the_list_excludes_itself():
    """A word on two sides of its line, or with the stem of another side's word, would."""
    text = files("franq_guard.faithfulness.small.differences").joinpath("opposites.txt")
    for line in text.read_text("utf-8").splitlines():
        sides = [side.split() for side in re.split("[/>]", line)]
        assert len(sides) > 1
        for word in (word for side in sides for word in side):
            assert not opposed(f"The {word} case.", f"The {word} case.")
        for one, two in combinations(sides, 2):
            assert opposed(f"The {one[0]} case.", f"The {two[0]} case."), (one[0], two[0])


@pytest.mark.parametrize(
    ("one", "other"), [("all", "some"), ("every", "most"), ("everyone", "several")]
)
def test_some_excludes_all_but_all_does_not_exclude_some(one, other):
    here, there = f"It helps {one} on the course.", f"It helps {other} on the course."
    assert opposed(here, there)
    assert not opposed(there, here)
    assert not opposed(f"It helps not {one} on the course.", there)


def test_it_counts_as_a_negation_of_the_nearest_sentence():
    other = "The new barn was closed in June."
    signs = replaced("Sales of the dairy fell by a third.", [other, DAM], f"{other} {DAM}")
    # Sales, dairy and third are there: 3 of 3; twice, since "fell" is all that differs.
    assert signs.negation_added == 2


@given(st.sampled_from(WORDS))
def test_each_word_has_one_opposite_here_and_is_not_its_own(word):
    others = ("fell", "after", "closed", "banned", "smallest", "south", "lost", "unsuccessful")

    def found(form):
        pairs = ((f"The old {a} barn.", f"The old {b} barn.") for a, b in map(form, others))
        return [other for other, pair in zip(others, pairs, strict=True) if opposed(*pair)]

    assert found(lambda other: (word, other)) == found(lambda other: (other, word))
    assert len(found(lambda other: (word, other))) == 1
    assert not opposed(f"The old {word} barn.", f"The old {word} barn.")
