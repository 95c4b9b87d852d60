"""How often something is: the same in other words, and another frequency."""

import pytest

from franq_guard.faithfulness.small.differences.frequencies import (
    frequencies_as_in,
    other_frequency,
)


@pytest.mark.parametrize(
    ("claim", "text", "written"),
    [
        ("It runs every other week.", "every second week", "It runs every second week."),
        ("It runs fortnightly.", "every two weeks", "It runs every two weeks."),
        ("It runs every 14 days.", "Fortnightly, it is", "It runs fortnightly."),
        ("Every 14 days it runs.", "it is, fortnightly", "Fortnightly it runs."),
        ("It is sent every three months.", "sent quarterly", "It is sent quarterly."),
        ("It is sent every 12 months.", "sent every year", "It is sent every year."),
        ("It is checked daily.", "checked every 24 hours", "It is checked every 24 hours."),
        # two in one claim, each in its own words
        (
            "A every 3rd day, B fortnightly.",
            "B every other week and A every three days",
            "A every three days, B every other week.",
        ),
        # left alone: an adjective, what the network knows, another frequency, nothing counted
        ("A daily dose is needed.", "a dose every 24 hours", "A daily dose is needed."),
        ("It runs each week.", "It runs every week", "It runs each week."),
        ("It runs every week.", "It runs weekly", "It runs every week."),
        ("It runs every week.", "It runs every second week", "It runs every week."),
        ("It rains every so often.", "every second week", "It rains every so often."),
    ],
)
def test_a_frequency_takes_the_words_of_the_text(claim, text, written):
    assert frequencies_as_in(text, claim) == written


@pytest.mark.parametrize(
    ("claim", "sentence", "other"),
    [
        ("Every Thursday she is away.", "She is away every other Thursday.", True),
        ("It meets weekly.", "It meets every 14 days.", True),
        # what is every 8 hours is every day, too: of different things nothing is said
        ("It is taken every day.", "It is taken every 8 hours.", False),
        ("It meets fortnightly.", "It meets every 14 days.", False),
        ("It meets every week.", "It meets each week.", False),
        # one of its frequencies is the sentence's
        ("It meets weekly.", "It meets weekly at first, then every other week.", False),
        # of another thing, and none
        ("It meets every week.", "It meets every second Monday.", False),
        ("It meets on Mondays.", "It meets every second week.", False),
    ],
)
def test_another_frequency(claim, sentence, other):
    assert other_frequency(claim, sentence) is other
    assert other_frequency(sentence, claim) is other


def test_the_model_tells_them_apart(score):
    passage = "The relief boat came every second week, weather allowing."
    right = ["The relief boat came every two weeks.", "The relief boat came fortnightly."]
    wrong = ["The relief boat came every week.", "The relief boat came weekly."]
    found = score(passage, right + wrong)
    assert min(found[:2]) > 0.8  # before .43 and .59
    assert max(found[2:]) < 0.25  # before .88 and .87
