"""What ``FakeGuard`` returns agrees with itself, as an answer of the real guard does."""

import asyncio
import inspect
from contextlib import closing

import pytest

from franq_guard import Generation, Guard, Passage, Policy, Trace
from franq_guard.faithfulness.base import FaithfulnessModel
from franq_guard.language_model.base import LanguageModel
from franq_guard.policy import status_of
from franq_guard.streaming import ClaimStream
from franq_guard.testing import FakeFaithfulness, FakeGuard, FakeLanguageModel

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


@pytest.mark.parametrize(
    ("fake", "real"),
    [
        (FakeGuard, Guard),
        (FakeLanguageModel, LanguageModel),
        (FakeFaithfulness, FaithfulnessModel),
    ],
)
def test_the_methods_of_a_fake_take_what_the_real_ones_take(fake, real):
    methods = [name for name, _ in inspect.getmembers(fake, inspect.isfunction) if name[0] != "_"]
    assert {"check", "score"} & set(methods)
    for name in methods:
        assert arguments(getattr(fake, name)) == arguments(getattr(real, name)), name


def arguments(method):
    """Name, kind and default of each."""
    return [(p.name, p.kind, p.default) for p in inspect.signature(method).parameters.values()]


def test_a_fake_guard_is_made_with_the_form_and_policy_of_a_real_one():
    of_fake, of_real = (dict(inspect.signature(g).parameters) for g in (FakeGuard, Guard))
    for name in of_fake.keys() & of_real.keys():
        assert of_fake[name].default == of_real[name].default
    assert {"form", "policy"} <= of_fake.keys() & of_real.keys()
    assert FakeGuard(form="short").form == "short"


def test_a_fake_guard_checks_plain_values_and_tells_how_far_it_is():
    guard, told = FakeGuard(), []
    given = ("Who?", [Passage("Ann did.", "Notes")], "Ann did.")
    for answer in (guard.check(*given), asyncio.run(guard.acheck(*given))):
        assert answer.text == "Ann did. [checked: Notes]"
    many = guard.check_many([given] * 5, batch_size=2, progress=told.append)
    assert [answer.text for answer in many] == ["Ann did. [checked: Notes]"] * 5
    assert (told, guard.batches) == ([2, 4, 5], [5])


def test_a_fake_guard_says_what_checks_a_stream_claim_by_claim():
    with pytest.raises(ValueError, match=r"use Guard\(faithfulness=FakeFaithfulness"):
        ClaimStream(FakeGuard(), lambda text: (FakeGuard(), TRACE))
    told = Guard(faithfulness=FakeFaithfulness(), language_model=FakeLanguageModel())
    with closing(ClaimStream(told, lambda text: (told, TRACE))) as stream:
        stream.feed("Ann did.")
        stream.end()
        assert [*stream.remaining(), stream.answer().original][-1] == "Ann did."
