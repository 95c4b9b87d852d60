""" "Yes." and "It does." beside a full sentence state nothing; alone they are the answer."""

import pytest

from franq_guard.claims import RuleSplitter

SPLITTER = RuleSplitter()


@pytest.mark.parametrize(
    ("answer", "reasons"),
    [
        ("Yes. It is made in Ulm.", ["yes or no", None]),
        ("**No.**\n\nIt is made in Ulm.", ["yes or no", None]),
        ("No, it does not. It boils in 4 minutes.", ["yes or no", None]),
        ("The K7 is red. It does.", [None, "yes or no"]),
        ("- Correct.\n- It is made in Ulm.", ["yes or no", None]),
        ("Yes.", [None]),
        ("It does.", [None]),
        ("Is it red? Yes.", ["question", None]),
        ("It is made in Ulm. Is it red? No.", [None, "question", None]),
        ("Yes. I hope this helps!", [None, "greeting"]),
        ("No. Is it red?", [None, "question"]),
        ("Yes. 1.7 litres.", [None, None]),
        ("The K7 is red. It is", [None, "unfinished"]),
    ],
)
def test_only_beside_a_statement_is_it_no_claim(answer, reasons):
    assert [claim.not_a_claim for claim in SPLITTER.split(answer)] == reasons


def test_a_stream_waits_for_the_sentence_after_it():
    first = "Yes.\n\n"
    assert RuleSplitter().settled(f"{first}It is made in") == 0
    text = f"{first}It is made in Ulm.\n"
    assert RuleSplitter().settled(text) == len(text) - 1
