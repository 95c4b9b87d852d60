"""Tools that answer directly: their text is checked as the answer, and is no proof of itself."""

from __future__ import annotations

import asyncio
import warnings
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import InjectedToolCallId, ToolException, tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command

from franq_guard import Guard
from franq_guard.testing import FakeFaithfulness
from langchain_franq import FactualityError, FranqCallback, FranqMiddleware, guard_chain, guard_node

from .fakes import (
    RunRetriever,
    ScriptedAgent,
    ScriptedChat,
    ScriptedGuard,
    ScriptedLLM,
    format_docs,
    lcel,
    question,
    said,
)

ASK = {"messages": [HumanMessage(question(7))]}
LOOKED_UP = "The tower of run 7 was built by two masons and a baker."


@tool("search", return_direct=True)
def written(query: str) -> str:
    """Retrieves, and a model writes."""
    return str(lcel(ScriptedChat()).invoke(query))


@tool("search", return_direct=True)
def looked_up(query: str) -> str:
    """Nobody knows where it has it from."""
    return LOOKED_UP


@tool("search", return_direct=True, response_format="content_and_artifact")
def with_documents(query: str) -> tuple[str, dict[str, Any]]:
    """Its artifact has the documents, and the answer again."""
    documents = [Document("The archive: it is tall.", id="a")]
    answer = ScriptedLLM().invoke(query)
    return answer, {"answer": answer, "documents": documents}


