"""An agent's tool in which a model writes: its text is checked, and is no evidence."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool, QueryEngineTool

from franq_guard import Guard, Policy
from franq_guard.testing import FakeFaithfulness
from llama_index_franq import guard_agent

from .agent_fakes import function_agent, run_of
from .fakes import ScriptedChat, ScriptedGuard, ScriptedLLM, question, rag, said

pytestmark = [
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:is_running called:DeprecationWarning"),
]


def writes(input: str) -> str:
    """Asks a model, which has nothing to go by."""
    return ScriptedLLM().complete(f"run 4 {input}").text


def introduced(input: str) -> str:
    """Puts a word before what its model says."""
    return f"Found: {writes(input)}"


TOOLS = {f.__name__: f for f in (writes, introduced)}


def react_agent(tools):
    call = 'Thought: I need a tool.\nAction: towers\nAction Input: {"input": "run 4"}'
    script = [call, f"Thought: I know.\nAnswer: {said('run 4')}"]
    return ReActAgent(tools=tools, llm=ScriptedChat(script=script))


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("kind", ["function", "react"])
def test_what_a_model_in_a_tool_wrote_is_no_evidence(kind, name):
    guard = ScriptedGuard()
    tools = [FunctionTool.from_defaults(TOOLS[name], name="towers")]
    agent = function_agent(tools=tools) if kind == "function" else react_agent(tools)
    memory = ChatMemoryBuffer.from_defaults(token_limit=3000)
    asyncio.run(run_of(guard_agent(agent, guard), question(4), memory=memory))
    told, answer = guard.traces
    assert told.generation.text == answer.generation.text == said("run 4")
    assert (told.passages, answer.passages) == ((), ())


def test_the_documents_that_its_engine_found_are_evidence_and_its_answer_is_not():
    guard = ScriptedGuard()
    tool = QueryEngineTool.from_defaults(rag(ScriptedLLM()), name="towers", description="towers")
    asyncio.run(run_of(guard_agent(function_agent(tools=[tool]), guard), question(5)))
    answer = guard.traces[-1]
    assert [p.id for p in answer.passages] == ["5-tall", "5-old"]
    assert said("run 5") not in [p.text for p in answer.passages]


def test_an_agent_that_repeats_its_tools_model_is_not_verified():
    guard = Guard(faithfulness=FakeFaithfulness(), policy=Policy(on_error="open"))
    tools = [FunctionTool.from_defaults(writes, name="towers")]
    result, _, _ = asyncio.run(run_of(guard_agent(function_agent(tools=tools), guard), "Ask"))
    report = result.response.additional_kwargs["franq"]
    assert report["status"] == "unverified"
    assert {v["reason"] for v in report["verdicts"]} == {"no_evidence"}
