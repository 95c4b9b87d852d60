"""Failures are logged by their type: an exception's message may hold text of users."""

import logging
from dataclasses import replace

import pytest

from franq_guard import Guard, Policy
from franq_guard.capture.job import gathered
from franq_guard.claims import RuleSplitter
from franq_guard.rows.traces import trace_of
from franq_guard.streaming import ClaimStream
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

SECRET = "the patient is Ann Baker"
ANSWER = f"It is red. It is said that {SECRET}. It is blue."


class LeakyError(ValueError):
    """Quotes what it was given, as pydantic's errors and many others do."""


def fails(*_, **__):
    raise LeakyError(f"cannot read {SECRET!r}")


class Unsplit(RuleSplitter):
    split = units = settled = fails


def guard_of(*, broken=False, **options):
    return Guard(
        language_model=FakeLanguageModel(),
        faithfulness=FakeFaithfulness(fail=fails if broken else None),
        **options,
    )


def streamed(guard, lookup=None):
    def found(text):
        return guard, trace_of("What colour?", ["It is red."], text)

    stream = ClaimStream(guard, lookup or found)
    try:
        for word in ANSWER.split(" "):
            stream.feed(word + " ")
        stream.end()
        while stream.wait() is not None:
            pass
        return stream.answer()
    finally:
        stream.close()


def checked(guard):
    return guard.check("What colour?", ["It is red."], ANSWER)


def not_captured(guard):
    return gathered(fails, guard, ANSWER).check()


@pytest.mark.parametrize("check", [checked, streamed])
@pytest.mark.parametrize(
    "options",
    [{"broken": True}, {"policy": Policy(action=fails)}, {"claims": Unsplit()}],
    ids=["model", "action", "splitter"],
)
def test_a_failure_is_logged_without_its_message(check, options, caplog):
    if check is streamed and "policy" in options:

        class Own(Policy):
            so_far = fails

        options = {"policy": Own()}
    with caplog.at_level(logging.INFO):
        answer = check(guard_of(**options))
    assert answer.original == ANSWER or answer.original == ANSWER + " "
    assert "LeakyError" in caplog.text
    assert "Ann Baker" not in caplog.text


@pytest.mark.parametrize(
    "run", [not_captured, lambda guard: streamed(guard, fails)], ids=["whole", "stream"]
)
def test_an_answer_that_is_not_captured_is_logged_without_the_message(run, caplog):
    with caplog.at_level(logging.INFO):
        answer = run(guard_of())
    assert answer.status == "unverified"
    assert "LeakyError" in caplog.text
    assert "Ann Baker" not in caplog.text


def test_an_id_makes_no_lines_of_its_own(caplog):
    trace = replace(trace_of("What colour?", ["It is red."], ANSWER), id="7\nERROR: x" + "9" * 999)
    guard_of(broken=True).check_trace(trace)
    assert "'7\\nERROR: x999" in caplog.text
    assert max(len(record.getMessage()) for record in caplog.records) < 200
    assert not any("\n" in record.getMessage() for record in caplog.records)


def test_at_debug_level_the_whole_error_is_told(caplog):
    with caplog.at_level(logging.DEBUG, logger="franq_guard"):
        checked(guard_of(broken=True))
    assert "cannot read" in caplog.text


def test_why_a_model_cannot_be_loaded_is_told(caplog):
    def load():
        raise RuntimeError("no such folder: /models/judge")

    guard = Guard(faithfulness=load)
    with caplog.at_level(logging.WARNING):
        assert checked(guard).status == "unverified"
    assert "no such folder: /models/judge" in caplog.text


class Logits(FakeFaithfulness):
    def score(self, contexts, claims):
        return [2.5] * len(claims)


def test_a_score_that_is_no_probability_is_told(caplog):
    answer = Guard(faithfulness=Logits()).check("Who?", ["Ann did."], "Ann did.")
    assert [(v.label, v.reason) for v in answer.verdicts] == [("unverified", "error")]
    assert "P(faithful) must lie in [0, 1]; the faithfulness model gave 2.5" in caplog.text
