"""Evidence is found wherever an application has it, and ``evidence=`` names all other places."""

from __future__ import annotations

import asyncio
import logging
from typing import TypedDict

import numpy as np
import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, dynamic_prompt
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.prompt_values import ChatPromptValue
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import tool
from langchain_core.vectorstores import InMemoryVectorStore
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from langchain_franq import FranqCallback, FranqMiddleware, capture, guard_chain, guard_node

from .fakes import (
    TEMPLATE,
    RunRetriever,
    ScriptedAgent,
    ScriptedChat,
    ScriptedGuard,
    ScriptedLLM,
    format_docs,
    lcel,
    question,
)

TEXTS = [
    "The archive says that the tower of run 7 is tall, and nobody doubts it today.",
    "Old letters tell how masons began the tower of run 7 long ago.",
]
DOCUMENTS = [Document(text) for text in TEXTS]
ONE = "\n\n".join(TEXTS)
ASKED = question(7)


def store():
    made = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    made.add_documents(DOCUMENTS)
    return made


def texts(guard):
    return [sorted(passage.text for passage in trace.passages) for trace in guard.traces]


BOTH, JOINED = [sorted(TEXTS)], [[ONE]]


def run_ways(chain, value):
    """Invoke and stream."""
    chain.invoke(value)
    list(chain.stream(value))
    asyncio.run(chain.ainvoke(value))


# Chains -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key", ["context", "documents", "docs", "passages", "source_documents", "input_documents"]
)
@pytest.mark.parametrize(
    ("given", "found"),
    [(DOCUMENTS, BOTH), (TEXTS, BOTH), (ONE, JOINED), ([{"text": t} for t in TEXTS], BOTH)],
)
def test_documents_in_the_input(key, given, found):
    guard = ScriptedGuard()

    def prompt(value):
        return TEMPLATE.format(context=value[key], question=value["question"])

    chain = guard_chain(RunnableLambda(prompt) | ScriptedLLM(), guard)
    chain.invoke({"question": ASKED, key: given})
    assert texts(guard) == found


SEARCHES = {
    "documents": lambda q: store().similarity_search(q, k=2),
    "one string": lambda q: format_docs(store().similarity_search(q, k=2)),
}


@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize("key", ["context", "unusual"])
def test_a_search_in_a_lambda(kind, key):
    guard = ScriptedGuard()
    found = {key: RunnableLambda(SEARCHES[kind]), "question": RunnablePassthrough()}

    def prompt(value):
        context = value[key] if kind == "one string" else format_docs(value[key])
        return TEMPLATE.format(context=context, question=value["question"])

    run_ways(guard_chain(found | RunnableLambda(prompt) | ScriptedLLM(), guard), ASKED)
    for passages in texts(guard):
        assert sorted("\n\n".join(passages).split("\n\n")) == sorted(TEXTS)


@pytest.mark.parametrize("numbered", [False, True])
def test_documents_that_a_step_joins_for_the_prompt_count_once(numbered):
    guard = ScriptedGuard()

    def joined(found):
        texts = [document.page_content for document in found]
        return "\n".join(f"[{i}] {text}" if numbered else text for i, text in enumerate(texts, 1))

    search = RunnableLambda(SEARCHES["documents"]) | joined
    found = {"context": search, "question": RunnablePassthrough()}
    run_ways(
        guard_chain(found | PromptTemplate.from_template(TEMPLATE) | ScriptedLLM(), guard), ASKED
    )
    assert texts(guard) == BOTH * 3


class Pages(RunRetriever):
    """Finds a short page and two long ones."""

    def _get_relevant_documents(self, query, *, run_manager):
        long = (" ".join(f"{name}{number}" for number in range(300)) for name in ("left", "right"))
        return [Document("The tower is tall."), *map(Document, long)]


def test_a_long_document_that_is_cut_for_the_prompt_is_evidence_beside_a_short_one():
    def cut(found):
        """Of the first two; the third is left out."""
        return "\n".join(document.page_content[:200] for document in found[:2])

    inputs = {"context": Pages() | RunnableLambda(cut), "question": RunnablePassthrough()}
    chain = inputs | PromptTemplate.from_template(TEMPLATE) | ScriptedLLM()
    guard_chain(chain, guard := ScriptedGuard()).invoke(ASKED)
    expected = [document.page_content for document in Pages().invoke(ASKED)]
    assert texts(guard) == [expected[:2]]


