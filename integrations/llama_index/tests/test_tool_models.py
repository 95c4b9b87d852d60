"""An agent's tool in which a model writes: its text is checked, and is no evidence."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.tools import FunctionTool, QueryEngineTool

from franq_guard import Guard, Policy
from franq_guard.testing import FakeFaithfulness
from llama_index_franq import FranqHandler, guard_agent

from .agent_fakes import ScriptedCaller, function_agent, look_up, run_of
from .fakes import (
    RunRetriever,
    ScriptedChat,
    ScriptedGuard,
    ScriptedLLM,
    memory_of,
    question,
    rag,
    said,
)

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
    memory = memory_of()
    asyncio.run(run_of(guard_agent(agent, guard), question(4), memory=memory))
    told, answer = guard.traces
    assert told.generation.text == answer.generation.text == said("run 4")
    assert (told.passages, answer.passages) == ((), ())


PRICES = {"item": "Pump", "raw": 31.5, "reasoning": "A duty of 8 euros comes on top."}


@pytest.mark.parametrize("by_a_model", [False, True])
def test_data_of_a_tool_is_withheld_by_its_names_only_if_a_model_ran_in_it(by_a_model):
    def prices(input: str) -> dict:
        """Looks prices up."""
        return {**PRICES, "said": writes(input)} if by_a_model else PRICES

    script = [("prices", {"input": "run 4"}), "It costs 31.5 euros."]
    agent = function_agent(ScriptedCaller(script=script), [FunctionTool.from_defaults(prices)])
    result, _, _ = asyncio.run(run_of(guard_agent(agent, ScriptedGuard()), question(4)))
    returned = result.tool_calls[0].tool_output.raw_output
    if by_a_model:
        assert returned["said"] == f"{said('run 4')} [checked: ]"
        assert (returned["raw"], returned["reasoning"]) == (None, None)
    else:
        assert returned == PRICES


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("kind", ["function", "react"])
def test_a_watched_agent_has_no_evidence_in_it_either(kind, name):
    tools = [FunctionTool.from_defaults(TOOLS[name], name="towers")]
    agent = function_agent(tools=tools) if kind == "function" else react_agent(tools)
    assert watched(agent, question(4)) == [[]]


@pytest.mark.parametrize("kind", ["function", "react"])
def test_a_watched_agent_has_the_text_of_a_tool_without_a_model(kind):
    tools = [FunctionTool.from_defaults(look_up, name="towers")]
    agent = function_agent(tools=tools) if kind == "function" else react_agent(tools)
    assert watched(agent, question(4)) == [[look_up("run 4")]]


def retrieves_and_writes(input: str) -> str:
    """Retrieves, and a model writes; only its text is returned."""
    return rag(ScriptedLLM()).query(input).response


FOUND = {
    "writes": [],
    "retrieves_and_writes": [n.node.get_content() for n in RunRetriever().retrieve("run 4")],
    "look_up": [look_up("run 4")],
}


@pytest.mark.parametrize("tool", [writes, retrieves_and_writes, look_up])
def test_the_follow_up_turn_of_a_watched_agent_has_what_the_tools_found(tool):
    script = [("towers", {"input": "run 4"}), said("run 4"), said("run 4")]
    tools = [FunctionTool.from_defaults(tool, name="towers")]
    agent = function_agent(ScriptedCaller(script=script), tools)
    asked = (question(4), "Are you sure of run 4?")
    assert watched(agent, *asked) == [FOUND[tool.__name__]] * 2


def test_a_notice_hides_nothing_from_a_watched_agent():
    def book(input: str) -> str:
        """Books a visit."""
        return "Ticket 4711 created"

    script = [
        ("towers", {"input": "run 4"}),
        said("run 4"),
        ("book", {"input": "x"}),
        said("run 4"),
    ]
    tools = [FunctionTool.from_defaults(look_up, name="towers"), FunctionTool.from_defaults(book)]
    found = watched(function_agent(ScriptedCaller(script=script), tools), question(4), "Book it.")
    assert found == [[look_up("run 4")], ["Ticket 4711 created", look_up("run 4")]]


def watched(agent, *asked):
    """The passages of each answer, as FranqHandler reports them."""
    guard = ScriptedGuard()
    memory = memory_of()
    with FranqHandler(guard).attach() as watch:
        for one in asked:
            asyncio.run(run_of(agent, one, memory=memory))
        assert watch.flush(30)
    return [[passage.text for passage in trace.passages] for trace in guard.traces]


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
