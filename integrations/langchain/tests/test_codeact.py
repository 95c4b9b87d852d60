"""A CodeAct agent: its model writes code, the graph runs it, and the model answers from the output.

The graph is made by hand, node for node as ``langgraph_codeact.create_codeact`` makes it: that
package asks for langgraph<0.4, so it cannot be installed beside langchain-franq.
"""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import io
import re
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command

from franq_guard import Guard
from franq_guard.testing import FakeFaithfulness
from langchain_franq import FranqCallback, guard_chain, guard_node

from .fakes import RunRetriever, ScriptedChat, ScriptedGuard, format_docs, question, said

SEARCHES = "```python\nfound = search('tower of run 7')\nprint(found)\n```"
INVENTS = f"```python\ntext = '''{said('run 7')}'''\nprint(text)\n```"
ASK = {"messages": [HumanMessage(question(7))]}
CHECKED = f"{said('run 7')} [checked: "


class Coder(ScriptedChat):
    """Writes ``code`` first, then answers from what it printed."""

    code: str = SEARCHES

    def _turn(self, messages: Any) -> AIMessage:
        coded = any(isinstance(m, AIMessage) and "```" in m.text for m in messages)
        return AIMessage(said(str(messages[-1].text)) if coded else self.code)

    def _generate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._turn(messages))])

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any
    ) -> Iterator[ChatGenerationChunk]:
        for word in re.findall(r"\s*\S+", self._turn(messages).text):
            chunk = ChatGenerationChunk(message=AIMessageChunk(word))
            if run_manager:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk


class CodeActState(MessagesState):
    script: str | None
    context: dict[str, Any]


def search_retriever(query: str) -> str:
    return format_docs(RunRetriever().invoke(query))


def search_elsewhere(query: str) -> str:
    return "The archive of the town says that the tower of run 7 is tall and has many steps."


def evaluated(code: str, known: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """What the code prints, and the names that it makes."""
    names, printed = dict(known), io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, builtins.__dict__, names)
    return printed.getvalue(), {name: v for name, v in names.items() if name not in known}


def codeact(code: str = SEARCHES, search: Any = search_retriever) -> Any:
    model = Coder(code=code)

    def call_model(state: CodeActState) -> Command:
        response = model.invoke([{"role": "system", "content": "Write code."}, *state["messages"]])
        found = re.search(r"```python\n(.*?)```", str(response.text), re.DOTALL)
        if found:
            update = {"messages": [response], "script": found.group(1)}
            return Command(goto="sandbox", update=update)
        return Command(update={"messages": [response], "script": None})

    def sandbox(state: CodeActState) -> dict[str, Any]:
        known = state.get("context", {})
        output, new = evaluated(state["script"] or "", {**known, "search": search})
        return {"messages": [{"role": "user", "content": output}], "context": {**known, **new}}

    built = StateGraph(CodeActState)
    built.add_node("call_model", call_model, destinations=(END, "sandbox"))
    built.add_node("sandbox", sandbox)
    built.add_edge(START, "call_model")
    built.add_edge("sandbox", "call_model")
    return built.compile()


def in_node(guard: Any, agent: Any) -> Any:
    built = StateGraph(MessagesState)
    built.add_node("agent", guard_node(guard, agent))
    built.add_edge(START, "agent")
    built.add_edge("agent", END)
    return built.compile()


def surface(kind: str, guard: Any, agent: Any) -> Any:
    return guard_chain(agent, guard) if kind == "chain" else in_node(guard, agent)


@pytest.mark.parametrize("kind", ["chain", "node"])
@pytest.mark.parametrize("search", [search_retriever, search_elsewhere])
def test_the_answer_is_checked_against_what_the_code_found(kind, search):
    guard = ScriptedGuard()
    app = surface(kind, guard, codeact(search=search))
    for output in (app.invoke(ASK), asyncio.run(app.ainvoke(ASK))):
        assert output["messages"][-1].text.startswith(CHECKED)
    for trace in guard.traces:
        assert trace.question == question(7)  # not the output of the code, which a user says
        texts = "\n\n".join(passage.text for passage in trace.passages)
        assert texts == search("tower of run 7")


@pytest.mark.parametrize("mode", ["messages", "updates", "values", "tasks", "debug"])
def test_no_stream_shows_it_unchecked(mode):
    app = in_node(ScriptedGuard(), codeact())
    shown = list(app.stream(ASK, stream_mode=mode, subgraphs=True))
    assert shown
    for chunk in shown:
        assert "It has 7 steps" not in str(chunk) or CHECKED in str(chunk)


def test_code_is_no_claim_and_stays_as_it_is():
    guard = Guard(faithfulness=FakeFaithfulness())
    output = guard_chain(codeact(), guard).invoke(ASK)
    assert output["messages"][1].text == SEARCHES
    assert output["messages"][-1].text != said("run 7")  # marked


@pytest.mark.parametrize("kind", ["chain", "node"])
def test_what_a_model_spelled_out_in_code_is_no_evidence(kind):
    guard = ScriptedGuard()
    output = surface(kind, guard, codeact(INVENTS)).invoke(ASK)
    assert output["messages"][-1].text == f"{CHECKED}]"
    assert [trace.passages for trace in guard.traces] == [()] * 2  # the answer, and the code


def test_a_watching_callback_sees_the_same():
    watch = FranqCallback(guard := ScriptedGuard())
    codeact().invoke(ASK, {"callbacks": [watch]})
    assert watch.flush(20)
    (trace,) = guard.traces
    assert trace.generation.text == said("run 7")
    assert [passage.id for passage in trace.passages] == ["7-tall", "7-old"]