def test_documents_that_a_step_only_heads_with_their_source_count_once():
    """Twice as many passages would be read otherwise."""

    def headed(found):
        return [Document(f"Source: {d.metadata['id']}\n{d.page_content}") for d in found]

    chain = lcel(ScriptedLLM(), RunRetriever() | RunnableLambda(headed))
    guard_chain(chain, guard := ScriptedGuard()).invoke(ASKED)
    assert [passage.id for passage in guard.traces[0].passages] == ["7-tall", "7-old"]


def test_a_document_that_holds_another_one_is_kept():
    guard = ScriptedGuard()
    more = "Its bells were cast in a foundry at the river, and each of them has a name of its own."
    longer = f"{TEXTS[0]} {more}"
    search = RunnableLambda(lambda q: [Document(TEXTS[0]), Document(longer)])
    found = {"found": search, "question": RunnablePassthrough()}
    write = RunnableLambda(lambda v: f"{longer} {v['question']}") | ScriptedLLM()
    guard_chain(found | write, guard).invoke(ASKED)
    assert texts(guard) == [sorted([TEXTS[0], longer])]


def test_a_rewritten_question_is_no_evidence():
    guard = ScriptedGuard()
    rewritten = RunnableLambda(lambda q: ScriptedLLM().invoke(f"{q} run 7") * 2)
    chain = rewritten | (lambda q: f"Answer this: {q}") | ScriptedLLM()
    guard_chain(chain, guard).invoke(ASKED)
    assert [p for p in texts(guard)[0] if "Answer this" in p] == []


@pytest.mark.parametrize(
    "evidence",
    ["hidden", "deep.found", lambda given, output: given["deep"]["found"]],
)
def test_evidence_names_any_place(evidence):
    guard = ScriptedGuard()
    chain = (
        RunnableLambda(lambda v: f"Use this:\n{ONE}\n\nQuestion: {v['question']}") | ScriptedLLM()
    )
    value = {"question": ASKED, "hidden": DOCUMENTS, "deep": {"found": TEXTS}}
    run_ways(guard_chain(chain, guard, evidence=evidence), value)
    assert texts(guard) == BOTH * 3


def test_a_wrong_key_is_said_and_nothing_passes_for_checked(caplog):
    chain = RunnableLambda(lambda v: v["question"]) | ScriptedLLM()
    reports = []
    guarded = guard_chain(chain, ScriptedGuard(), evidence="contxt", on_report=reports.append)
    assert guarded.invoke({"question": ASKED, "context": TEXTS}).endswith("[unverified]")
    (report,) = reports
    assert report.status == "unverified"


@pytest.mark.parametrize("make", [guard_chain, guard_node, FranqMiddleware])
@pytest.mark.parametrize("evidence", [3, ""])
def test_evidence_of_another_kind_is_refused(make, evidence):
    arguments = (ScriptedLLM(), ScriptedGuard()) if make is guard_chain else (ScriptedGuard(),)
    with pytest.raises((TypeError, ValueError), match="evidence="):
        make(*arguments, evidence=evidence)


def test_a_long_prompt_without_passages_is_told_once(caplog):
    chain = guard_chain(
        RunnableLambda(lambda q: f"{q} {'x ' * 2000}") | ScriptedLLM(), ScriptedGuard()
    )
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            chain.invoke(ASKED)
    assert sum("evidence=" in message for message in caplog.messages) == 1


def test_evidence_of_a_plain_function():
    guard, model = ScriptedGuard(), ScriptedLLM()
    with capture(model) as run:
        answer = model.invoke(TEMPLATE.format(context=ONE, question=ASKED))
    for evidence in (DOCUMENTS, TEXTS, {"docs": TEXTS}):
        run.check(guard, ASKED, answer, evidence=evidence)
    assert texts(guard) == BOTH * 3


# Agents -------------------------------------------------------------------------------------------


@dynamic_prompt
def searched(request):
    found = store().similarity_search(request.messages[-1].text, k=2)
    return f"Answer from this alone:\n{format_docs(found)}"


@dynamic_prompt
def retrieved(request):
    return (
        f"Answer from this alone:\n{format_docs(RunRetriever().invoke(request.messages[-1].text))}"
    )


def ask(text=ASKED):
    return {"messages": [HumanMessage(text)]}


@pytest.mark.parametrize("prompt", [searched, retrieved])
def test_a_dynamic_prompt_is_evidence_and_in_the_trace(prompt):
    guard = ScriptedGuard()
    agent = create_agent(ScriptedChat(), middleware=[FranqMiddleware(guard), prompt])
    agent.invoke(ask())
    asyncio.run(agent.ainvoke(ask()))
    for trace in guard.traces:
        assert trace.generation.prompt.startswith("Answer from this alone:")
        held = "\n".join(passage.text for passage in trace.passages)
        assert "archive says that the tower of run 7 is tall" in held
        assert "Old letters tell" in held


