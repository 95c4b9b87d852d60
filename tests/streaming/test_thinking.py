"""A stream of an answer that begins with thoughts, whose opening tag is in the prompt."""

import pytest

from franq_guard import Generation, Guard, Passage, Policy, Trace
from franq_guard.claims.forms import opens_reasoning
from franq_guard.streaming import ClaimStream
from franq_guard.testing import FakeFaithfulness

PROMPT = "<|user|>Which town is big?<|assistant|><think>\n"
THOUGHTS = (
    "The user asks for a town. Bonn is a town, and it lies at the river Rhine in the west.\n\n"
    "It may be large, but the passage names another one. So Rome it is, I would say.\n\n"
    "- Bonn is small.\n- Rome is big, and it lies at the river Tiber.\n"
)
ANSWER = "Rome is big. It lies at the river Tiber. Bonn is small, and nobody ever goes there.\n"
WHOLE = f"{THOUGHTS}</think>\n\n{ANSWER}"
PASSAGES = (Passage("Rome is big. It lies at the river Tiber. Bonn is small."),)
PIECES = [1, 7, 60, 1000]


def _trace(text, prompt=PROMPT):
    return Trace("Which town is big?", PASSAGES, Generation(text, prompt=prompt))


def _guard(**options):
    return Guard(faithfulness=FakeFaithfulness(), **options)


def _streamed(guard, text, size, *, patient=True, prompt=PROMPT, **options):
    """The text after each piece, and the answer at the end."""
    stream = ClaimStream(guard, lambda text: (guard, _trace(text, prompt)), **options)
    shown, left = "", []
    try:
        for at in range(0, len(text), size):
            shown += stream.feed(text[at : at + size])
            if patient:
                shown += "".join(iter(stream.wait, None))
            left.append((text[: at + size], shown))
        stream.end()
        list(stream.remaining())
        return left, stream.answer()
    finally:
        stream.close()


@pytest.mark.parametrize("action", ["annotate", "filter"])
@pytest.mark.parametrize("patient", [True, False])
@pytest.mark.parametrize("size", PIECES)
def test_thoughts_are_held_back_until_their_end_is_known(size, patient, action):
    guard = _guard(policy=Policy(action=action))
    left, answer = _streamed(guard, WHOLE, size, patient=patient)
    assert not any(shown for so_far, shown in left if "</think>" not in so_far)
    whole = guard.check_trace(_trace(WHOLE))
    assert (answer.text, answer.verdicts) == (whole.text, whole.verdicts)
    assert answer.verdicts[0].claim.not_a_claim == "reasoning"
    if patient and size < 60:  # what follows the thoughts is sent as it is checked
        assert any(shown and len(so_far) < len(WHOLE) for so_far, shown in left)


@pytest.mark.parametrize("end", ["", "</thi", "I could write `</think>` here."])
def test_thoughts_without_an_end_are_checked_like_the_whole_answer(end):
    guard = _guard()
    left, answer = _streamed(guard, THOUGHTS + end, 7)
    assert not any(shown for _, shown in left)
    whole = guard.check_trace(_trace(THOUGHTS + end))
    assert (answer.text, answer.verdicts) == (whole.text, whole.verdicts)


@pytest.mark.parametrize("prompt", [None, "Which town is big?", "<think>\n\n</think>\n\n"])
def test_an_answer_without_thoughts_is_not_held_back(prompt):
    left, _ = _streamed(_guard(), ANSWER * 3, 7, prompt=prompt)
    assert any(shown for _, shown in left)


def test_the_caller_may_know_that_the_thoughts_come_apart():
    left, _ = _streamed(_guard(), ANSWER * 3, 7, thinks=lambda _: False)
    assert any(shown for _, shown in left)


def test_what_was_held_back_is_unverified_when_the_time_is_over():
    """Its text is not lost, and it is not released as checked."""
    guard = _guard()
    stream = ClaimStream(guard, lambda text: (guard, _trace(text)))
    stream.feed(THOUGHTS)
    list(stream.remaining())
    stream._worker._deadline = 0.0
    stream.feed(f"</think>\n\n{ANSWER}")
    stream.end()
    list(stream.remaining())
    answer = stream.answer()
    stream.close()
    assert answer.original == WHOLE
    assert {v.label for v in answer.verdicts} <= {"unverified", "not-a-claim"}


@pytest.mark.parametrize(
    ("prompt", "opens"),
    [
        ("Why?<think>", True),
        ("Why?<THINK>\n\n", True),
        ("Why?<seed:think>", True),
        ("Why?<think>\n\n</think>\n\n", False),
        ("Begin with <think> and think.", False),
        ("", False),
        (None, False),
    ],
)
def test_a_prompt_opens_reasoning_where_it_ends_with_the_tag(prompt, opens):
    assert opens_reasoning(prompt) is opens
