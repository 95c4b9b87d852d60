"""Lists under words that lead them in, and entries with the value "no"."""

import pytest

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
        ("Steps:\n- First:\n- Open it", "Steps:\n- First:\n- Steps: Open it"),
        ("See https://a.b/c:\n- one", None),
        ("It opens at nine:\nThe door is red.", None),
        ("- one\n- two", None),
        ("Reason: no more than two bags", None),
        ("Is it open: no, not today", None),
        ("Any pets?\nAnswer: No.", None),
        ("Can the user fix it: no", "The user can not fix it."),
    ],
)
def test_what_leads_a_list_in_is_read_with_each_item(text, read):
    assert written_out(text).text == (read or text)


def test_an_item_is_shown_as_it_stands():
    written = written_out(CARE)
    at = written.text.index("Do not: use")
    start, end = written.original((at, at + 10))
    assert CARE[start:end] == "use it on marble"


def test_items_and_entries_are_not_taken_for_their_opposite(model):
    """Before, "You can mix it with bleach." had .78 and what stands there .16."""
    stated = ["Do not mix it with bleach.", "Wear gloves.", "The price does not include breakfast."]
    wrong = ["You can mix it with bleach.", "Use it on marble.", "There is a pool."]
    page = f"{CARE}\n\n{HOTEL}"
    found = model.score_passages([[page]] * 6, [*stated, *wrong])
    assert min(found[:3]) > 0.4
    assert max(found[3:]) < 0.25
