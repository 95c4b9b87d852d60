"""What a message says outside of its text: refusals, the words of audio, and what it cites."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.runnables import RunnableLambda

from franq_guard import Guard
from franq_guard.testing import FakeFaithfulness
from langchain_franq import FranqCallback, FranqMiddleware, guard_chain, guard_node

from .fakes import ScriptedChat, ScriptedGuard, said

RAW = said("run 7")
CHECKED = f"{RAW} [checked: ]"
REFUSED = {"type": "refusal", "refusal": RAW, "index": 0}
SOUND = {"id": "a", "data": "UklGRg==", "expires_at": 1}
MESSAGES = {
    "a refusal": {"content": "", "additional_kwargs": {"refusal": RAW}},
    "a block": {"content": [REFUSED]},
    "a standard block": {"content": [{"type": "non_standard", "value": REFUSED}]},
    "audio": {"content": "", "additional_kwargs": {"audio": {**SOUND, "transcript": RAW}}},
}
AFTER = {
    "a refusal": {"content": "", "additional_kwargs": {"refusal": CHECKED}},
    "a block": {"content": [{**REFUSED, "refusal": CHECKED}]},
    "a standard block": {
        "content": [{"type": "non_standard", "value": {**REFUSED, "refusal": CHECKED}}]
    },
    "audio": {
        "content": "",
        # The sound says the unchecked words, so it is gone.
        "additional_kwargs": {"audio": {"id": "a", "expires_at": 1, "transcript": CHECKED}},
    },
}
ASKED = HumanMessage("What of run 7?")


class Saying(ScriptedChat):
    """Answers with a message that is given."""

    message: dict[str, Any]

    def _generate(self, messages: Any, *_: Any, **__: Any) -> Any:
        result = super()._generate(messages)
        result.generations[0].message = AIMessage(**self.message)
        result.generations[0].text = ""
        return result

    def _stream(self, messages: Any, *_: Any, **__: Any) -> Any:
        from langchain_core.outputs import ChatGenerationChunk

        yield ChatGenerationChunk(message=AIMessageChunk(**self.message))


def _streamed(model: Any, guard: Any, mode: Any) -> Any:
    first, *others = guard_chain(model, guard, stream=mode).stream([ASKED])
    for chunk in others:
        first += chunk
    return first


def _of_agent(model: Any, guard: Any) -> Any:
    agent = create_agent(model, [], middleware=[FranqMiddleware(guard)])
    return agent.invoke({"messages": [ASKED]})["messages"][-1]


def _of_node(model: Any, guard: Any) -> Any:
    node = guard_node(guard, lambda state: {"messages": [model.invoke(state["messages"])]})
    return node.invoke({"messages": [ASKED]})["messages"][-1]


WAYS = {
    "chain": lambda model, guard: guard_chain(model, guard).invoke([ASKED]),
    "stream": lambda model, guard: _streamed(model, guard, "buffer"),
    "agent": _of_agent,
    "node": _of_node,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", MESSAGES)
def test_it_is_checked_in_its_place(kind, way):
    guard = ScriptedGuard()
    message = WAYS[way](Saying(message=MESSAGES[kind]), guard)
    assert [trace.generation.text for trace in guard.traces][-1:] == [RAW]
    expected = AIMessage(**AFTER[kind])
    assert message.content == expected.content
    assert message.additional_kwargs == expected.additional_kwargs
    report = message.response_metadata["franq"]
    assert report["original"] == RAW
    assert report.get("removed") == (["audio"] if kind == "audio" else None)


@pytest.mark.parametrize("kind", MESSAGES)
def test_a_stream_of_claims_has_it_in_its_place(kind):
    guard, model = Guard(faithfulness=FakeFaithfulness()), Saying(message=MESSAGES[kind])
    whole = guard_chain(model, guard).invoke([ASKED])
    found = _streamed(model, guard, "claims")
    assert (found.content, found.additional_kwargs) == (whole.content, whole.additional_kwargs)
    assert "7 steps [unverified]." in str(found.content) + str(found.additional_kwargs)


@pytest.mark.parametrize("kind", MESSAGES)
def test_a_watched_model_is_reported_on(kind):
    watch = FranqCallback(guard := ScriptedGuard())
    Saying(message=MESSAGES[kind]).invoke([ASKED], {"callbacks": [watch]})
    assert watch.flush(20)
    assert [trace.generation.text for trace in guard.traces] == [RAW]


@pytest.mark.parametrize("kind", MESSAGES)
def test_beside_a_text_it_is_taken_out_and_it_is_said(kind):
    given = MESSAGES[kind]
    blocks = given["content"] or []
    made = {**given, "content": [*blocks, {"type": "text", "text": "It is tall."}]}
    found = guard_chain(Saying(message=made), ScriptedGuard()).invoke([ASKED])
    assert found.text == "It is tall. [checked: ]"
    assert "7 steps" not in str(found)
    assert SOUND["data"] not in str(found)
    removed = found.response_metadata["franq"]["removed"]
    assert removed == (["audio"] if kind == "audio" else ["refusal"])


def test_audio_that_no_check_has_changed_stays():
    class Silent(ScriptedGuard):
        """Changes nothing."""

        def check_trace(self, trace):
            from dataclasses import replace

            checked = super().check_trace(trace)
            return replace(checked, text=checked.original)

    found = guard_chain(Saying(message=MESSAGES["audio"]), Silent()).invoke([ASKED])
    assert found.additional_kwargs == MESSAGES["audio"]["additional_kwargs"]


def test_citations_stay_beside_a_changed_text():
    """Anthropic's: they tell where in a document the words are, which the text does not change."""
    cited = {"type": "char_location", "cited_text": "7 steps", "document_index": 0}
    place = {"start_char_index": 3, "end_char_index": 9}
    blocks = [
        {"type": "text", "text": "It is tall.", "citations": [{**cited, **place}]},
        {"type": "text", "text": " It has 7 steps.", "citations": [cited]},
    ]
    chain = guard_chain(RunnableLambda(lambda _: AIMessage(blocks)), ScriptedGuard())
    (block,) = chain.invoke("How tall?").content
    assert block["text"] == "It is tall. It has 7 steps. [checked: ]"
    assert block["citations"] == [{**cited, **place}, cited]
