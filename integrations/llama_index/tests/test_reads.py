"""stream="claims": each chunk is read a few times, not again for every part of the answer."""

from collections import Counter

import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback

from franq_guard import Guard
from franq_guard.calibration import Calibrator
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel
from llama_index_franq import guard_query_engine

from .fakes import ScriptedChat, ScriptedLLM, question, rag

READS: Counter[str] = Counter()
SHORT, LONG = 12, 36


class Message(ChatMessage):
    def __getattribute__(self, name):
        if name in ("content", "blocks"):
            READS["chunks"] += 1
        return super().__getattribute__(name)


class Completion(CompletionResponse):
    def __getattribute__(self, name):
        if name == "text":
            READS["chunks"] += 1
        return super().__getattribute__(name)


class Logprob(dict):
    def get(self, *args):
        READS["log-probabilities"] += 1
        return super().get(*args)


def chunks(count):
    """The text so far, the next word, and the server's raw answer with its log-probability."""
    text = ""
    for word in "".join(f"Masons began tower {n} early. " for n in range(count)).split():
        text += f"{word} "
        entry = Logprob(token=f"{word} ", logprob=-0.25)
        yield text, f"{word} ", {"choices": [{"logprobs": {"content": [entry]}}]}


class Chat(ScriptedChat):
    count: int

    @llm_chat_callback()
    def stream_chat(self, messages, **kwargs):
        return (
            ChatResponse(message=Message(role="assistant", content=text), delta=word, raw=raw)
            for text, word, raw in chunks(self.count)
        )


class Completing(ScriptedLLM):
    count: int

    @llm_completion_callback()
    def stream_complete(self, prompt, formatted=False, **kwargs):
        return (
            Completion(text=text, delta=word, raw=raw) for text, word, raw in chunks(self.count)
        )


def reads(model):
    guard = Guard(
        language_model=FakeLanguageModel(),
        faithfulness=FakeFaithfulness(),
        franq=Calibrator.uncalibrated(),
    )
    READS.clear()
    engine = guard_query_engine(rag(model, streaming=True), guard, stream="claims")
    response = engine.query(question(7))
    "".join(response.response_gen)
    assert len(response.metadata["franq"]["verdicts"]) == model.count
    return dict(READS)


@pytest.mark.parametrize("kind", [Chat, Completing])
def test_each_chunk_is_read_a_few_times(kind):
    """Three times the sentences: three times the reads, not nine times."""
    short, long = reads(kind(count=SHORT)), reads(kind(count=LONG))
    assert set(short) == {"chunks", "log-probabilities"}
    for what, count in short.items():
        assert long[what] < 4 * count, what
