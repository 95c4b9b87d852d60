"""Lists under words that lead them in, and entries with the value "no"."""

import pytest

from franq_guard.faithfulness.small.cut import stretches
from franq_guard.faithfulness.small.written_out import written_out

CARE = "Do not:\n- mix it with bleach\n- use it on marble\n\n**Always:**\n\n1. wear gloves"
HOTEL = (
    "Not included in the price:\n- Breakfast\n\n"
    "Breakfast room open: no\n- Pool: No.\nPets allowed: yes"
)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (
            CARE,
            "Do not:\n- Do not: mix it with bleach\n- Do not: use it on marble\n\n"
            "**Always:**\n\n1. Always: wear gloves",
        ),
        (
            HOTEL,
            "Not included in the price:\n- Breakfast not included in the price\n\n"
            "Breakfast room not open.\nNo Pool.\nPets allowed: yes",
        ),
        (
            "## What is not covered\n\n- Water\n- Theft\n\n**Don’t**\n- wait",
            "## What is not covered\n\n- Water not covered\n- Theft not covered\n\n"
            "**Don’t**\n- Don’t: wait",
        ),
        ("What is covered\n- Water", None),
        ("It is not open on Sundays.\n- Water", None),
        ("Steps:\n- First:\n- Open it", "Steps:\n- First:\n- Steps: Open it"),
        ("See https://a.b/c:\n- one", None),
        ("It opens at nine:\nThe door is red.", None),
        ("- one\n- two", None),
        ("Reason: no more than two bags", None),
        ("The house\n  Pool: no\r\n\tSauna: yes", "The house\nNo Pool.\n\tSauna: yes"),
        ("Is it open: no, not today", None),
        ("Any pets?\nAnswer: No.", None),
        ("Can the user fix it: no", "The user can not fix it."),
    ],
)
def test_what_leads_a_list_in_is_read_with_each_item(text, read):
    assert written_out(text).text == (read or text)


def test_an_item_is_shown_as_it_stands():
    written = written_out(CARE)
    shown = [CARE[slice(*written.original(*span))] for span in stretches(written.text)]
    lines = CARE.replace("\n\n", "\n").replace("1. ", "1.\n")
    assert shown == lines.splitlines()


def test_words_behind_an_item_are_shown_as_the_item():
    written = written_out(HOTEL)
    start, end = written.original(*stretches(written.text)[1])
    assert HOTEL[start:end] == "- Breakfast"


def test_the_evidence_of_a_last_item_ends_with_the_passage(model):
    passage = "Do not:\n- mix it with bleach"
    (found,) = model.evidence([passage], ["Do not mix it with bleach."])
    assert found is not None
    assert passage[found.start :] == "- mix it with bleach"
    assert found.end == len(passage)


def test_items_and_entries_are_not_taken_for_their_opposite(model):
    """Before, "You can mix it with bleach." had .78 and what stands there .16."""
    stated = ["Do not mix it with bleach.", "Wear gloves.", "The price does not include breakfast."]
    wrong = ["You can mix it with bleach.", "Use it on marble.", "There is a pool."]
    page = f"{CARE}\n\n{HOTEL}"
    found = model.score_passages([[page]] * 6, [*stated, *wrong])
    assert min(found[:3]) > 0.4
    assert max(found[3:]) < 0.25