def test_a_static_system_prompt_is_no_evidence():
    guard = ScriptedGuard()
    agent = create_agent(
        ScriptedChat(), system_prompt="Be brief. " * 50, middleware=[FranqMiddleware(guard)]
    )
    agent.invoke(ask())
    assert texts(guard) == [[]]


def test_a_follow_up_question_is_answered_from_earlier_turns():
    @tool
    def search(query: str) -> str:
        """Search."""
        return TEXTS[0]

    class Remembering(ScriptedAgent):
        def _turn(self, messages):
            if any(isinstance(message, ToolMessage) for message in messages):
                messages = [message for message in messages if isinstance(message, ToolMessage)]
            return super()._turn(messages)

    guard = ScriptedGuard()
    agent = create_agent(
        Remembering(), [search], middleware=[FranqMiddleware(guard)], checkpointer=InMemorySaver()
    )
    config = {"configurable": {"thread_id": "1"}}
    agent.invoke(ask(), config)
    agent.invoke(ask("And is it old?"), config)
    assert texts(guard) == [TEXTS[:1], TEXTS[:1]]
    # ... and so for the agent inside a chain, its conversation in the input.
    chain = guard_chain(create_agent(Remembering(), [search]), outer := ScriptedGuard())
    history = agent.get_state(config).values["messages"]
    chain.invoke({"messages": [*history, HumanMessage("And is it tall?")]})
    assert texts(outer)[0] == TEXTS[:1]


class Looked(AgentMiddleware):
    """Middleware that puts documents into the agent's state."""

    class state_schema(TypedDict, total=False):
        messages: list
        documents: list

    def before_model(self, state, runtime):
        return {"documents": DOCUMENTS}


@pytest.mark.parametrize("evidence", [None, "documents", lambda messages: TEXTS])
def test_the_state_of_an_agent_may_hold_the_documents(evidence):
    guard = ScriptedGuard()
    agent = create_agent(
        ScriptedChat(), middleware=[FranqMiddleware(guard, evidence=evidence), Looked()]
    )
    agent.invoke(ask(f"{ASKED} {ONE}"))
    assert texts(guard) == BOTH


# Graphs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["context", "documents", "retrieved_docs"])
@pytest.mark.parametrize(
    ("held", "found"),
    [
        (DOCUMENTS, BOTH),
        (TEXTS, BOTH),
        (ONE, JOINED),
        ({"web": TEXTS[:1], "archive": DOCUMENTS[1:]}, BOTH),
    ],
)
def test_documents_in_the_state_of_a_graph(key, held, found):
    guard = ScriptedGuard()
    state = TypedDict("state", {"question": str, key: object, "answer": str, "franq": dict})
    built = StateGraph(state)
    built.add_node("retrieve", lambda s: {key: held})
    built.add_node("write", guard_node(guard, lambda s: {"answer": ScriptedLLM().invoke(ONE)}))
    built.add_edge(START, "retrieve")
    built.add_edge("retrieve", "write")
    built.add_edge("write", END)
    built.compile().invoke({"question": ASKED})
    assert texts(guard) == found


@pytest.mark.parametrize("evidence", ["store.found", lambda state: state["store"]["found"]])
def test_evidence_of_a_node(evidence):
    guard = ScriptedGuard()
    node = guard_node(guard, lambda s: {"answer": ScriptedLLM().invoke(ONE)}, evidence=evidence)
    node.invoke({"question": ASKED, "store": {"found": DOCUMENTS}})
    assert texts(guard) == BOTH


def _as_a_chain(guard, write):
    return guard_chain(RunnableLambda(write), guard)


@pytest.mark.parametrize("artifact", [None, DOCUMENTS])
@pytest.mark.parametrize("around", [guard_node, _as_a_chain])
def test_a_node_after_a_tool_node_has_what_the_tool_found(artifact, around):
    """LangGraph's agentic RAG: the node that answers returns its message alone."""

    @tool(response_format="content_and_artifact")
    def search(query: str):
        """Finds something."""
        return "\n\n".join(TEXTS), artifact

    def ask(state):
        call = {"name": "search", "args": {"query": "towers"}, "id": "c1"}
        return {"messages": [AIMessage("", tool_calls=[call])]}

    def write(state):
        return {"messages": [ScriptedChat().invoke(state["messages"][-1].text)]}

    built = StateGraph(MessagesState)
    for name, node in {"ask": ask, "tools": ToolNode([search])}.items():
        built.add_node(name, node)
    built.add_node("write", around(guard := ScriptedGuard(), write))
    built.add_edge(START, "ask").add_edge("ask", "tools").add_edge("tools", "write")
    built.compile().invoke({"messages": [HumanMessage(question(7))]})
    assert [p.text for p in guard.traces[0].passages] == (
        TEXTS if artifact else ["\n\n".join(TEXTS)]
    )


