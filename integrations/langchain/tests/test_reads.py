"""What is read again and again: chunks of a stream of claims, long texts of tools."""

from collections import Counter

import pytest
from langchain_core.messages import AIMessageChunk, ToolMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.runnables import RunnableGenerator
from langchain_core.runnables.utils import AddableDict

from franq_guard import Guard
from franq_guard.calibration import Calibrator
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel
from langchain_franq import guard_chain
from langchain_franq._blocks import passages_in_blocks, read_by_model

from .fakes import ScriptedChat, lcel, question

READS: Counter[str] = Counter()
SHORT, LONG = 12, 36


class Message(AIMessageChunk):
    def __getattribute__(self, name):
        if name == "content":
            READS["messages"] += 1
        return super().__getattribute__(name)


class Piece(AddableDict):
    def get(self, *args):
        READS["dicts"] += 1
        return super().get(*args)

    def items(self):
        READS["dicts"] += 1
        return super().items()

    def __iter__(self):
        READS["dicts"] += 1
        return super().__iter__()


class Logprob(dict):
    def get(self, *args):
        READS["log-probabilities"] += 1
        return super().get(*args)


class Talkative(ScriptedChat):
    """Writes ``count`` sentences, with the log-probability of each word."""

    count: int

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        for word in "".join(f"Masons began tower {n} early. " for n in range(self.count)).split():
            entry = Logprob(token=f"{word} ", logprob=-0.25)
            chunk = ChatGenerationChunk(
                message=Message(f"{word} "), generation_info={"logprobs": {"content": [entry]}}
            )
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk


def as_dicts(chunks):
    for chunk in chunks:
        yield Piece(answer=chunk)


def reads(count, shape):
    """How often chunks were read in a stream of so many sentences, and the parts it left in."""
    guard = Guard(
        language_model=FakeLanguageModel(),
        faithfulness=FakeFaithfulness(),
        franq=Calibrator.uncalibrated(),
    )
    chain = lcel(Talkative(count=count), parse=False)
    if shape == "dicts":
        chain = chain | RunnableGenerator(as_dicts)
    READS.clear()
    (*_, last) = guard_chain(chain, guard, stream="claims").stream(question(7))
    report = last["franq"] if shape == "dicts" else last.response_metadata["franq"]
    assert len(report["verdicts"]) == count
    return dict(READS)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("shape", ["messages", "dicts"])
def test_each_chunk_is_read_a_few_times(shape):
    """Three times the sentences: three times the reads, not nine times."""
    short, long = reads(SHORT, shape), reads(LONG, shape)
    assert {"messages", "log-probabilities", shape} == set(short)
    for what, count in short.items():
        assert long[what] < 4 * count, what


class Whole(str):
    """A text that must not be taken for a list of blocks."""

    __slots__ = ()

    def __iter__(self):
        raise AssertionError("read letter by letter")


def test_the_text_of_a_tool_is_not_read_letter_by_letter():
    """It may have a million of them, and it is read at every turn that follows."""
    told = ToolMessage.model_construct(content=Whole("The tower is tall."), tool_call_id="1")
    assert passages_in_blocks(told) == []
    assert read_by_model(told) == "The tower is tall."
