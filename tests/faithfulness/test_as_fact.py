"""A claim that tells as a fact what its sentence says is planned, alleged or possible."""

import pytest

from franq_guard.faithfulness.small.differences.as_fact import told_as_fact
from franq_guard.faithfulness.small.replaced import replaced

BAKERY = "Ann Reed, who bakes in Harrow, plans to open a second bakery by next spring."
BRIDGE = "The bridge is believed to stand on Roman foundations, but nothing confirms this."
TEA = "The authors warn that the tea could interact with blood thinners."


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Ann Reed opened a second bakery in spring.", BAKERY),
        ("The bridge stands on Roman foundations.", BRIDGE),
        ("The tea interacts with blood thinners.", TEA),
        ("He forged eleven invoices.", "Prosecutors allege that he forged eleven invoices."),
        ("The charge was abolished.", "A proposal to abolish the charge is under discussion."),
        ("The fire spread to the yard.", "The fire nearly spread to the yard."),
        ("The contractor was fined.", "Bassey demanded that the contractor be fined."),
    ],
)
def test_what_is_planned_alleged_or_possible_is_no_fact(claim, sentence):
    assert told_as_fact(claim, sentence)
    found = replaced(claim, [sentence], sentence)
    assert found.told_as_fact == 1  # all words are there
    assert found.negation_added == 0


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        # It says so itself.
        ("Ann Reed plans to open a second bakery.", BAKERY),
        ("Ann Reed wants to open a second bakery.", BAKERY),
        ("The tea may interact with blood thinners.", TEA),
        # What stands before the operator is a fact, and so is what another clause says.
        ("Ann Reed bakes in Harrow.", BAKERY),
        ("The plant lost its night shift.", "He denied it; the plant lost its night shift."),
        # Denied in both.
        ("He did not sign the letter.", "He refused to sign the letter."),
        # "said" says nothing of the words before it.
        ("The bridge was closed.", "The bridge was closed, the mayor said on Monday."),
        ("The bakery opened.", "The bakery opened in May."),
    ],
)
def test_facts(claim, sentence):
    assert not told_as_fact(claim, sentence)
    assert replaced(claim, [sentence], sentence).told_as_fact == 0


def test_it_counts_only_beside_a_sentence_with_nearly_all_of_the_words():
    claim = "Ann Reed opened a second bakery in the old harbour office near Lund."
    assert told_as_fact(claim, BAKERY)
    assert replaced(claim, [BAKERY], BAKERY).told_as_fact == 0


def test_a_text_without_ends_is_no_sentence():
    claim = "Ann Reed opened a second bakery in spring."
    assert told_as_fact(claim, f"so {BAKERY}")
    assert not told_as_fact(claim, f"{'so ' * 150}{BAKERY}")
