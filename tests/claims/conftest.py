"""An answer that is checked while it grows, letter by letter, and as a whole."""

from contextlib import closing

import pytest

from franq_guard import Generation, Guard, Passage, Trace
from franq_guard.streaming import ClaimStream
from franq_guard.testing import FakeFaithfulness


@pytest.fixture
def both_ways():
    """(question, passage, answer) -> the verdicts of its stream, and those of the whole answer."""
    guard = Guard(faithfulness=FakeFaithfulness())

    def verdicts(question, passage, answer):
        def trace(so_far):
            return Trace(question, (Passage(passage),), Generation(so_far))

        with closing(ClaimStream(guard, lambda so_far: (guard, trace(so_far)))) as stream:
            for char in answer:
                stream.feed(char)
            stream.end()
            while stream.wait() is not None:
                pass
            return stream.answer().verdicts, guard.check_trace(trace(answer)).verdicts

    return verdicts
