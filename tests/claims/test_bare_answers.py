""" "Yes." and "It does." beside a full sentence state nothing; alone they state what was asked."""

import pytest

from franq_guard import Guard
from franq_guard.claims import RuleSplitter
from franq_guard.report.counts import summary
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
        ("Yes.", ["yes or no"]),
        ("It does.", ["yes or no"]),
        ("Is it red? Yes.", ["question", None]),
        ("It is made in Ulm. Is it red? No.", [None, "question", None]),
        ("Yes. I hope this helps!", ["yes or no", "greeting"]),
        ("No. Is it red?", ["yes or no", "question"]),
        ("Yes. 1.7 litres.", ["yes or no", None]),
        ("The K7 is red. It is", [None, "unfinished"]),
    ],
)
def test_beside_a_statement_or_without_a_question_it_is_no_claim(answer, reasons):
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


@pytest.mark.parametrize(
    ("question", "answer", "full"),
    [
        ("Is the K2 available in blue?", "No.", "The K2 is not available in blue."),
        ("Is the K2 available in blue?", "**Yes**", "The K2 is available in blue."),
        ("Is the K2 available in blue", "Yes [1].", "The K2 is available in blue."),
        ("Is the K2 available in blue?", "No, it is not.", "The K2 is not available in blue."),
        ("Is the K2 available in blue?", "It isn't.", "The K2 is not available in blue."),
        ("Is the K2 available in blue?", "Yes, it is.", "The K2 is available in blue."),
        ("Is the pump blue?", "No.", "The pump is not blue."),
        ("Is it blue?", "No. I hope this helps!", "It is not blue."),
        ("Is there a warranty?", "Yes.", "There is a warranty."),
        ("Is Rome the capital of Italy?", "No.", "Rome is not the capital of Italy."),
        ("Is the K2 heavier than the K3?", "No.", "The K2 is not heavier than the K3."),
        ("Was the pump sold in 2019?", "No.", "The pump was not sold in 2019."),
        ("Has Ann Lee won a prize?", "No.", "Ann Lee has not won a prize."),
        ("Does the motor run on 230 V?", "No.", "The motor does not run on 230 V."),
        ("Can the K2 pump be cleaned?", "No, it can't.", "The K2 pump can not be cleaned."),
    ],
)
def test_alone_it_states_what_the_question_asks(question, answer, full):
    claim, *others = SPLITTER.split(answer, question=question)
    assert (claim.full, claim.not_a_claim) == (full, None)
    assert all(other.not_a_claim for other in others)
    assert answer.strip("*.").startswith(claim.text.rstrip("."))
    assert answer[slice(*claim.spans[0])].strip("*. ") == claim.text.rstrip(".")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is the pump used in Kassel blue?", "No."),
        ("Was the pump sold in 2019 blue?", "No."),
        ("Is the pump quiet compared to the K3?", "No."),
        ("Is the pump suitable for drinking water?", "No."),
        ("Is the K2 pump blue?", "No."),
        ("Is Alice in Wonderland British?", "No."),
        ("Is Kill the Messenger good?", "No."),
        ("Is Thanksgiving held on Friday a holiday?", "No."),
        ("Does the K2 pump in Kassel weigh 5 kg?", "No."),
        ("Is every pump blue?", "No."),
        ("Is the K2 blue or grey?", "Yes."),
        ("Is the K2 not heavy?", "No."),
        ("Isn't the K2 heavy?", "Yes."),
        ("Do you sell the K2?", "Yes."),
        ("I have a K2. Is it blue?", "No."),
        ("Is the K2 blue?", "Yes, it does."),
        ("Is the K2 blue?", "Yes, it is not."),
        ("Is the K2 blue?", "Correct."),
        ("What is blue?", "No."),
    ],
)
def test_where_that_is_not_certain_nothing_is_vouched_for(question, answer):
    (claim,) = SPLITTER.split(answer, question=question)
    assert (claim.full, claim.not_a_claim) == (None, "yes or no")
    guard = Guard(faithfulness=FakeFaithfulness())
    seen = guard.check(question, ["The K2 is blue."], answer)
    assert (seen.status, seen.reason, seen.score) == ("unverified", "no_claims", None)
    assert "yes or no" in summary(seen)


def test_an_answer_of_its_own_question_or_in_a_list_is_not_the_users():
    found = SPLITTER.split("It is made in Ulm. Is it red? No.", question="Is the K2 blue?")
    assert [claim.full for claim in found] == [None, None, "It is not red."]
    found = SPLITTER.split("The K2 is red. Yes.", question="Is the K2 blue?")
    assert [claim.not_a_claim for claim in found] == [None, "yes or no"]
    found = SPLITTER.split("It is waterproof:\n- No", question="Is the K2 blue?")
    assert found[-1].text == "It is waterproof: No."


def test_read_by_its_form_a_bare_answer_is_scored_with_its_question():
    guard = Guard(faithfulness=FakeFaithfulness(), form="auto")
    seen = guard.check("Is the pump used in Kassel blue?", ["The K2 is blue."], "No.")
    assert [verdict.p_faithful is not None for verdict in seen.verdicts] == [True]


