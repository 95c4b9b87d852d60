"""Weekdays and months that a passage names by a range, or by all but a few."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.faithfulness.small.amounts.days import days_as_in
from franq_guard.faithfulness.small.spelling import as_written

LIBRARY = "The library is open from Tuesday to Saturday."
MUSEUM = "Open daily except Mondays."
SHOP = "Opening hours: Mon–Fri 9–17, Sat 9–12."
POOL = "The pool is open from May to September."
PASS = "The pass is closed from November to March."


@pytest.mark.parametrize(
    ("claim", "text", "written"),
    [
        ("It is open on Thursdays.", LIBRARY, "It is open from Tuesday to Saturday."),
        ("It is open on a Tuesday.", LIBRARY, "It is open from Tuesday to Saturday."),
        ("It is closed on Mondays.", LIBRARY, "It is open from Tuesday to Saturday."),
        ("It is closed on Mondays.", MUSEUM, "It is open daily except Mondays."),
        ("It opens on Fridays.", MUSEUM, "It opens daily except Mondays."),
        ("It closes at 5 on Wednesdays.", SHOP, "It closes at 5 Mon–Fri."),
        ("It is closed on Sundays.", SHOP, "It is open Mon–Fri."),
        ("You can swim in July.", POOL, "You can swim from May to September."),
        ("It is open in January.", PASS, "It is open from November to March."),
        ("It is closed in January.", PASS, "It is closed from November to March."),
        ("Open in January.", "Open November to February.", "Open November to February."),
        # a day outside, one that stands by itself, and two ranges that have it
        ("It is open on Sundays.", LIBRARY, "It is open on Sundays."),
        ("It is open on Saturdays.", SHOP, "It is open on Sat."),
        ("It opens on Fridays.", f"{LIBRARY} On Fridays it closes at 8.", "It opens on Fridays."),
        ("It runs in June.", f"{POOL} Tours: April to June.", "It runs in June."),
        # of one day, and not of all of them
        ("It is open only on Thursdays.", LIBRARY, "It is open only on Thursdays."),
        ("It is open every day but on Fridays.", LIBRARY, "It is open every day but on Fridays."),
        ("It opened in July 2019.", POOL, "It opened in July 2019."),
        ("It is open in July and August.", POOL, "It is open in July and August."),
        # "closed" without a word of opening
        ("It is closed on Mondays.", "Talks from Tuesday to Friday.", "It is closed on Mondays."),
    ],
)  # fmt: skip
def test_a_day_takes_the_words_of_its_range(claim, text, written):
    assert days_as_in(text, claim) == written
    assert as_written(claim, text) == written


DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


@given(st.sampled_from(DAYS), st.sampled_from(DAYS), st.sampled_from(DAYS))
def test_a_range_may_go_over_the_end_of_the_week(first, last, day):
    # by counting the days from the first on, one by one
    place = DAYS.index(first)
    within = []
    while not within or within[-1] != last:
        within.append(DAYS[place % 7])
        place += 1
    text = f"It runs {first} to {last}."
    assert (days_as_in(text, f"It runs on {day}s.") == text) is (day in within)


def test_the_model_tells_them_apart(model):
    right = ["The library is open on Thursdays.", "The library is closed on Mondays."]
    wrong = ["The library is open on Sundays.", "The library is closed on Fridays."]
    found = model.score_passages([[LIBRARY]] * 4, right + wrong)
    assert min(found[:2]) > 0.8  # before .01 and .05
    assert max(found[2:]) < 0.2
