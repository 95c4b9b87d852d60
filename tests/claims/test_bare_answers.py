""" "Yes." and "It does." beside a full sentence state nothing; alone they are the answer."""

import pytest

from franq_guard import Generation, Guard, Passage, Trace
from franq_guard.claims import RuleSplitter
from franq_guard.streaming import ClaimStream
from franq_guard.testing import FakeFaithfulness

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


OPENED, NOT = "The bridge was opened in 1932.", "The bridge was not opened in 1932."


@pytest.mark.parametrize(
    ("question", "answer", "texts"),
    [
        ("Was the bridge opened in 1932?", f"Yes. {NOT}", [OPENED, NOT]),
        ("Was the bridge opened in 1932?", "Yes.\n\nThe bridge wasn't opened in 1932.",
         [OPENED, "The bridge wasn't opened in 1932."]),
        ("Was the bridge opened in 1932?", f"**No.** {OPENED}", [NOT, OPENED]),
        ("was the Bridge opened in 1932", f"No. {OPENED}", [NOT, OPENED]),
        ("Did the K7 boil in 4 minutes?", "Yes. The K7 did not boil in 4 minutes.",
         ["The K7 did boil in 4 minutes.", "The K7 did not boil in 4 minutes."]),
        ("Can it fly?", "No. It can fly.", ["It can not fly.", "It can fly."]),
    ],
)  # fmt: skip
def test_yes_beside_its_denial_is_the_claim_that_the_question_asks_for(question, answer, texts):
    claims = SPLITTER.split(answer, question=question)
    assert [claim.text for claim in claims] == texts
    assert {claim.not_a_claim for claim in claims} == {None}
    assert answer[slice(*claims[0].spans[0])].strip("*") in ("Yes.", "No.")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Was the bridge opened in 1932?", f"Yes. {OPENED}"),
        ("Was the bridge opened in 1932?", f"No. {NOT}"),
        ("Wasn't the bridge opened in 1932?", f"Yes. {NOT}"),
        ("Was the bridge not opened in 1932?", f"Yes. {NOT}"),
        ("Was the bridge opened in 1932 or not?", f"Yes. {NOT}"),
        ("Was the bridge opened in 1933?", f"Yes. {NOT}"),
        ("Was the bridge opened?", f"Yes. {NOT}"),
        ("When was the bridge opened?", f"Yes. {NOT}"),
        ("Was the bridge closed? Was the bridge opened in 1932?", f"Yes. {NOT}"),
        ("Was it opened in 1932?", f"Yes. {NOT}"),
        ("Was the bridge opened in 1932?", "Yes. It was not opened in 1932."),
        ("Did the bridge open in 1932?", "No. The bridge opened in 1932."),
        ("Was the bridge opened in 1932?", f"Correct. {NOT}"),
        ("Is every bridge red?", "No. Every bridge is red."),
        ("Must it close?", "No. It must close."),
        ("", f"Yes. {NOT}"),
    ],
)
def test_where_it_is_not_sure_yes_stays_no_claim(question, answer):
    first, *_ = SPLITTER.split(answer, question=question)
    assert first.not_a_claim == "yes or no"


def test_a_stream_sees_the_same_denial():
    answer, question = (
        f"Yes. {NOT} The tower was red for many long years.",
        "Was the bridge opened in 1932?",
    )
    guard = Guard(faithfulness=FakeFaithfulness())

    def trace(so_far):
        return Trace(question, (Passage(NOT),), Generation(so_far))

    stream = ClaimStream(guard, lambda so_far: (guard, trace(so_far)))
    for char in answer:
        stream.feed(char)
    stream.end()
    while stream.wait() is not None:
        pass
    seen = stream.answer()
    stream.close()
    assert [v.claim.text for v in seen.verdicts][:2] == [OPENED, NOT]
    assert seen.verdicts == guard.check_trace(trace(answer)).verdicts
