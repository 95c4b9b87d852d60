"""The two ends of a range, a rank before a superlative, and other numbers in another role."""

import pytest

from franq_guard.faithfulness.small.differences.crossed import crosses
from franq_guard.faithfulness.small.differences.derived import stated_years
from franq_guard.faithfulness.small.differences.range_ends import other_end
from franq_guard.faithfulness.small.differences.ranked import outranks
from franq_guard.faithfulness.small.replaced import replaced

DAM = "The dam was built between 1954 and 1960."
KEEPER = "Maren Tolvik (12 May 1861 – 3 June 1934) was a keeper."
MAYOR = "She was mayor of Brack from 1998 to 2006."
PUMP = "The pump is rated for 5 to 8 bar."


@pytest.mark.parametrize(
    ("claim", "sentence", "other"),
    [
        ("Building of the dam began in 1960.", DAM, True),
        ("The dam was finished in 1954.", DAM, True),
        ("Maren Tolvik was born on 3 June 1934.", KEEPER, True),
        ("Maren Tolvik died in 1861.", "Maren Tolvik (1861–1934) was a keeper.", True),
        ("She became mayor of Brack in 2006.", MAYOR, True),
        ("She was mayor until 1998.", MAYOR, True),
        ("The pump needs at least 8 bar.", PUMP, True),
        ("The pump bears up to 5 bar.", PUMP, True),
        # the right end, both ends, no word of one end
        ("Building of the dam began in 1954.", DAM, False),
        ("Maren Tolvik died in 1934.", KEEPER, False),
        ("The dam was begun in 1954 and finished in 1960.", DAM, False),
        ("The dam was built in 1960.", DAM, False),
        ("She was mayor until 2006.", MAYOR, False),
        ("The pump needs at least 5 bar.", PUMP, False),
        ("The pump bears 8 bar, at least when it is new.", PUMP, False),
        # no range, one that falls, and a number that stands elsewhere, too
        ("Work began in 1960.", "The war ended in 1954, and 1960 was a quiet year.", False),
        ("It began with 10.", "They won 20 to 10.", False),
        ("The fair began in 1960.", f"{DAM[:-1]}, and the fair was first held in 1960.", False),
    ],
)
def test_ends_of_a_range(claim, sentence, other):
    assert other_end(claim, sentence) is other
    assert (replaced(claim, [sentence], sentence).number_replaced > 1) is other


TOWN = "Brack is the second largest town of the county, after Lindmoor."


@pytest.mark.parametrize(
    ("claim", "sentence", "first"),
    [
        ("Brack is the largest town of the county.", TOWN, True),
        ("The largest town of the county is Brack.", TOWN, True),
        ("It is the most abundant gas.", "It is the 3rd most abundant gas.", True),
        ("The oldest mill is in Brack.", "In Brack is the second oldest mill.", True),
        # the rank, another one's, another superlative, and one of several
        ("Brack is the second largest town.", TOWN, False),
        ("Lindmoor is the largest town of the county.", TOWN, False),
        ("Saffron is the dearest spice.", "After saffron, vanilla is the second dearest.", False),
        ("Brack is the oldest town.", TOWN, False),
        ("Tavel is the largest town of the county.", TOWN, False),
        ("Brack is one of the largest towns.", TOWN, False),
        ("It is the oldest.", "It is the oldest and has the second oldest bell.", False),
    ],
)
def test_a_rank_that_is_left_out(claim, sentence, first):
    assert outranks(claim, sentence) is first


SALES = "Sales rose from 3.1 million in 2021 to 4.4 million in 2022."


@pytest.mark.parametrize(
    ("claim", "crossed"),
    [
        ("Sales were 4.4 million in 2021.", True),
        ("In 2022 sales were 3.1 million.", True),
        ("Sales were 3.1 million in 2021.", False),
        ("Sales rose to 4.4 million in 2022.", False),
    ],
)
def test_two_values_of_a_rise(claim, crossed):
    assert crosses(claim, SALES) is crossed


def test_a_time_span_may_be_computed():
    assert stated_years("She was mayor for eight years.", MAYOR) == {"8"}
    assert not stated_years("She was mayor for six years.", MAYOR)
    assert not stated_years("She had eight years of school.", MAYOR)
    assert not stated_years("She was mayor for eight years.", "Born in 1998, she left in 2006.")
    assert not any(replaced("She was mayor for eight years.", [MAYOR], MAYOR))
    assert replaced("She was mayor for six years.", [MAYOR], MAYOR).number_unknown
