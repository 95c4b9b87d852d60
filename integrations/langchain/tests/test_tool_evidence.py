"""Which of the things that tools return an agent's answer is checked against."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import dynamic_prompt
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import create_retriever_tool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import Field

from langchain_franq import FranqCallback, FranqMiddleware, capture, guard_chain, guard_node

from .fakes import (
    RunRetriever,
    ScriptedAgent,
    ScriptedChat,
    ScriptedGuard,
    ScriptedLLM,
    question,
    said,
)

ASK = {"messages": [HumanMessage(question(7))]}
TOLD = "The archive says that the tower of run 7 is tall and that masons built it in the spring."
OWN = "The tower of run 7 was built by Gustave Eiffel in Rome, and he painted it red."
WEATHER = "It is 14 degrees and foggy in the city of run 7 today, and nobody is outside."


class Planned(ScriptedChat):
    """Calls the tools of a plan one after the other, then answers from what the last one said."""

    plan: list[tuple[str, dict[str, Any]]] = Field(default_factory=list)

    def bind_tools(self, tools, **kwargs):
        return self.bind(tools=tools)

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        done = sum(isinstance(m, ToolMessage) for m in messages)
        if done < len(self.plan):
            name, args = self.plan[done]
            message = AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"c{done}"}])
        else:
            message = AIMessage(said("run 7"))
        return ChatResult(generations=[ChatGeneration(message=message)])


def _middleware(guard, model, tools, asked):
    create_agent(model, tools, middleware=[FranqMiddleware(guard)]).invoke(asked)


def _chain(guard, model, tools, asked):
    guard_chain(create_agent(model, tools), guard).invoke(asked)


def _node(guard, model, tools, asked):
    built = StateGraph(MessagesState)
    built.add_node("agent", guard_node(guard, create_agent(model, tools)))
    built.add_edge(START, "agent")
    built.compile().invoke(asked)


def _callback(guard, model, tools, asked):
    watch = FranqCallback(guard)
    create_agent(model, tools).invoke(asked, {"callbacks": [watch]})
    watch.flush()


AROUND = [_middleware, _chain, _node, _callback]


def evidence(around, model, tools, asked=ASK) -> list[str]:
    """The texts of the passages that the answer was checked against."""
    around(guard := ScriptedGuard(), model, tools, asked)
    return [passage.text for passage in guard.traces[-1].passages]


@tool
def think(reflection: str) -> str:
    """Records a thought."""
    return f"Reflection recorded: {reflection}"


@tool
def look_up(query: str) -> str:
    """Finds something."""
    return TOLD


@tool
def weather(city: str) -> str:
    """Tells the weather."""
    return WEATHER


class Notes:
    """A file that a model writes and reads again."""

    def __init__(self) -> None:
        self.text = ""

    def tools(self):
        @tool
        def write_note(text: str) -> str:
            """Keeps a note."""
            self.text = text
            return "The note is kept."

        @tool
        def read_note() -> str:
            """Reads it."""
            return f"note.md\n{self.text}"

        return [write_note, read_note]


ARTIFACTS = {
    "names of files": {"sources": ["towers.pdf", "old.pdf"]},
    "metadata": [{"source": "towers.pdf", "page": 3}, {"title": "Towers", "source": "a.pdf"}],
    "one of the documents": [Document("Old letters tell of the tower of run 7 and its masons.")],
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("kind", ARTIFACTS)
def test_a_tools_text_is_evidence_beside_an_artifact_without_it(around, kind):
    @tool("search", response_format="content_and_artifact")
    def search(query: str) -> tuple[str, Any]:
        """Finds something."""
        return TOLD, ARTIFACTS[kind]

    assert TOLD in evidence(around, ScriptedAgent(), [search])


PUMPS = [{"name": f"The {kind} pump for gardens", "price": 39} for kind in ("blue", "red")]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("printed", [str, json.dumps])
@pytest.mark.parametrize("rows", [PUMPS, [(row["name"], row["price"]) for row in PUMPS]])
def test_rows_in_an_artifact_keep_their_numbers(around, printed, rows):
    @tool("search", response_format="content_and_artifact")
    def search(query: str) -> tuple[str, Any]:
        """Finds something."""
        return printed(rows), rows

    found = evidence(around, ScriptedAgent(), [search])
    kinds = [[word for word in ("blue", "red", "39") if word in text] for text in found]
    assert kinds == [["blue", "39"], ["red", "39"]]


@pytest.mark.parametrize("around", AROUND)
def test_documents_that_a_tool_prints_as_json_are_not_counted_again(around):
    documents = [Document(f"{text}\n\nIt is\nnot\nold.") for text in (TOLD, WEATHER)]

    @tool("search", response_format="content_and_artifact")
    def search(query: str) -> tuple[str, Any]:
        """Finds something."""
        return json.dumps([document.page_content for document in documents]), documents

    found = evidence(around, ScriptedAgent(), [search])
    assert found == [document.page_content for document in documents]


@pytest.mark.parametrize("around", AROUND)
def test_a_text_that_joins_the_documents_of_the_artifact_is_not_counted_again(around):
    documents = RunRetriever().invoke("run 7")
    texts = [document.page_content for document in documents]

    @tool("search", response_format="content_and_artifact")
    def search(query: str) -> tuple[str, Any]:
        """Finds something."""
        return "\n".join(f"[{i}] {text}" for i, text in enumerate(texts)), documents

    assert evidence(around, ScriptedAgent(), [search]) == texts


PUMP = "The pump is blue and made by hand in Kassel."


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(
    "printed",
    [
        "{text} In stock: 12, price 39 euros.",
        "Price: {price}\nText: {text}",
        "1. {text} Available only in the shop.",
    ],
)
def test_what_a_tool_prints_beside_the_document_of_its_artifact_is_evidence(around, printed):
    @tool("search", response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Document]]:
        """Finds something."""
        found = Document(PUMP, metadata={"price": "39 euros", "source": "catalogue.pdf"})
        return printed.format(text=PUMP, price="39 euros"), [found]

    told = printed.format(text=PUMP, price="39 euros")
    assert evidence(around, ScriptedAgent(), [search]) == [PUMP, told]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(
    "printed",
    [
        "Source: {metadata}\nContent: {text}",
        "Here are the 3 most relevant documents:\n[1] (catalogue.pdf, page 7)\n{text}",
        "Results for {query!r}:\n{text}",
    ],
)
def test_labels_beside_the_document_of_an_artifact_are_not_counted_again(around, printed):
    about = {"price": "39 euros", "source": "catalogue.pdf", "page": 7}

    @tool("search", response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Document]]:
        """Finds something."""
        told = printed.format(text=PUMP, metadata=about, query=query)
        return told, [Document(PUMP, metadata=about)]

    model = Planned(plan=[("search", {"query": "blue pumps from Kassel"})])
    assert evidence(around, model, [search]) == [PUMP]


BLOCKS = {
    "search result": {
        "type": "search_result",
        "title": "Catalogue",
        "source": "https://a.org",
        "content": [{"type": "text", "text": TOLD}],
    },
    "document": {"type": "document", "source": {"type": "text", "data": TOLD}},
    "document of blocks": {
        "type": "document",
        "source": {"type": "content", "content": [{"type": "text", "text": TOLD}]},
    },
    "output": {"type": "custom_tool_call_output", "output": TOLD},
    "json": {"type": "json", "json": {"tower": {"of run": 7, "told": TOLD}}},
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("kind", BLOCKS)
def test_blocks_that_are_no_plain_text_are_evidence(around, kind):
    @tool("search")
    def search(query: str) -> list[dict[str, Any]]:
        """Finds something."""
        return [{"type": "text", "text": WEATHER}, BLOCKS[kind]]

    found = evidence(around, ScriptedAgent(), [search])
    assert found == [WEATHER, json.dumps(BLOCKS[kind]["json"]) if kind == "json" else TOLD]


@pytest.mark.parametrize("around", AROUND)
def test_what_a_model_in_a_tool_wrote_is_no_evidence_in_a_block_either(around):
    @tool("search")
    def search(query: str) -> list[dict[str, Any]]:
        """Finds something, and says what to think of it."""
        text = ScriptedChat().invoke("run 7").text
        return [{"type": "json", "json": {"found": TOLD, "thought": text}}]

    (found,) = evidence(around, ScriptedAgent(), [search])
    assert TOLD in found
    assert "7 steps" not in found


@pytest.mark.parametrize("around", AROUND)
def test_what_another_tool_said_is_evidence_beside_a_retriever(around):
    model = Planned(plan=[("search", {"query": "run 7"}), ("weather", {"city": "the city"})])
    search = create_retriever_tool(RunRetriever(), "search", "Finds towers.")
    found = evidence(around, model, [search, weather])
    assert WEATHER in found
    assert "The archive says that the tower of run 7 is tall." in "\n".join(found)


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("again", [False, True])
def test_a_thought_that_a_tool_records_is_no_evidence(around, again):
    thought = ("think", {"reflection": OWN})
    plan = [("look_up", {"query": "the tower"}), thought, *([thought] if again else [])]
    assert evidence(around, Planned(plan=plan), [look_up, think]) == [TOLD]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("San Francisco, California, USA", "{}: sunny, 21 degrees."),
        ("Garden hose 20 m green", "{}: shipped"),
        ("Can I pay by credit card in the shop?", "Q: {}\nA: No, only cash."),
    ],
)
def test_a_few_words_about_the_name_that_a_tool_repeats_are_evidence(around, asked, told):
    @tool
    def find(name: str) -> str:
        """Tells something of a thing."""
        return told.format(name)

    model = Planned(plan=[("find", {"name": asked})])
    assert evidence(around, model, [find]) == [told.format(asked)]


@pytest.mark.parametrize("around", AROUND)
def test_a_verdict_on_what_a_model_states_is_no_evidence_for_it(around):
    @tool
    def verify(claim: str) -> str:
        """Looks for a claim."""
        return f"{claim}: nobody knows"

    model = Planned(plan=[("look_up", {"query": "a"}), ("verify", {"claim": OWN})])
    assert evidence(around, model, [look_up, verify]) == [TOLD]


STEPS = ["Say that Gustave Eiffel built it.", "Ask a king", "Send it", "Stop"]
PLAN = [{"content": step, "status": "pending", "owner": "me"} for step in STEPS]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("printed", [repr, json.dumps])
def test_a_plan_that_a_tool_prints_is_no_evidence(around, printed):
    """As LangChain's ``write_todos`` does; most of the text are keys and labels."""

    @tool
    def plan_it(steps: list[dict[str, str]]) -> str:
        """Keeps a plan."""
        return f"Updated todo list to {printed(steps)}"

    plan = [("look_up", {"query": "the tower"}), ("plan_it", {"steps": PLAN})]
    assert evidence(around, Planned(plan=plan), [look_up, plan_it]) == [TOLD]


