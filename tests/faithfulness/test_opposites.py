"""A word of the claim whose opposite stands in its place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.faithfulness.small.differences.opposites import opposed
from franq_guard.faithfulness.small.replaced import REPLACED, replaced

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


def test_it_counts_as_a_negation_of_the_nearest_sentence():
    other = "The new barn was closed in June."
    signs = replaced("Sales of the dairy fell by a third.", [other, DAM], f"{other} {DAM}")
    # Sales, dairy and third are there: 3 of 3; twice, since "fell" is all that differs.
    assert dict(zip(REPLACED, signs, strict=True))["negation_added"] == 2


@given(st.sampled_from(WORDS))
def test_each_word_has_one_opposite_here_and_is_not_its_own(word):
    others = ("fell", "after", "closed", "banned", "smallest", "south", "lost", "unsuccessful")

    def found(form):
        pairs = ((f"The old {a} barn.", f"The old {b} barn.") for a, b in map(form, others))
        return [other for other, pair in zip(others, pairs, strict=True) if opposed(*pair)]

    assert found(lambda other: (word, other)) == found(lambda other: (other, word))
    assert len(found(lambda other: (word, other))) == 1
    assert not opposed(f"The old {word} barn.", f"The old {word} barn.")
