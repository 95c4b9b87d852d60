"""Claims that come with an answer do not keep the rest of it from being checked."""

from dataclasses import replace

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from franq_guard import Claim, Generation, Guard, Passage, Policy, Trace
from franq_guard.claims import RuleSplitter
from franq_guard.datasets.labelled import labelled_rows
from franq_guard.records import ClaimLabel
from franq_guard.rows.traces import trace_from_dict
from franq_guard.signals.given import with_the_rest
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

TEN = "The ferry leaves at 10:00 on Tuesdays."
ELEVEN = "The ferry leaves at 11:00 on Tuesdays."
PRICE = "The ferry sails on Mondays at 4:00 for 999 pounds."


def trace(answer, *claims):
    row = {"question": "When does it leave?", "passages": [TEN], "answer": answer}
    return trace_from_dict(row | {"claims": list(claims)})


def taken(answer, *claims):
    """The claims that an answer is checked by, and why one is no claim."""
    given = trace(answer, *claims).claims
    found = with_the_rest(given, answer, RuleSplitter().split(answer))
    return [(claim.text, claim.not_a_claim) for claim in found]


@pytest.fixture(scope="module")
def guard():
    return Guard.offline(evidence=False)


@pytest.mark.parametrize(
    ("answer", "given", "rest"),
    [
        (f"{TEN} {PRICE}", [TEN], [PRICE]),
        (f"{TEN} {PRICE}", [TEN, PRICE], []),
        (f"{TEN} {PRICE}", [PRICE, "the ferry leaves at 10:00 on Tuesdays"], []),
        (f"{TEN} {PRICE}", [f"{TEN} {PRICE}"], []),
        (f"**{TEN}** [1]", [TEN], []),
        (ELEVEN, [TEN], [ELEVEN]),
        # All words of the sentence stand in the claim, but it says something else.
        (TEN, ["The ferry never leaves at 10:00 on Tuesdays."], [TEN]),
        (f"It is not true that the ferry leaves. {TEN}", ["The ferry leaves."],
         ["It is not true that the ferry leaves.", TEN]),
        (TEN, ["The ferry leaves", "at 10:00 on Tuesdays."], [TEN]),
        # "It is red." is made of two places of the sentence, as the guard makes it.
        ("It opened in 1937 and is red.", ["It opened in 1937.", "It is red."], []),
        ("It opened in 1937 and is red.", ["It opened in 1937."], ["It is red."]),
        # What is scored is the claim in full, so that is what it covers.
        (ELEVEN, [{"text": ELEVEN, "full": TEN}], [ELEVEN]),
        ("", [TEN], []),
    ],
)  # fmt: skip
def test_what_given_claims_do_not_say_is_split_as_ever(answer, given, rest):
    texts = [claim["text"] if isinstance(claim, dict) else claim for claim in given]
    assert [text for text, _ in taken(answer, *given)] == [*texts, *rest]


def test_a_stretch_that_is_given_as_no_claim_covers_nothing():
    greeting = {"text": TEN, "not_a_claim": "greeting"}
    assert taken(TEN, greeting) == [(TEN, "greeting"), (TEN, None)]
    assert taken(TEN, {"text": "x", "not_a_claim": "greeting"}) == [(TEN, None)]
    # Where nothing is a claim, the same said of the same words is said once.
    nothing = {"text": "Empty Response", "not_a_claim": "nothing was asked of the model"}
    assert taken("Empty Response", nothing) == [
        ("Empty Response", "nothing was asked of the model")
    ]
    code = "```\nx = 1\n```"
    found = taken(code, {"text": code, "not_a_claim": "greeting"})
    assert [why for _, why in found] == ["greeting", "code"]


@drawn(st.lists(st.sampled_from([TEN, ELEVEN, PRICE, "Hello!"]), min_size=1, max_size=5), st.data())
def test_every_sentence_is_checked_whatever_was_given(sentences, data):
    given = data.draw(st.lists(st.sampled_from([TEN, ELEVEN, PRICE]), min_size=1, max_size=3))
    texts = {text for text, why in taken(" ".join(sentences), *given) if why is None}
    assert texts >= set(sentences) - {"Hello!"}


def test_the_rest_of_an_answer_is_flagged_and_blocked(guard):
    for answer, label in ((f"{TEN} {PRICE}", "unsupported"), (ELEVEN, "false")):
        found = guard.check_trace(trace(answer, TEN))
        assert [verdict.label for verdict in found.verdicts] == ["supported", label]
        blocked = Policy(action="block").apply(found.original, found.verdicts)
        assert blocked == Policy().replacement


@pytest.mark.parametrize("spans", [{}, {"spans": [[0, 9]]}])
def test_a_claim_that_is_not_in_the_answer_is_unverified(guard, spans):
    found = guard.check_trace(trace(TEN, {"text": "Rome is big.", **spans}))
    told = [(v.claim.text, v.label, v.reason) for v in found.verdicts]
    absent = ("Rome is big.", "unverified", "not_in_answer")
    assert told == [absent, (TEN, "supported", None)]
    assert (found.status, found.text) == ("partial", f"{TEN[:-1]} [unverified].")
    closed = Policy(action="block", on_error="closed")
    assert closed.apply(found.original, found.verdicts) == closed.replacement


def test_claims_of_a_program_are_looked_up_too(guard):
    asked = Trace("When?", (Passage(TEN),), Generation(TEN), claims=(Claim(TEN, ()),))
    (found,) = guard.check_trace(asked).verdicts
    assert (found.label, found.claim.spans) == ("supported", ((0, len(TEN) - 1),))


def test_labelled_claims_are_measured_alone():
    model = FakeLanguageModel(answers=lambda prompt: PRICE)
    guard = Guard(language_model=model, faithfulness=FakeFaithfulness())
    asked = replace(
        trace(f"{TEN} {PRICE}", TEN, "Rome is big."),
        labels=(ClaimLabel(is_true=True), ClaimLabel(is_true=False)),
    )
    (rows,) = labelled_rows(guard, [asked])
    assert [(row["claim"], row["is_true"]) for row in rows] == [
        (TEN, True),
        ("Rome is big.", False),
    ]