@pytest.mark.parametrize("around", AROUND)
def test_a_note_that_is_read_again_is_no_evidence(around):
    plan = [("look_up", {"query": "a"}), ("write_note", {"text": OWN}), ("read_note", {})]
    found = evidence(around, Planned(plan=plan), [look_up, *Notes().tools()])
    assert TOLD in found
    assert not any(OWN in text for text in found)


def test_a_note_of_an_earlier_turn_is_no_evidence_either():
    tools = [look_up, *Notes().tools()]
    first = Planned(plan=[("look_up", {"query": "a"}), ("write_note", {"text": OWN})])
    second = Planned(plan=[*first.plan, ("look_up", {"query": "a"}), ("read_note", {})])
    guard, saver = ScriptedGuard(), InMemorySaver()
    for model in (first, second):
        agent = create_agent(model, tools, middleware=[FranqMiddleware(guard)], checkpointer=saver)
        agent.invoke(ASK, {"configurable": {"thread_id": "1"}})
    assert TOLD in [passage.text for passage in guard.traces[-1].passages]
    assert not any(OWN in passage.text for passage in guard.traces[-1].passages)


@pytest.mark.parametrize("around", AROUND)
def test_a_document_with_a_sentence_that_was_searched_with_stays_whole(around):
    query = "the tower of run 7 is tall"
    assert evidence(around, Planned(plan=[("look_up", {"query": query})]), [look_up]) == [TOLD]


