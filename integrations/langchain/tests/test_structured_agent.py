"""An agent with a response_format: named fields are checked wherever they are written down."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import BaseModel, Field

from langchain_franq import FranqMiddleware, guard_chain
from langchain_franq._rewritten import rewritten

from .fakes import ScriptedChat, ScriptedGuard
from .matrix import _spelled

TEXT = 'It has 7 steps, "they" say.\nIt is old.'


class Answer(BaseModel):
    title: str
    summary: str
    notes: list[str] = []


GIVEN = Answer(title="Towers", summary=TEXT, notes=["Nobody knows its bells."])


class Structured(ScriptedChat):
    """Answers by a tool call, or in JSON."""

    by_tool: bool = True
    calls: list[int] = Field(default_factory=list)

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs) -> ChatResult:
        self.calls.append(1)
        call = {"name": "Answer", "args": GIVEN.model_dump(), "id": "1"}
        message = (
            AIMessage("", tool_calls=[call]) if self.by_tool else AIMessage(GIVEN.model_dump_json())
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    _stream = None


def agent(strategy: Any, guard: ScriptedGuard, **options: Any) -> Any:
    model = Structured(by_tool=strategy is ToolStrategy, calls=[])
    middleware = [FranqMiddleware(guard, **options)]
    return create_agent(model, middleware=middleware, response_format=strategy(Answer)), model


ASK = {"messages": [HumanMessage("How?")]}


@pytest.mark.parametrize("strategy", [ToolStrategy, ProviderStrategy])
@pytest.mark.parametrize("mode", ["values", "updates", "messages"])
def test_named_fields_are_checked_in_the_object_and_in_every_message(strategy, mode):
    guard = ScriptedGuard()
    built, _ = agent(strategy, guard, fields=("summary", "notes"))
    for output in (built.invoke(ASK), asyncio.run(built.ainvoke(ASK))):
        found = output["structured_response"]
        assert found.title == "Towers"
        assert found.summary == f"{TEXT} [checked: ]"
        assert found.notes == ["Nobody knows its bells. [checked: ]"]
    assert {trace.generation.text for trace in guard.traces} == {TEXT, "Nobody knows its bells."}
    for text in _spelled(list(built.stream(ASK, stream_mode=mode))):
        assert text.count("It is old.") == text.count("It is old. [checked: ]")
        assert text.count("its bells.") == text.count("its bells. [checked: ]")


def test_a_mistyped_field_is_warned_of_once(caplog):
    built, _ = agent(ToolStrategy, ScriptedGuard(), fields=("sumary",))
    for _ in range(2):
        assert built.invoke(ASK)["structured_response"] == GIVEN
    assert sum("fields=('sumary',)" in line for line in caplog.messages) == 1


WRITTEN = {"summary": "yes", "s": "summary", "name": "yes", "why": "a \"yes\" or 'yes', yes"}
CHANGED = {**WRITTEN, "summary": "yes [checked]", "name": "yes [checked]"}
TEXTS = {"yes": "yes [checked]", "s": "s [checked]"}


@pytest.mark.parametrize("ascii_only", [True, False])
def test_only_whole_values_are_rewritten(ascii_only):
    def spelled(answer):
        return json.dumps({**answer, "é": "é"}, ensure_ascii=ascii_only)

    def message(answer):
        call = {"name": "yes", "args": answer, "id": "yes", "type": "tool_call"}
        function = {"name": "yes", "arguments": spelled(answer)}
        return AIMessage(
            [{"type": "yes", "id": "call_yes_1", "text": spelled(answer)}, "yes or no"],
            tool_calls=[call, {**call, "id": "call_yes_1"}],
            additional_kwargs={"tool_calls": [{"id": "yes", "function": function}]},
        )

    found = rewritten(message(WRITTEN), TEXTS, {})
    assert found.model_copy(update={"response_metadata": {}}) == message(CHANGED)


def test_the_repr_of_a_structured_answer_is_rewritten_by_whole_values():
    told = "Returning structured response: {}".format
    message = ToolMessage(
        told("title='yes' notes=['yes', 'no yes'] {'yes': 's'}"), tool_call_id="1"
    )
    found = rewritten(message, TEXTS, {}).text
    wanted = "title='yes [checked]' notes=['yes [checked]', 'no yes'] {'yes': 's [checked]'}"
    assert found == told(wanted)


@pytest.mark.parametrize("spell", [json.dumps, partial(json.dumps, ensure_ascii=False), repr])
def test_a_value_is_found_however_it_is_spelled(spell):
    raw, new = 'Où? "Là".\nIt\'s é.', 'Où? "Là" [checked].'
    found = rewritten(AIMessage(spell({"title": raw})), {raw: new}, {})
    assert found.content == spell({"title": new})


@pytest.mark.parametrize("strategy", [ToolStrategy, ProviderStrategy])
def test_without_fields_it_is_refused_before_the_model_is_paid(strategy):
    built, model = agent(strategy, ScriptedGuard())
    with pytest.raises(ValueError, match=r"fields=\('summary',\)"):
        built.invoke(ASK)
    assert model.calls == []


@pytest.mark.parametrize("strategy", [ToolStrategy, ProviderStrategy])
def test_such_an_agent_inside_a_chain_is_refused_at_construction(strategy):
    built = create_agent(Structured(), response_format=strategy(Answer))
    with pytest.raises(ValueError, match="FranqMiddleware"):
        guard_chain(built, ScriptedGuard())
