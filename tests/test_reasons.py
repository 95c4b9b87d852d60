"""What a verdict says of an answer whose prompt nobody saw."""

import pytest

from franq_guard import Generation, Guard, Passage, Trace
from franq_guard.calibration import Calibrator
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

PASSAGES = (Passage("The bridge is made of oak."),)
ANSWER = "The bridge is made of oak."


def checked(guard, passages=PASSAGES, **seen):
    trace = Trace("What is it made of?", passages, Generation(ANSWER), **seen)
    return guard.check_trace(trace).verdicts[0]


@pytest.mark.parametrize("form", ["long", "short"])
@pytest.mark.parametrize("method", [None, "perplexity"])
def test_an_unseen_prompt_is_said_beside_the_probability(form, method):
    model = FakeLanguageModel(answers=lambda prompt: ANSWER)
    franq = Calibrator.uncalibrated(form=form)
    guard = Guard(
        language_model=model,
        faithfulness=FakeFaithfulness(),
        form=form,
        uq_faith=method,
        franq=franq,
    )
    seen, unseen = checked(guard), checked(guard, prompt_seen=False)
    assert (seen.reason, unseen.reason) == (None, "no_prompt")
    # The probabilities are those under the guard's own prompt, as for Guard.check.
    assert unseen.p_true == seen.p_true is not None


def test_no_evidence_says_more_and_no_model_says_why_there_is_no_probability():
    franq = Calibrator.uncalibrated()
    model = FakeLanguageModel()
    guard = Guard(language_model=model, faithfulness=FakeFaithfulness(), franq=franq)
    assert checked(guard, (), prompt_seen=False).reason == "no_evidence"
    bare = Guard(faithfulness=FakeFaithfulness(), franq=franq)
    found = checked(bare, prompt_seen=False)
    assert (found.reason, found.label) == ("no_logprobs", "unverified")


def test_an_unseen_prompt_is_no_news_where_the_passages_alone_decide():
    found = checked(Guard(faithfulness=FakeFaithfulness()), prompt_seen=False)
    assert (found.reason, found.label) == (None, "supported")
