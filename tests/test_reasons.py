"""What a verdict says of an answer whose prompt nobody saw."""

import pytest

from franq_guard import Generation, Guard, Passage, Trace
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
    guard = Guard(language_model=model, faithfulness=FakeFaithfulness(), form=form, uq_faith=method)
    seen, unseen = checked(guard), checked(guard, prompt_seen=False)
    assert (seen.reason, unseen.reason) == (None, "no_prompt")
    # The probabilities are those under the guard's own prompt, as for Guard.check.
    assert unseen.p_true == seen.p_true is not None


def test_no_evidence_says_more_and_no_model_says_why_there_is_no_probability():
    guard = Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())
    assert checked(guard, (), prompt_seen=False).reason == "no_evidence"
    bare = Guard(faithfulness=FakeFaithfulness())
    found = checked(bare, prompt_seen=False)
    assert (found.reason, found.label) == ("no_logprobs", "unverified")
