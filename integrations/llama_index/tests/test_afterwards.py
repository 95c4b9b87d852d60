"""What agents write after or beside a plain answer: structures, code, an answer at the limit."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.agent.workflow import (
    AgentOutput,
    AgentStream,
    AgentWorkflow,
    CodeActAgent,
    ToolCall,
)
from llama_index.core.agent.workflow.workflow_events import AgentStreamStructuredOutput
from llama_index.core.tools import FunctionTool
from pydantic import BaseModel

from franq_guard import Policy
from llama_index_franq import FactualityError, guard_agent

from .agent_fakes import ScriptedCaller, function_agent, look_up, run_of
from .fakes import ScriptedChat, ScriptedGuard, memory_of, question, said
from .test_agents import checked, react_agent, remembered

pytestmark = [
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:is_running called:DeprecationWarning"),
]


class Tower(BaseModel):
    name: str
    steps: int


JSON = '{"name": "Tower 4", "steps": 4}'
VALUE = {"name": "Tower 4", "steps": 4}
REACT = [
    'Thought: I need a tool.\nAction: towers\nAction Input: {"input": "run 4"}',
    f"Thought: I know.\nAnswer: {said('run 4')}",
]


def structured_events(events):
    return [event.output for event in events if isinstance(event, AgentStreamStructuredOutput)]


def function_caller():
    return ScriptedCaller(script=[("towers", {"input": "run 4"}), said("run 4"), ("Tower", VALUE)])


def react(**options):
    return react_agent(ScriptedChat(script=[*REACT, JSON]), **options)


def team_of(member, **options):
    return AgentWorkflow(agents=[member], root_agent=member.name, **options)


MAKERS = {
    "function": lambda: function_agent(function_caller(), output_cls=Tower),
    "react": lambda: react(output_cls=Tower),
    "team": lambda: team_of(react(name="one", description="x"), output_cls=Tower),
    "member": lambda: team_of(react(name="one", description="x", output_cls=Tower)),
    "function of messages": lambda: react(structured_output_fn=lambda messages: VALUE),
    "async function": lambda: react(structured_output_fn=_later),
    "object": lambda: react(structured_output_fn=lambda messages: Tower(**VALUE)),
}


async def _later(messages):
    await asyncio.sleep(0)
    return VALUE


@pytest.mark.parametrize("kind", MAKERS)
def test_structured_output_is_made_from_the_checked_answer_and_checked(kind):
    guard = ScriptedGuard()
    agent = MAKERS[kind]()
    result, events, _ = asyncio.run(run_of(guard_agent(agent, guard), question(4)))
    assert result.response.content == checked(4)
    assert result.structured_response == VALUE
    assert result.get_pydantic_model(Tower) == Tower(**VALUE)
    assert structured_events(events) == [VALUE]
    report = result.response.additional_kwargs["franq_structured"]
    assert [v["claim"]["text"] for v in report["verdicts"]] == ["name: Tower 4", "steps: 4"]
    assert result.response.additional_kwargs["franq"]["text"] == checked(4)
    answer, structure = guard.traces
    assert answer.generation.text == said("run 4")
    assert structure.generation.text == JSON
    assert [p.text for p in structure.passages] == [look_up("run 4")]
    if "function of" not in kind and kind not in ("async function", "object"):
        # The model that made it was shown the answer as the guard left it.
        assert checked(4) in structure.generation.prompt


@pytest.mark.parametrize("kind", ["function", "team", "async function"])
def test_a_structure_goes_as_a_whole_where_the_policy_takes_something_out(kind):
    guard = ScriptedGuard(policy=Policy(action="block"))
    agent = MAKERS[kind]()
    result, events, _ = asyncio.run(run_of(guard_agent(agent, guard), question(4)))
    assert result.structured_response is None
    assert structured_events(events) == []
    assert "checked" in result.response.additional_kwargs["franq_structured"]["text"]


def test_a_structure_of_weak_fields_can_stop_the_run():
    class OnlyFields(ScriptedGuard):
        def check_trace(self, trace):
            self.label = "false" if trace.claims else "supported"
            return super().check_trace(trace)

    agent = guard_agent(react(output_cls=Tower), OnlyFields(), raise_on=("false",))
    with pytest.raises(FactualityError, match="2 of 2 claims: false"):
        asyncio.run(run_of(agent, question(4)))


def test_a_structure_that_cannot_be_made_leaves_the_answer():
    def broken(messages):
        raise LookupError("no schema here")

    agent = guard_agent(react(structured_output_fn=broken), ScriptedGuard())
    with pytest.warns(UserWarning, match="no schema here"):
        result, events, _ = asyncio.run(run_of(agent, question(4)))
    assert result.response.content == checked(4)
    assert (result.structured_response, structured_events(events)) == (None, [])


# Answers at the iteration limit ----------------------------------------------------------------


def at_the_limit(llm, kind):
    """An agent that only ever calls tools, until it has to answer."""
    if kind == "team":
        member = function_agent(llm, name="one", description="x")
        return team_of(member, early_stopping_method="generate"), {}
    if kind == "run":
        return function_agent(llm), {"early_stopping_method": "generate"}
    return function_agent(llm, early_stopping_method="generate", streaming=kind == "stream"), {}


@pytest.mark.parametrize("kind", ["stream", "plain", "run", "team"])
def test_an_answer_at_the_iteration_limit_is_checked_like_any_other(kind):
    guard = ScriptedGuard()
    call = ("towers", {"input": "run 4"})
    llm = ScriptedCaller(script=[call, call, said("run 4")])
    agent, options = at_the_limit(llm, kind)
    memory = memory_of()
    guarded = guard_agent(agent, guard)
    result, events, streamed = asyncio.run(
        run_of(guarded, question(4), memory=memory, max_iterations=2, **options)
    )
    assert result.response.content == checked(4)
    assert result.response.additional_kwargs["franq"]["text"] == checked(4)
    assert len(result.tool_calls) == 1  # the second call was made too late
    assert streamed == ("" if kind == "plain" else checked(4))
    assert remembered(memory)[-1] == ("assistant", checked(4))
    (trace,) = guard.traces
    assert trace.question == question(4)
    assert [p.text for p in trace.passages] == [look_up("run 4")]
    for event in events:
        if isinstance(event, (AgentOutput, AgentStream)):
            text = repr(event.model_dump(exclude={"response": {"additional_kwargs"}}))
            assert text.count(said("run 4")) == text.count(checked(4))


def test_without_it_the_run_fails_as_before():
    agent = guard_agent(function_agent(), ScriptedGuard())
    with pytest.raises(Exception, match="Max iterations of 1 reached"):
        asyncio.run(run_of(agent, question(1), max_iterations=1))


# Code ------------------------------------------------------------------------------------------

CODE = "Let me see.\n<execute>\nprint(towers('run 4'))\n</execute>"


def code_agent(**options):
    return CodeActAgent(
        code_execute_fn=lambda code: look_up("run 4") if "run 4" in code else "nothing",
        llm=ScriptedCaller(script=[CODE, said("run 4")]),
        tools=[FunctionTool.from_defaults(look_up, name="towers")],
        **options,
    )


@pytest.mark.parametrize("streaming", [True, False])
def test_a_code_writing_agent_is_checked_against_what_its_code_printed(streaming):
    guard = ScriptedGuard()
    memory = memory_of()
    agent = guard_agent(code_agent(streaming=streaming), guard)
    result, events, streamed = asyncio.run(run_of(agent, question(4), memory=memory))
    assert result.response.content == checked(4, "execute")
    assert streamed == (checked(4, "execute") if streaming else "")
    codes = [event.tool_kwargs for event in events if type(event) is ToolCall]
    assert codes == [{"code": "print(towers('run 4'))"}]
    assert not any("Let me see" in repr(event.model_dump()) for event in events)
    assert "Let me see" not in str(remembered(memory))
    (trace,) = guard.traces
    assert [p.text for p in trace.passages] == [look_up("run 4")]
    assert look_up("run 4") in trace.generation.prompt
    assert look_up("run 4") not in trace.contrast_prompt
    assert question(4) in trace.contrast_prompt
    assert remembered(memory)[-1] == ("assistant", checked(4, "execute"))
    assert said("run 4") not in str(remembered(memory)).replace(checked(4, "execute"), "")


def test_a_code_writing_agent_in_a_team():
    team = team_of(code_agent(name="coder", description="codes"))
    result, _, _ = asyncio.run(run_of(guard_agent(team, ScriptedGuard()), question(4)))
    assert result.response.content == checked(4, "execute")