@tool("search", return_direct=True)
def commanding(query: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command:
    """It updates the state."""
    message = ToolMessage(lcel(ScriptedLLM()).invoke(query), tool_call_id=tool_call_id)
    return Command(update={"messages": [message]})


TOOLS = {"written": written, "looked up": looked_up, "artifact": with_documents}
TEXTS = {"written": said("run 7"), "looked up": LOOKED_UP, "artifact": said("run 7")}
FOUND = {"written": ["7-tall", "7-old"], "looked up": [], "artifact": ["a"]}


def _node(made: Any, guard: ScriptedGuard) -> Any:
    built = StateGraph(MessagesState)
    built.add_node("agent", guard_node(guard, create_agent(ScriptedAgent(), [made])))
    built.add_edge(START, "agent")
    built.add_edge("agent", END)
    return built.compile()


def _middleware(made: Any, guard: ScriptedGuard, **options: Any) -> Any:
    middleware = [FranqMiddleware(guard, **options)]
    return create_agent(ScriptedAgent(), [made], middleware=middleware)


SURFACES = {
    "middleware": _middleware,
    "chain": lambda made, guard: guard_chain(create_agent(ScriptedAgent(), [made]), guard),
    "node": _node,
}


@pytest.mark.parametrize("kind", TOOLS)
@pytest.mark.parametrize("surface", SURFACES)
def test_a_direct_answer_is_checked_and_is_not_its_own_evidence(surface, kind):
    guard = ScriptedGuard()
    app = SURFACES[surface](TOOLS[kind], guard)
    for output in (app.invoke(ASK), asyncio.run(app.ainvoke(ASK))):
        last = output["messages"][-1]
        assert isinstance(last, ToolMessage)
        assert last.text.startswith(f"{TEXTS[kind]} [checked: ")
        assert last.response_metadata["franq"]["original"] == TEXTS[kind]
        if surface == "middleware" and kind == "artifact":
            assert last.artifact["answer"] == last.text
    assert {trace.generation.text for trace in guard.traces} == {TEXTS[kind]}
    assert [[p.id for p in trace.passages] for trace in guard.traces] == [FOUND[kind]] * 2
    assert {trace.question for trace in guard.traces} == {question(7)}


@pytest.mark.parametrize("mode", ["messages", "updates", "values", "debug", "tasks"])
def test_no_stream_of_an_agent_shows_a_direct_answer_unchecked(mode):
    for chunk in _middleware(written, ScriptedGuard()).stream(ASK, stream_mode=mode):
        assert "7 steps" not in str(chunk) or "7 steps. [checked" in str(chunk)


async def _by_a_plain_model(query: str) -> str:
    """Retrieves, and a model writes that is no chat model."""
    return str(await lcel(ScriptedLLM()).ainvoke(query))


@pytest.mark.parametrize("model", ["chat", "plain"])
@pytest.mark.parametrize(
    ("surface", "direct"), [("middleware", True), ("node", True), ("node", False)]
)
def test_events_tell_of_a_tool_but_not_what_a_model_wrote_in_it(surface, direct, model):
    by = written.func if model == "chat" else _by_a_plain_model
    made = tool("search", return_direct=direct)(by)

    async def events() -> list[Any]:
        app = SURFACES[surface](made, ScriptedGuard())
        return [event async for event in app.astream_events(ASK, version="v2")]

    told = asyncio.run(events())
    of_tools = [event["event"] for event in told if "_tool_" in event["event"]]
    assert of_tools == ["on_tool_start", "on_tool_end"]
    for event in told:
        if event["event"] == "on_tool_end":
            assert "7 steps" not in str(event["data"]["output"])


def test_a_watched_agent_reports_on_a_direct_answer():
    watch = FranqCallback(guard := ScriptedGuard())
    create_agent(ScriptedAgent(), [looked_up]).invoke(ASK, {"callbacks": [watch]})
    assert watch.flush(20)
    (trace,) = guard.traces
    assert trace.generation.text == LOOKED_UP
    assert trace.passages == ()


def test_without_evidence_a_direct_answer_is_unverified():
    app = _middleware(looked_up, Guard(faithfulness=FakeFaithfulness()))
    report = app.invoke(ASK)["messages"][-1].response_metadata["franq"]
    assert report["status"] == "unverified"
    assert report["verdicts"][0]["reason"] == "no_evidence"


def test_the_command_of_a_direct_tool_is_checked_and_goes_on():
    guard = ScriptedGuard()
    last = _middleware(commanding, guard).invoke(ASK)["messages"][-1]
    assert last.text == f"{said('run 7')} [checked: Tower 7,Tower 7]"


def test_evidence_may_be_named_for_a_direct_answer():
    guard = ScriptedGuard()
    _middleware(looked_up, guard, evidence=lambda messages: ["The archive."]).invoke(ASK)
    assert [p.text for p in guard.traces[0].passages] == ["The archive."]


@pytest.mark.parametrize("fault", ["the tool", "raise_on"])
def test_what_is_raised_reaches_the_caller(fault):
    @tool("search", return_direct=True)
    def broken(query: str) -> str:
        """Breaks."""
        raise LookupError("gone")

    if fault == "the tool":
        with pytest.raises(LookupError, match="gone"):
            _middleware(broken, ScriptedGuard()).invoke(ASK)
        return
    strict = _middleware(looked_up, ScriptedGuard(), raise_on=("supported",))
    with pytest.raises(FactualityError):
        strict.invoke(ASK)
    with pytest.raises(FactualityError):
        asyncio.run(strict.ainvoke(ASK))


def test_a_text_that_the_agents_model_repeats_is_still_evidence():
    """Its model read what the tool found, and quotes it: that is what evidence is for."""

    @tool
    def search(query: str) -> str:
        """Search."""
        return said("run 7")

    guard = ScriptedGuard()
    guard_chain(create_agent(ScriptedAgent(), [search]), guard).invoke(ASK)
    assert [p.text for p in guard.traces[0].passages] == [said("run 7")]


def test_an_agent_executor_hands_a_direct_answer_on():
    from langchain_classic.agents import AgentExecutor

    def act(given: Any) -> Any:
        if given["intermediate_steps"]:
            return AgentFinish({"output": "never"}, "")
        return AgentAction("search", given["input"], "I search.")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agent = AgentExecutor(agent=RunnableLambda(act), tools=[looked_up])
    guard = ScriptedGuard()
    output = guard_chain(agent, guard).invoke({"input": question(7)})
    assert output["output"] == f"{LOOKED_UP} [checked: ]"
    assert guard.traces[0].passages == ()


def test_documents_that_a_direct_tool_returns_stay_evidence():
    """Of a retriever as a tool: the answer is what was retrieved, and the documents say so."""

    @tool("search", return_direct=True)
    def retrieved(query: str) -> str:
        """Search."""
        return format_docs(RunRetriever().invoke(query))

    guard = ScriptedGuard()
    _middleware(retrieved, guard).invoke(ASK)
    assert [p.id for p in guard.traces[0].passages] == ["7-tall", "7-old"]


@tool("search")
def unfounded(query: str) -> str:
    """A model writes from nothing."""
    return str(ScriptedChat().invoke("run 7").text)


@tool("search")
def introduced(query: str) -> str:
    """Puts a word before what a model writes from nothing."""
    return f"Found: {ScriptedLLM().invoke('run 7')}"


@tool("search")
def summed_up(query: str) -> str:
    """Retrieves, and a model writes."""
    return str(lcel(ScriptedChat()).invoke(query))


WRITTEN = {"unfounded": unfounded, "introduced": introduced, "summed up": summed_up}


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("kind", WRITTEN)
@pytest.mark.parametrize("surface", SURFACES)
def test_what_a_model_in_a_tool_wrote_is_checked_and_is_no_evidence(surface, kind, asynchronous):
    guard = ScriptedGuard()
    app = SURFACES[surface](WRITTEN[kind], guard)
    output = asyncio.run(app.ainvoke(ASK)) if asynchronous else app.invoke(ASK)
    _, _, told, answer = output["messages"]
    assert isinstance(told, ToolMessage)
    assert "7 steps. [checked: " in told.text
    assert told.response_metadata["franq"]["written_by_a_model"] is True
    assert answer.text.startswith(f"{said('run 7')} [checked: ")
    found = ["7-tall", "7-old"] if kind == "summed up" else []
    # One trace for both messages where their texts are equal and leave together.
    assert len(guard.traces) == (2 if surface == "middleware" or kind == "introduced" else 1)
    assert all([p.id for p in trace.passages] == found for trace in guard.traces)


class Added(AgentMiddleware):
    """Adds a tool that the agent does not know of, as LangChain's documentation shows."""

    def wrap_model_call(self, request, handler):
        return handler(request.override(tools=[*request.tools, summed_up]))

    def wrap_tool_call(self, request, handler):
        return handler(request.override(tool=summed_up))

    async def awrap_model_call(self, request, handler):
        return await handler(request.override(tools=[*request.tools, summed_up]))

    async def awrap_tool_call(self, request, handler):
        return await handler(request.override(tool=summed_up))


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("known", [[], [written]])
def test_a_tool_that_other_middleware_puts_there_is_checked_and_hidden_too(known, asynchronous):
    guard = ScriptedGuard()
    known = [tool("search")(made.func) for made in known]
    app = create_agent(ScriptedAgent(), known, middleware=[FranqMiddleware(guard), Added()])

    async def astream() -> list[Any]:
        return [chunk async for chunk in app.astream(ASK, stream_mode="messages")]

    chunks = asyncio.run(astream()) if asynchronous else app.stream(ASK, stream_mode="messages")
    _, told, answer = [message for message, _ in chunks]
    assert told.text == f"{said('run 7')} [checked: Tower 7,Tower 7]"
    assert answer.text == told.text
    assert [[p.id for p in trace.passages] for trace in guard.traces] == [["7-tall", "7-old"]] * 2


class Shortening(AgentMiddleware):
    """A model of its own writes anew what a tool returned."""

    def wrap_tool_call(self, request, handler):
        return self._short(handler(request), ScriptedChat().invoke("run 7"))

    async def awrap_tool_call(self, request, handler):
        return self._short(await handler(request), await ScriptedChat().ainvoke("run 7"))

    def _short(self, message, short):
        return message.model_copy(update={"content": short.text})


@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_other_middleware_makes_of_a_tools_text_is_checked_and_hidden_too(asynchronous):
    guard, found = ScriptedGuard(), tool("search")(looked_up.func)
    middleware = [FranqMiddleware(guard), Shortening()]
    app = create_agent(ScriptedAgent(), [found], middleware=middleware)

    async def astream() -> list[Any]:
        return [chunk async for chunk in app.astream(ASK, stream_mode="messages")]

    chunks = asyncio.run(astream()) if asynchronous else app.stream(ASK, stream_mode="messages")
    _, told, answer = [message for message, _ in chunks]
    assert told.text == answer.text == f"{said('run 7')} [checked: ]"
    assert [[p.text for p in trace.passages] for trace in guard.traces] == [[LOOKED_UP]] * 2


def test_a_follow_up_question_has_the_documents_of_a_tool_and_not_its_models_text():
    guard = ScriptedGuard()
    middleware = [FranqMiddleware(guard)]
    app = create_agent(ScriptedAgent(), [summed_up], middleware=middleware)
    before = app.invoke(ASK)["messages"]
    plain = create_agent(ScriptedChat(), middleware=middleware)
    plain.invoke({"messages": [*before, HumanMessage("Are you sure of run 7?")]})
    assert [p.id for p in guard.traces[-1].passages] == ["7-tall", "7-old"]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("kind", WRITTEN)
def test_a_watched_agent_has_no_evidence_in_what_a_model_in_a_tool_wrote(kind, asynchronous):
    """Neither in the turn that calls the tool nor in a follow-up turn, which finds its text."""
    watch = FranqCallback(guard := ScriptedGuard())
    apps = create_agent(ScriptedAgent(), [WRITTEN[kind]]), create_agent(ScriptedChat())
    given, config = ASK, {"callbacks": [watch]}
    for app in apps:
        done = (
            asyncio.run(app.ainvoke(given, config)) if asynchronous else app.invoke(given, config)
        )
        given = {"messages": [*done["messages"], HumanMessage("Are you sure of run 7?")]}
    assert watch.flush(20)
    found = ["7-tall", "7-old"] if kind == "summed up" else []
    assert [[p.id for p in trace.passages] for trace in guard.traces] == [found, found]


def test_what_a_tool_found_stays_as_it_is_where_its_model_only_asked():
    """A model that rewrites the query writes nothing of the answer."""

    @tool
    def search(query: str) -> str:
        """Search with a better query."""
        ScriptedLLM().invoke(query)
        return LOOKED_UP

    guard = ScriptedGuard()
    told, _ = _middleware(search, guard).invoke(ASK)["messages"][-2:]
    assert told.text == LOOKED_UP
    assert "franq" not in told.response_metadata
    assert [p.text for p in guard.traces[0].passages] == [LOOKED_UP]


@pytest.mark.parametrize("made", [unfounded, tool("search")(looked_up.func)])
def test_the_stream_of_tools_tells_of_calls_and_of_what_no_model_wrote(made):
    chunks = list(_middleware(made, ScriptedGuard()).stream(ASK, stream_mode="tools"))
    assert [chunk["event"] for chunk in chunks] == ["tool-started", "tool-finished"]
    assert "7 steps" not in str(chunks)
    assert (LOOKED_UP in str(chunks)) == (made is not unfounded)


@pytest.mark.parametrize("direct", [False, True])
def test_events_that_a_tool_sends_itself_are_told(direct):
    from langchain_core.callbacks import dispatch_custom_event

    @tool(return_direct=direct)
    def search(query: str) -> str:
        """Tells how far it is."""
        dispatch_custom_event("half", {"done": 0.5})
        return LOOKED_UP

    async def events() -> list[Any]:
        app = _middleware(search, ScriptedGuard())
        return [event["event"] async for event in app.astream_events(ASK, version="v2")]

    assert ("on_custom_event" in asyncio.run(events())) is not direct


# Errors -------------------------------------------------------------------------------------------


@tool("search")
def incomplete(query: str, limit: int) -> str:
    """The scripted agent does not pass the limit, so LangGraph answers with what it was passed."""
    return LOOKED_UP


@tool("look_up")
def unknown(query: str) -> str:
    """The scripted agent calls another name."""
    return LOOKED_UP


@tool("search")
def unlucky(query: str) -> str:
    """Finds nothing, and says so as an error."""
    raise ToolException(f"Nothing was found for {query}")


unlucky.handle_tool_error = True
ERRORS = {"incomplete": incomplete, "unknown": unknown, "unlucky": unlucky}


@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("surface", [*SURFACES, "callback"])
def test_an_error_of_a_tool_is_no_evidence(surface, kind):
    guard, made = ScriptedGuard(), ERRORS[kind]
    if surface == "callback":
        watch = FranqCallback(guard)
        create_agent(ScriptedAgent(), [made]).invoke(ASK, {"callbacks": [watch]})
        assert watch.flush(20)
    else:
        if surface == "middleware":
            app = create_agent(ScriptedAgent(), [made], middleware=[FranqMiddleware(guard)])
        else:
            app = SURFACES[surface](made, guard)
        output = app.invoke(ASK)
        assert output["messages"][2].status == "error"
    assert [trace.passages for trace in guard.traces] == [()]


def test_after_an_error_a_follow_up_is_answered_from_what_was_found_before():
    """The error is no finding of this turn, so the tools of earlier turns count."""
    guard = ScriptedGuard()
    middleware = [FranqMiddleware(guard)]
    found = tool("search")(looked_up.func)
    before = create_agent(ScriptedAgent(), [found], middleware=middleware).invoke(ASK)["messages"]
    agent = create_agent(ScriptedAgent(), [unlucky], middleware=middleware)
    agent.invoke({"messages": [*before, HumanMessage("Are you sure of run 7?")]})
    assert [[p.text for p in trace.passages] for trace in guard.traces] == [[LOOKED_UP]] * 2
