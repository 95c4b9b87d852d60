"""Words that may be a noun or a verb, at the end of a list or before an object."""

import pytest

from franq_guard.claims import RuleSplitter


def texts(answer):
    return [c.text for c in RuleSplitter().split(answer) if c.not_a_claim is None]


LISTS = [
    ("The shop rents", ["boats", "tents", "bikes"]),
    ("The lake attracts", ["ducks", "herons", "swallows"]),
    ("The firm sells", ["pumps", "filters", "seals"]),
    ("The pottery makes", ["cups", "plates"]),
    ("The club hosts", ["talks", "walks", "plays"]),
    ("Workers face", ["cuts", "strikes", "delays"]),
    ("The fever causes", ["aches", "coughs"]),
    ("The tree sheds", ["bark", "leaves"]),
    ("The farm sells", ["plants", "pots", "sheds"]),
    ("The region has", ["dunes", "moors", "bends"]),
    ("The shop rents", ["two boats", "three tents", "ten bikes"]),
    ("The city has", ["three parks", "two pools", "12 stops"]),
]


@pytest.mark.parametrize(("start", "things"), LISTS)
def test_the_last_noun_of_a_list_is_no_verb(start, things):
    answer = f"{start} {', '.join(things[:-1])} and {things[-1]}."
    assert texts(answer) == [f"{start} {thing}." for thing in things]


@pytest.mark.parametrize(
    "answer",
    [
        # words after the list may belong to all of it
        "The shop rents boats, tents and bikes to guests from May to June.",
        "The hall hosts concerts, shows and plays every week.",
        "The tree sheds bark, twigs and leaves in autumn.",
        # the words before "and" are no sentence
        "The condition is rare, mild and usually clears up on its own.",
        "The shop sells coats, hats and handles orders by post.",
        "Ann holds, moves and guides the boat.",
        "To cancel, log in, open Settings and choose Cancel plan.",
        "Members can borrow tools, book rooms and attend talks.",
        "Remove the lid, clean the fan and replace the filter each month.",
        # a form that is base and past after "to" or another verb's modal
        "The firm plans to close stores and cut 500 jobs.",
        "He claimed the tunnel could flood the town and hurt trade.",
        # someone else acts
        "The site lets users post jobs, ads and reviews.",
        "The guide helps visitors find hotels, bars and shops.",
        # plural nouns that may describe the next one
        "The firm makes tools and parts kits.",
    ],
)
def test_it_stays_whole(answer):
    assert texts(answer) == [answer]


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        # a plural noun is the verb's object
        ("The app sends alerts and displays maps.",
         ["The app sends alerts.", "The app displays maps."]),
        ("The app sends alerts, displays maps and plays songs.",
         ["The app sends alerts.", "The app displays maps.", "The app plays songs."]),
        ("The ministry issues visas and passports and registers births.",
         ["The ministry issues visas.", "The ministry issues passports.",
          "The ministry registers births."]),
        # nothing but a verb is joined to a time, or after "no"
        ("The oven heats up in six minutes and cooks evenly.",
         ["The oven heats up in six minutes.", "The oven cooks evenly."]),
        ("The tool needs no cables and works offline.",
         ["The tool needs no cables.", "The tool works offline."]),
        # a list before the second verb
        ("The shop rents boats, tents and bikes and sells maps.",
         ["The shop rents boats.", "The shop rents tents.", "The shop rents bikes.",
          "The shop sells maps."]),
        # a modal is shared
        ("The rule would raise taxes and cost 500 jobs.",
         ["The rule would raise taxes.", "The rule would cost 500 jobs."]),
        ("She said that the rule would raise taxes and cost 500 jobs.",
         ["She said that the rule would raise taxes.",
          "She said that the rule would cost 500 jobs."]),
        # a time is no object, so that the words from "and" on are said in full
        ("The hall hosts concerts and plays every week.",
         ["The hall hosts concerts.", "The hall hosts concerts and plays every week."]),
        # the first verb's object is whole, whatever the second word is
        ("The society publishes a journal, awards prizes and funds research.",
         ["The society publishes a journal.", "The society awards prizes and funds research."]),
        # the past without "to" is cut as before
        ("The firm raised prices and cut jobs.",
         ["The firm raised prices.", "The firm cut jobs."]),
        ("The path has five signs of old stone and five gates of oak.",
         ["The path has five signs of old stone.", "The path has five gates of oak."]),
    ],
)  # fmt: skip
def test_a_verb_is_told_from_a_noun(answer, claims):
    assert texts(answer) == claims
