"""An answer checked while it is written: what may have left does not change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard import Guard
from franq_guard.calibration import Calibrator
from franq_guard.policy import Policy
from franq_guard.rows.traces import trace_of
from franq_guard.serve.growing import Settled, holdback, settle, with_settled
from franq_guard.testing import FakeFaithfulness, FakeGuard, FakeLanguageModel

ANSWER = (
    "Ann met Bob in Bonn. She was a doctor of medicine there. He left, and she stayed behind.\n\n"
    "- Bob wrote letters to her.\n- Nobody answered them, as far as is known today.\n\n"
    "Ann died in Bonn. Nothing else is known about her life or about the letters."
)
POLICIES = [Policy(), Policy(action="filter", threshold=0.7), Policy(action="filter")]


def guard_with(policy):
    return Guard(
        language_model=FakeLanguageModel(),
        faithfulness=FakeFaithfulness(),
        policy=policy,
        franq=Calibrator.uncalibrated(),
    )


def emitted(guard, answer, cuts):
    """What a gateway that diffs lets out, each time; at last all of it."""
    before, out = None, ""
    for cut in [*cuts, len(answer)]:
        checked = guard.check_trace(trace_of("Who?", ["Ann met Bob in Bonn."], answer[:cut]))
        before = settle(guard.claims, checked, before)
        grown = with_settled(checked, before, guard.policy)
        held = holdback(grown, before, guard.policy)
        assert 0 <= held <= len(grown.text)
        assert grown.text.startswith(out), "what has left changed"
        out = grown.text[: max(len(out), len(grown.text) - held)]
        yield out, checked, grown
    yield grown.text, checked, grown


@pytest.mark.parametrize("policy", POLICIES)
def test_what_left_is_never_taken_back_and_all_of_it_is_the_checked_answer(policy):
    guard = guard_with(policy)
    outs = [out for out, *_ in emitted(guard, ANSWER, range(1, len(ANSWER), 7))]
    whole = guard.check_trace(trace_of("Who?", ["Ann met Bob in Bonn."], ANSWER))
    assert outs[-1] == whole.text
    assert 1 < len(set(outs)) < len(outs)


@given(st.sampled_from(POLICIES), st.lists(st.integers(0, len(ANSWER)), max_size=6).map(sorted))
def test_nor_however_it_is_cut(policy, cuts):
    list(emitted(guard_with(policy), ANSWER, cuts))


def test_nothing_leaves_before_its_verdict():
    """A weak claim never shows in what left without its mark."""
    guard = guard_with(Policy(threshold=1.0, false_below=0.0))
    for out, _, grown in emitted(guard, ANSWER, range(1, len(ANSWER), 5)):
        for verdict in grown.verdicts:
            words = verdict.claim.text.rstrip(".")
            if verdict.label == "doubtful" and words in out:
                assert f"{words} [doubtful]" in out or not out.endswith(words)


def test_a_verdict_that_turns_over_does_not_change_what_was_settled():
    wavering = guard_with(Policy())
    first = wavering.check_trace(trace_of("Who?", ["Ann met Bob in Bonn."], ANSWER[:150]))
    settled = settle(wavering.claims, first, None)
    assert settled.verdicts
    strict = guard_with(Policy(threshold=1.0, false_below=1.0))
    later = strict.check_trace(trace_of("Who?", [], ANSWER))
    grown = with_settled(later, settled, Policy())
    assert grown.verdicts[: len(settled.verdicts)] == settled.verdicts
    assert len(grown.verdicts) == len(later.verdicts)


def test_a_policy_that_decides_on_all_lets_nothing_go_early():
    for policy in (Policy(action="block"), Policy(action=lambda answer, verdicts: answer)):
        guard = guard_with(policy)
        checked = guard.check_trace(trace_of("Who?", ["Ann met Bob in Bonn."], ANSWER))
        settled = settle(guard.claims, checked, None)
        assert holdback(checked, settled, policy) == len(checked.text)


def test_without_a_splitter_that_can_tell_nothing_is_settled():
    checked = FakeGuard().check_trace(trace_of("Who?", ["Ann."], ANSWER))
    assert settle(None, checked, None) == Settled()


def test_another_text_under_the_same_name_starts_anew():
    guard = guard_with(Policy())
    checked = guard.check_trace(trace_of("Who?", ["Ann met Bob in Bonn."], ANSWER))
    before = Settled("Something else.", ())
    assert settle(guard.claims, checked, before) == settle(guard.claims, checked, None)
    assert with_settled(checked, before, guard.policy) is checked
