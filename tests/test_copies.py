"""Pickled and copied guards, warming, a policy's action that fails."""

import pickle
import threading
from copy import copy, deepcopy
from dataclasses import replace

import pytest

from franq_guard import Guard, Policy
from franq_guard.calibration.defaults import MismatchError, shipped
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

PASSAGES = ["Rome is big."]


@pytest.fixture(autouse=True)
def _quiet(caplog):
    caplog.set_level("CRITICAL")  # uncalibrated models say so


def judge():
    return FakeFaithfulness()


def checked(guard):
    return guard.check("What is Rome?", PASSAGES, "Rome is big. Rome sings.")


@pytest.mark.parametrize("form", ["long", "short", "auto"])
@pytest.mark.parametrize("again", [copy, deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
@pytest.mark.parametrize("used", [False, True])
def test_a_copy_says_what_the_guard_says(form, again, used):
    guard = Guard(
        faithfulness=judge,
        language_model=FakeLanguageModel(answers=str.upper),
        form=form,
        policy=Policy(action="filter"),
        deadline=60.0,
    )
    if used:
        checked(guard)
    other = again(guard)
    first, second = checked(guard), checked(other)
    assert (first.text, first.verdicts, first.status) == (second.text, second.verdicts, "ok")
    if again is deepcopy:
        assert other.faithfulness is guard.faithfulness


def test_a_guard_that_was_copied_while_in_use_is_free():
    guard = Guard(faithfulness=FakeFaithfulness(), form="auto")
    with guard._lock:
        other = deepcopy(guard)
    done = threading.Event()
    threading.Thread(target=lambda: (checked(other), done.set()), daemon=True).start()
    assert done.wait(30)


def test_a_loader_that_cannot_be_pickled_says_what_can():
    guard = Guard(faithfulness=lambda: FakeFaithfulness())
    with pytest.raises(TypeError, match="give the guard a function"):
        pickle.dumps(guard)
    deepcopy(guard)


def test_warming_loads_and_checks_and_tells_what_is_missing():
    loaded = []

    def scorer():
        loaded.append("faithfulness")
        return FakeFaithfulness()

    def model():
        loaded.append("language model")
        return FakeLanguageModel()

    guard = Guard(faithfulness=scorer, language_model=model)
    assert guard.warm() is guard
    assert sorted(loaded) == ["faithfulness", "language model"]

    def missing():
        raise OSError("no weights")

    with pytest.raises(OSError, match="no weights"):
        Guard(faithfulness=FakeFaithfulness(), language_model=missing).warm()


def test_warming_does_not_hold_an_unknown_writer_against_the_calibrator():
    faithfulness, model = FakeFaithfulness(), FakeLanguageModel()
    own = next(c for c in shipped() if c.writer is not None and c.form == "long")
    fits = {**own.fingerprint, "faithfulness": faithfulness.fingerprint, "writer": "theirs"}

    def guard(fingerprint):
        franq = replace(own, fingerprint=fingerprint)
        return Guard(faithfulness=faithfulness, language_model=model, franq=franq, strict=True)

    guard(fits).warm()
    with pytest.raises(MismatchError, match="faithfulness: fitted for 'another'"):  # found early
        guard({**fits, "faithfulness": "another"}).warm()


@pytest.mark.parametrize("on_error", ["open", "closed"])
def test_a_failing_action_shows_in_the_status(on_error):
    def action(answer, verdicts):
        raise KeyError("mine")

    policy = Policy(action=action, on_error=on_error)
    guard = Guard(faithfulness=FakeFaithfulness(), policy=policy)
    answer = checked(guard)
    assert answer.status == answer.to_dict()["status"] == "policy_error"
    assert answer.verdicts[0].p_true is not None