def _listed(messages, model):
    return model, messages


def _filled_in(messages, model):
    """The messages of a ``MessagesPlaceholder``."""
    prompt = ChatPromptTemplate.from_messages([("system", "Be kind."), MessagesPlaceholder("said")])
    return prompt | model, {"said": messages, "history": []}


def _prompted(messages, model):
    return model, ChatPromptValue(messages=messages)


@pytest.mark.parametrize("form", [_listed, _filled_in, _prompted])
def test_what_tools_found_is_evidence_in_a_loop_written_by_hand(form):
    """The guarded model is called again with what its tools found, without any agent framework."""
    asked = AIMessage("", tool_calls=[{"name": "search", "args": {"query": "a"}, "id": "c1"}])
    messages = [HumanMessage(ASKED), asked, ToolMessage(ONE, tool_call_id="c1")]
    model, given = form(messages, ScriptedChat())
    guard_chain(model, guard := ScriptedGuard()).invoke(given)
    assert texts(guard) == JOINED
    assert guard.traces[0].question == ASKED


def test_what_tools_found_is_evidence_where_a_model_alone_is_watched():
    asked = AIMessage("", tool_calls=[{"name": "search", "args": {"query": "a"}, "id": "c1"}])
    watch = FranqCallback(guard := ScriptedGuard())
    model = ScriptedChat(callbacks=[watch])
    model.invoke([HumanMessage(ASKED), asked, ToolMessage(ONE, tool_call_id="c1")])
    assert watch.flush(20)
    assert texts(guard) == JOINED


def test_a_document_whose_id_is_an_array_is_evidence():
    about = {"id": np.array([1, 2]), "title": np.int64(7), "deep": {"of": [np.nan]}}
    found = {"answer": "The tower is tall [1].", "context": [Document(TEXTS[0], metadata=about)]}
    chain = guard_chain(RunnableLambda(lambda _: found), ScriptedGuard())
    [verdict] = chain.invoke({"question": "How tall?"})["franq"]["verdicts"]
    assert verdict["label"] == "supported"


REPLY = "The tower of run 7 is 40 metres tall. It has 200 steps."


@pytest.mark.parametrize("by_a_model", [False, True])
def test_a_text_that_the_metadata_has_for_the_prompt_is_evidence(by_a_model):
    """Questions are searched, and their answers are in the metadata; a model may write some."""
    asked = Document("How tall is the tower?", metadata={"reply": REPLY, "page": 3})

    class Questions(RunRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [asked]

    def reply_of(found):
        if by_a_model:
            found[0].metadata["reply"] = ScriptedLLM().invoke("run 7")
        return found[0].metadata["reply"]

    listed = Questions() | reply_of
    inputs = {"context": listed, "question": RunnablePassthrough()}
    answered = inputs | PromptTemplate.from_template(TEMPLATE) | ScriptedLLM()
    guard_chain(answered, guard := ScriptedGuard()).invoke(question(7))
    told = "" if by_a_model else f"\n{REPLY}"
    assert [p.text for p in guard.traces[0].passages] == [f"How tall is the tower?{told}"]


WHOLE = Document("The history of the tower of run 7. " + TEXTS[0] + " A baker from Arden paid it.")
ELSEWHERE = Document("A paper of the town says that the tower of run 7 has 200 steps.")
REPLACED = {
    "the whole text of a hit": (lambda found: [WHOLE], [TEXTS[0], WHOLE.page_content]),
    "another search": (lambda found: [ELSEWHERE], [ELSEWHERE.page_content]),
    "a model's words": (lambda found: [Document(ScriptedLLM().invoke("run 7"))], [TEXTS[0]]),
    "fewer of them": (lambda found: found[:1], [TEXTS[0]]),
}


@pytest.mark.parametrize("kind", REPLACED)
def test_documents_that_a_step_puts_in_place_of_the_retrieved_ones_are_evidence(kind):
    class Hits(RunRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return DOCUMENTS[:1]

    replace, expected = REPLACED[kind]
    inputs = {"context": Hits() | replace | format_docs, "question": RunnablePassthrough()}
    answered = inputs | PromptTemplate.from_template(TEMPLATE) | ScriptedLLM()
    guard_chain(answered, guard := ScriptedGuard()).invoke(question(7))
    assert [passage.text for passage in guard.traces[0].passages] == expected
