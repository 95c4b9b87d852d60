"""Agents: what an agent shows has been checked, in every way to run and to stream it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.tools import create_retriever_tool, tool
from langchain_huggingface import ChatHuggingFace
from langgraph.checkpoint.memory import InMemorySaver

from langchain_franq import FactualityError
from langchain_franq.middleware import FranqMiddleware

from .fakes import RunRetriever, ScriptedAgent, ScriptedChat, ScriptedGuard, question, said
from .test_real_model import assert_captured


@tool(response_format="content_and_artifact")
def search(query: str) -> tuple[str, list[Document]]:
    """Search the archive."""
    documents = RunRetriever().invoke(query)
    return "\n".join(d.page_content for d in documents), documents


@tool("search")
def search_text(query: str) -> str:
    """Search the archive."""
    return "\n".join(d.page_content for d in RunRetriever().invoke(query))


def retriever_tool():
    return create_retriever_tool(RunRetriever(), "search", "Search the archive.")


def agent(guard, tools=(search,), **options):
    model = options.pop("model", None) or ScriptedAgent()
    middleware = [FranqMiddleware(guard, **options.pop("guarding", {}))]
    return create_agent(model, list(tools), middleware=middleware, **options)


def ask(run: int) -> dict:
    return {"messages": [HumanMessage(question(run))]}


def checked(run: int) -> str:
    return f"{said(f'run {run}')} [checked: Tower {run},Tower {run}]"


def test_invoke_replaces_the_message_in_place():
    guard = ScriptedGuard()
    built = agent(guard)
    for output in (built.invoke(ask(7)), asyncio.run(built.ainvoke(ask(7)))):
        *_, last = output["messages"]
        assert len(output["messages"]) == 4  # human, tool call, tool, answer: none was added
        assert last.text == checked(7)
        assert last.response_metadata["franq"]["schema"] == "franq.answer/1"
    assert guard.traces[0].question == question(7)
    assert [p.id for p in guard.traces[0].passages] == ["7-tall", "7-old"]
    assert len(guard.traces) == 2  # the message that only calls the tool has no text to check


def texts_in(shown) -> list[str]:
    """Every string in a stream's chunks, but for the guard's own report."""
    if isinstance(shown, BaseMessage):
        return texts_in(shown.model_dump())
    if isinstance(shown, Mapping):
        return [t for key, value in shown.items() if key != "franq" for t in texts_in(value)]
    if isinstance(shown, (list, tuple, set, frozenset)):
        return [text for item in shown for text in texts_in(item)]
    return [shown] if isinstance(shown, str) else []


@pytest.mark.parametrize("mode", ["messages", "updates", "values", "custom", "debug", "tasks"])
def test_no_stream_mode_shows_raw_text(mode):
    built = agent(ScriptedGuard())

    async def streamed():
        return [chunk async for chunk in built.astream(ask(7), stream_mode=mode)]

    for chunks in (list(built.stream(ask(7), stream_mode=mode)), asyncio.run(streamed())):
        shown = [text for text in texts_in(chunks) if "It has" in text]
        assert shown or mode == "custom"
        assert set(shown) <= {checked(7)}


def test_the_message_stream_holds_one_checked_message():
    built = agent(ScriptedGuard())
    texts = [
        message.text
        for message, about in built.stream(ask(7), stream_mode="messages")
        if about["langgraph_node"] == "model" and message.text
    ]
    assert texts == [checked(7)]


@pytest.mark.parametrize("tools", [[search], [search_text], [retriever_tool()]])
def test_evidence_is_what_the_tool_found(tools):
    guard = ScriptedGuard()
    agent(guard, tools).invoke(ask(7))
    text = "\n".join(p.text for p in guard.traces[0].passages)
    assert "The archive says that the tower of run 7 is tall." in text
    assert "Old letters tell" in text


def test_with_a_checkpointer_only_this_turn_is_evidence():
    guard = ScriptedGuard()
    built = agent(guard, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    for run in (1, 2):
        output = built.invoke(ask(run), config)
        assert output["messages"][-1].text == checked(run)
    assert [p.id for p in guard.traces[1].passages] == ["2-tall", "2-old"]
    assert guard.traces[1].question == question(2)


def test_one_middleware_serves_many_agents_at_once():
    guard = ScriptedGuard()
    built = agent(guard)

    async def all_runs():
        return await asyncio.gather(*(built.ainvoke(ask(i)) for i in range(20)))

    for i, output in enumerate(asyncio.run(all_runs())):
        assert output["messages"][-1].text == checked(i)


def test_text_beside_a_tool_call_is_checked_too():
    class Chatty(ScriptedAgent):
        def _turn(self, messages):
            turn = super()._turn(messages)
            return turn.model_copy(update={"content": "It is tall."}) if turn.tool_calls else turn

    built = agent(ScriptedGuard(), model=Chatty())
    first = built.invoke(ask(7))["messages"][1]
    assert first.text == "It is tall. [checked: ]"
    assert first.tool_calls


def test_raise_on_stops_the_answer():
    reports = []
    guarding = {"raise_on": ("false",), "on_report": reports.append}
    built = agent(ScriptedGuard(label="false"), guarding=guarding)
    with pytest.raises(FactualityError, match="1 of 1 claims: false"):
        built.invoke(ask(7))
    assert reports[0].original == said("run 7")


def test_a_failing_evidence_function_makes_the_answer_unverified():
    def broken(messages):
        raise RuntimeError("no evidence store")

    built = agent(ScriptedGuard(), guarding={"evidence": broken})
    last = built.invoke(ask(7))["messages"][-1]
    assert last.text == f"{said('run 7')} [unverified]"
    assert last.response_metadata["franq"]["status"] == "unverified"


def test_the_prompt_is_what_the_model_was_given():
    guard = ScriptedGuard()
    agent(guard, system_prompt="Be brief.").invoke(ask(7))
    prompt = guard.traces[0].generation.prompt
    assert prompt.startswith(f"Be brief.\n\n{question(7)}")
    assert "tower of run 7 is tall" in prompt


def test_a_structured_answer_does_not_pass_unchecked():
    built = agent(ScriptedGuard(), response_format={"title": "A", "type": "object"})
    with pytest.raises(ValueError, match="response_format"):
        built.invoke(ask(7))


def test_without_tools_the_answer_has_no_evidence():
    guard = ScriptedGuard()
    built = create_agent(ScriptedChat(), middleware=[FranqMiddleware(guard)])
    built.invoke({"messages": [SystemMessage("x"), HumanMessage("What?")]})
    assert guard.traces[0].passages == ()


def test_an_agent_over_the_local_model_is_captured(pipe, smollm2):
    guard = ScriptedGuard()
    chat = ChatHuggingFace(llm=pipe, tokenizer=smollm2.tokenizer)
    built = create_agent(chat, middleware=[FranqMiddleware(guard)], system_prompt="Be brief.")
    for _ in range(2):
        shown = [m.text for m, _ in built.stream(ask(7), stream_mode="messages")]
        assert_captured(guard.traces[-1], smollm2)
        assert shown[-1] == f"{guard.traces[-1].generation.text} [checked: ]"
    assert guard.traces[0].generation.prompt.startswith("<|im_start|>system\nBe brief.")


def test_a_summary_of_the_conversation_is_kept_out_of_streams_as_the_readme_says():
    """It is written in a node of its own, so no other middleware can hide it."""
    quiet = ScriptedChat().model_copy(update={"tags": ["nostream"]})
    summarising = SummarizationMiddleware(quiet, trigger=("messages", 3), keep=("messages", 1))
    middleware = [FranqMiddleware(guard := ScriptedGuard()), summarising]
    built = create_agent(ScriptedChat(), middleware=middleware)
    before = [HumanMessage("Tell me."), AIMessage("It is old."), HumanMessage("Why?")]
    given = {"messages": [*before, AIMessage("I see."), *ask(7)["messages"]]}
    streamed = [message for message, _ in built.stream(given, stream_mode="messages")]
    [answer] = [message.text for message in streamed if isinstance(message, AIMessage)]
    assert answer.endswith("[checked: ]")
    [summary] = [message for message in streamed if isinstance(message, HumanMessage)]
    assert summary.additional_kwargs["lc_source"] == "summarization"
    assert guard.traces[-1].passages == ()