@pytest.mark.parametrize("around", AROUND)
def test_a_quote_in_a_thought_takes_nothing_from_what_was_quoted(around):
    plan = [("think", {"reflection": "I look it up."}), ("look_up", {"query": "a"})]
    plan += [("think", {"reflection": TOLD}), ("weather", {"city": "a"})]
    found = evidence(around, Planned(plan=plan), [look_up, think, weather])
    assert TOLD in found
    assert WEATHER in found


BEFORE = [
    HumanMessage("What does the archive say?"),
    AIMessage("", tool_calls=[{"name": "look_up", "args": {"query": "a"}, "id": "c0"}]),
    ToolMessage(TOLD, tool_call_id="c0"),
    AIMessage("The tower of run 7 is tall."),
]
FOLLOW_UP = {"messages": [*BEFORE, HumanMessage("Who tells me more?")]}


def told(text):
    """A tool that returns the text, and a model that calls it in the second turn."""

    @tool
    def act(reason: str) -> str:
        """Does something."""
        return text.format(reason=reason)

    return Planned(plan=[("look_up", {}), ("act", {"reason": OWN})]), [act]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(
    "notice", ["Successfully transferred to billing", "A ticket was created: 4711"]
)
def test_a_notice_of_a_tool_does_not_hide_what_earlier_turns_found(around, notice):
    """As that of a handoff to another agent: it says that something was done."""
    assert sorted(evidence(around, *told(notice), FOLLOW_UP)) == sorted([notice, TOLD])


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("value", [None, [], {}])
def test_a_tool_that_finds_nothing_is_no_evidence(around, value):
    """LangChain gives the model the text "null" or "{}"."""

    @tool
    def search() -> Any:
        """Finds nothing."""
        return value

    assert evidence(around, Planned(plan=[("search", {})]), [search]) == []