def test_a_stream_sees_the_same_lone_answer(both_ways):
    polite = ("Certainly.", "Certainly.\n\n## Facts\n\nIt is red.", "Sure! It is red.")
    for answer in ("No.", "No.\n\nI hope this helps!", "False.", "Not at all.\n", *polite):
        streamed, whole = both_ways("Is the K2 blue?", "The K2 is blue.", answer)
        if answer not in polite:
            assert streamed[0].claim.full == "The K2 is not blue."
        assert streamed == whole


def test_a_stream_sees_the_same_denial(both_ways):
    answer = f"Yes. {NOT} The tower was red for many long years."
    streamed, whole = both_ways("Was the bridge opened in 1932?", NOT, answer)
    assert [v.claim.text for v in streamed][:2] == [OPENED, NOT]
    assert streamed == whole


PUMP = "Is the pump waterproof?"


@pytest.mark.parametrize(
    ("question", "answer", "full"),
    [
        (PUMP, "True.", "The pump is waterproof."),
        (PUMP, "**False**", "The pump is not waterproof."),
        ("True or false: the pump is waterproof?", "True", "The pump is waterproof."),
        ("True or false: the pump is waterproof", "False.", "The pump is not waterproof."),
        ("The pump is waterproof. True or false?", "False.", "The pump is not waterproof."),
        ("Is it true that the pump is waterproof?", "No.", "The pump is not waterproof."),
        ("Is it true that the pump runs on oil?", "Yes.", "The pump runs on oil."),
        (PUMP, "Definitely not [1].", "The pump is not waterproof."),
        (PUMP, "Of course not!", "The pump is not waterproof."),
        (PUMP, "Not at all.", "The pump is not waterproof."),
        (PUMP, "Definitely.", "The pump is waterproof."),
        (PUMP, "Definitely, it is.", "The pump is waterproof."),
        (PUMP, "Absolutely not, it isn't.", "The pump is not waterproof."),
        (PUMP, "False, it is not.", "The pump is not waterproof."),
    ],
)
def test_true_false_and_definitely_are_read_as_yes_and_no(question, answer, full):
    (claim,) = SPLITTER.split(answer, question=question)
    assert (claim.full, claim.not_a_claim) == (full, None)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is it true that the pump runs on oil?", "False."),
        ("Is it true that every pump is red?", "No."),
        ("True or false: the pump is red and big?", "False."),
        ("Is the pump used in Kassel blue?", "True."),
        ("Is the pump used in Kassel blue?", "Absolutely!"),
        ("Should the pump be oiled?", "Certainly."),
        (PUMP, "False, it is."),
    ],
)
def test_what_a_true_states_may_be_uncertain(question, answer):
    (claim,) = SPLITTER.split(answer, question=question)
    assert (claim.full, claim.not_a_claim) == (None, "yes or no")


def test_beside_a_sentence_true_states_nothing_unless_it_is_a_value():
    found = SPLITTER.split("True. It is made in Ulm.", question=PUMP)
    assert [claim.not_a_claim for claim in found] == ["yes or no", None]
    answer = "False. The pump is waterproof."
    assert [claim.text for claim in SPLITTER.split(answer, question=PUMP)] == [
        "The pump is not waterproof.", "The pump is waterproof.",
    ]  # fmt: skip
    found = SPLITTER.split("True. It is a flag.", question="What does it return?")
    assert [claim.not_a_claim for claim in found] == [None, None]
    listed = "Allowed are:\n\n- true\n- false\n\nIt is true at first."
    texts = [c.text for c in SPLITTER.split(listed, question=PUMP) if c.not_a_claim is None]
    assert texts == ["Allowed are: True.", "Allowed are: False.", "It is true at first."]
    found = SPLITTER.split("## False\n\n- It is red.", question=PUMP)
    assert [claim.not_a_claim for claim in found] == ["heading", None]


@pytest.mark.parametrize(
    "answer", ["Absolutely!", "Certainly.", "**Of course!**", "Sure", "Surely."]
)
def test_certainly_is_yes_where_it_is_the_whole_answer(answer):
    (claim,) = SPLITTER.split(answer, question=PUMP)
    assert (claim.full, claim.not_a_claim) == ("The pump is waterproof.", None)
    for question in ("Can you list the pumps?", "How heavy is the pump?", ""):
        assert SPLITTER.split(answer, question=question)[0].full is None
    for more in ("Here is the list:\n\n- red", "\n\n## Facts\n\nIt is red.", "I hope this helps!"):
        (first, *_) = SPLITTER.split(f"{answer} {more}", question=PUMP)
        assert (first.full, first.not_a_claim) != ("The pump is waterproof.", None)


def test_a_courtesy_stays_one():
    for question in ("Can you list the pumps?", "How heavy is the pump?", ""):
        (claim,) = SPLITTER.split("Certainly!", question=question)
        assert claim.not_a_claim == "greeting"
    assert SPLITTER.split("Certainly! It is red.", question=PUMP)[0].not_a_claim == "greeting"


def test_certainly_alone_is_checked_and_not_certain_alone_unverified():
    guard = Guard(faithfulness=FakeFaithfulness())
    seen = guard.check(PUMP, ["The pump is waterproof."], "Absolutely!")
    assert [verdict.p_faithful is not None for verdict in seen.verdicts] == [True]
    seen = guard.check("Is the pump used in Kassel blue?", ["The pump is blue."], "Absolutely!")
    assert (seen.status, seen.reason) == ("unverified", "no_claims")
