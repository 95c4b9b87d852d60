"""What ``FakeGuard`` returns agrees with itself, as an answer of the real guard does."""

import pytest

from franq_guard import Generation, Passage, Policy, Trace
from franq_guard.policy import status_of
from franq_guard.testing import FakeGuard

TRACE = Trace("Who?", (Passage("Ann did.", "Notes"),), Generation("Ann did."))


@pytest.mark.parametrize("label", ["supported", "false", "unverified"])
def test_an_answer_has_the_status_of_its_claims(label):
    closed = Policy(on_error="closed")
    answer = FakeGuard(label=label, policy=closed).check_trace(TRACE)
    assert answer.status == status_of(answer.verdicts, "Ann did.")
    assert answer.status == ("unverified" if label == "unverified" else "ok")
    assert answer.score == (None if label == "unverified" else 0.9)
    assert bool(answer.flagged) == (label != "supported")
    assert answer.text == "Ann did. [checked: Notes]"


def test_an_answer_that_was_not_checked_says_why():
    guard = FakeGuard()
    answer = guard.unverified(TRACE, "timeout")
    assert [(v.label, v.reason, v.p_true) for v in answer.verdicts] == [
        ("unverified", "timeout", None)
    ]
    assert (answer.status, answer.text) == ("unverified", "Ann did. [unverified]")
    assert guard.traces == [TRACE]
