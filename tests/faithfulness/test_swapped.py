"""Two parts of a claim in each other's places, where nothing else differs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.faithfulness.small.differences.swapped import swapped
from franq_guard.faithfulness.small.replaced import replaced


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The fair moved from Wednesday to Monday.", "The fair moved from Monday to Wednesday."),
        ("Ada pays Otto Lind.", "Otto Lind pays Ada."),
        (
            "It flows from the Sea of Marn into Lake Turn.",
            "The river is long: it flows from Lake Turn into the Sea of Marn.",
        ),
        ("Tin is heavier than zinc.", "In all cases zinc is heavier than tin."),
        ("Team B scored after Team A.", "Team A scored after Team B."),
        ("Fees rose by 4 % here and 3 % there.", "Fees rose by 3 % here and 4 % there."),
        ("Staff pay half, students pay nothing.", "Students pay half, staff pay nothing."),
    ],
)
def test_what_is_said_the_other_way_round(claim, sentence):
    assert swapped(claim, sentence)
    assert replaced(claim, [sentence], sentence).words_exchanged == 3  # all words are there
    assert not swapped(sentence, sentence)


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The Ousk is the longest river.", "The longest river is the Ousk."),
        ("Quicksand is also known as sinking sand.", "Sinking sand is also known as quicksand."),
        ("It has pumps, old valves and pipes.", "It has pipes, old valves and pumps."),
        ("Ada and Otto came.", "Otto and Ada came."),
        ("On Monday the team met in Rome.", "In Rome the team met on Monday."),
        ("In May the team met in Rome.", "In Rome the team met in May."),
        ("On Monday the fair opens.", "The fair opens on Monday."),  # one part moved
        ("He told me that I won.", "I told me that he won."),  # little words
        ("Tin is lighter than zinc.", "Zinc is heavier than tin."),  # another word
    ],
)
def test_what_may_change_places(claim, sentence):
    assert not swapped(claim, sentence)


PART = st.lists(st.text("bcdfgh", min_size=2, max_size=4), min_size=1, max_size=3)


@given(st.permutations(range(10, 30)), PART, PART, PART, PART, PART)
def test_any_two_parts_are_found(numbers, before, first, between, second, after):
    """Of words that differ from each other, since numbers do."""
    rest = iter(numbers)
    parts = [[f"{word}{next(rest)}" for word in part]
             for part in (before, first, between, second, after)]  # fmt: skip
    start, one, middle, other, end = (" ".join(part) for part in parts)
    sentence = f"x {start} {one} {middle} {other} {end} y"
    assert swapped(f"{start} {other} {middle} {one} {end}", sentence)
    assert not swapped(f"{start} {one} {middle} {other} {end}", sentence)
    assert not swapped(f"{start} {other} {middle} {one} {end} z", sentence)