@pytest.mark.parametrize("around", AROUND)
def test_the_reason_of_a_handoff_that_a_model_gave_is_no_evidence(around):
    assert evidence(around, *told("Transferred, since: {reason}"), FOLLOW_UP) == [TOLD]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("text", ["14 °C and fog.", WEATHER])
def test_what_a_tool_of_this_turn_found_stands_alone(around, text):
    """What an earlier turn found may be outdated, or be about another thing."""
    assert evidence(around, *told(text), FOLLOW_UP) == [text]


def test_a_notice_does_not_hide_the_documents_in_a_dynamic_prompt():
    @dynamic_prompt
    def with_documents(request):
        return f"Answer from this alone:\n{TOLD} {WEATHER}"

    model, tools = told("Done.")
    model.plan = model.plan[1:]
    middleware = [FranqMiddleware(guard := ScriptedGuard()), with_documents]
    create_agent(model, tools, middleware=middleware).invoke(ASK)
    assert TOLD in "\n".join(passage.text for passage in guard.traces[-1].passages)


@tool
def search_the_web(query: str) -> dict[str, Any]:
    """Finds something, as clients of search engines return it."""
    return {"query": query, "results": [{"url": "https://a.org", "content": TOLD}], "seconds": 0.4}


def _within_capture(guard):
    with capture() as run:
        answer = _answered(ASK)
    run.check(guard, question(7), answer["answer"])


def _answered(_):
    [found] = search_the_web.invoke(question(7))["results"]
    return {"answer": ScriptedLLM().invoke(f"Use this: {found['content']}")}


@pytest.mark.parametrize(
    "around",
    [
        lambda guard: guard_node(guard, _answered).invoke({"question": question(7)}),
        lambda guard: guard_chain(RunnableLambda(_answered), guard).invoke(question(7)),
        _within_capture,
    ],
)
def test_what_a_function_takes_from_a_tools_results_is_evidence(around):
    around(guard := ScriptedGuard())
    assert [passage.text for passage in guard.traces[-1].passages] == [TOLD]
