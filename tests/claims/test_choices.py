""" "The latter.", "Both." and "Neither." state what the question asks, and are judged so."""

import pytest

from franq_guard.claims import RuleSplitter

SPLITTER = RuleSplitter()


@pytest.mark.parametrize(
    ("question", "answer", "full"),
    [
        ("Is the pump red or blue?", "The former.", "The pump is red."),
        ("Is the pump red or blue?", "**The latter**", "The pump is blue."),
        ("Is the pump red or blue?", "Both.", "The pump is red and blue."),
        ("Is the pump red or blue?", "Neither.", "The pump is not red or blue."),
        ("Does the pump run on petrol or on oil?", "The latter.", "The pump does run on oil."),
        ("Does the pump run on petrol, or on oil?", "Neither of them.",
         "The pump does not run on petrol or on oil."),
        ("Is Rome a town or a river?", "Latter", "Rome is a river."),
        ("Are the pump and the hose red?", "Both.", "The pump and the hose are red."),
        ("Are the pump and the hose red?", "Neither.", "The pump and the hose are not red."),
        ("Are Ann Lee and Bob Ray dead?", "Both", "Ann Lee and Bob Ray are dead."),
        ("Can the K2 and the K3 swim?", "Neither.", "The K2 and the K3 can not swim."),
    ],
)  # fmt: skip
def test_a_choice_states_the_question_with_what_was_chosen(question, answer, full):
    (claim,) = SPLITTER.split(answer, question=question)
    assert (claim.full, claim.not_a_claim) == (full, None)
    assert answer[slice(*claim.spans[0])].strip("*") == answer.strip("*")
    first, *_ = SPLITTER.split(f"{answer}\n\nI hope this helps!", question=question)
    assert first.full == full or "**" in answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is the pump dark red or blue?", "The latter."),
        ("Is the pump red, green or blue?", "The latter."),
        ("Is the pump red or blue or green?", "The former."),
        ("Is the pump red or not?", "Neither."),
        ("Which is red, the pump or the hose?", "The latter."),
        ("Is Ann or Bob the author?", "The latter."),
        ("Are the pump used in Ulm and the hose red?", "Both."),
        ("Who is red?", "Both."),
        ("Is the pump red or blue?", "The latter is red."),
        ("", "Neither."),
    ],
)
def test_where_the_things_are_not_certain_it_is_judged_as_it_stands(question, answer):
    (claim,) = SPLITTER.split(answer, question=question)
    assert (claim.full, claim.not_a_claim) == (None, None)


def test_it_answers_the_question_only_at_the_beginning():
    found = SPLITTER.split("It is made in Ulm. Neither.", question="Is the pump red or blue?")
    assert [claim.full for claim in found] == [None, None]
    found = SPLITTER.split("It may be:\n- Both", question="Is the pump red or blue?")
    assert found[-1].text == "It may be: Both."


@pytest.mark.parametrize(
    "answer", ["Neither. It is green.", "True.\n\nIt is red.", "Both", "False."]
)
def test_a_stream_sees_the_same_choice(both_ways, answer):
    question = "Is the pump red or blue?" if answer[0] in "NB" else "Is the pump red?"
    streamed, whole = both_ways(question, "The pump is red.", answer)
    assert streamed == whole
