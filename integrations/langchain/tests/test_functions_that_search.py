"""Functions that search by themselves, and list their sources by name beside the answer."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict

import pytest
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
from langgraph.graph import END, START, StateGraph

from franq_guard import Guard
from franq_guard.testing import FakeFaithfulness
from langchain_franq import FranqCallback, guard_chain, guard_node

from .fakes import ScriptedChat, ScriptedGuard, format_docs, question

DOCUMENTS = [
    Document("The tower of run 7 is tall.", metadata={"title": "Towers 2021", "page": 3}),
    Document("Masons began it long ago.", metadata={"title": "Masons", "page": 9}),
]
TEXTS = [document.page_content for document in DOCUMENTS]
ASKED = question(7)
PROMPT = ChatPromptTemplate.from_template("Use this:\n{context}\n\nQuestion: {question}")
WRITE = PROMPT | ScriptedChat() | StrOutputParser()


def found_in(chain, value=ASKED) -> list[list[str]]:
    """The passages of each way to run the chain."""
    guard = ScriptedGuard()
    guarded = guard_chain(chain, guard)
    guarded.invoke(value)
    list(guarded.stream(value))
    asyncio.run(guarded.ainvoke(value))
    return [[passage.text for passage in trace.passages] for trace in guard.traces]


# What is given to a prompt inside -----------------------------------------------------------------


def by_a_chain(asked):
    return WRITE.invoke({"context": format_docs(DOCUMENTS), "question": asked})


def by_a_prompt(asked):
    filled = PROMPT.invoke({"context": format_docs(DOCUMENTS), "question": asked})
    return ScriptedChat().invoke(filled)


def by_a_stream(asked):
    yield from WRITE.stream({"context": format_docs(DOCUMENTS), "question": asked})


@pytest.mark.parametrize("function", [by_a_chain, by_a_prompt, by_a_stream])
def test_what_a_function_gives_to_a_prompt_is_evidence(function):
    assert found_in(RunnableLambda(function)) == [["\n\n".join(TEXTS)]] * 3


def test_neither_the_question_nor_a_models_text_is():
    def answer(asked):
        draft = WRITE.invoke({"context": "", "question": asked})
        again = WRITE.invoke({"context": draft, "question": asked})
        return WRITE.invoke({"context": asked, "question": again})

    assert found_in(RunnableLambda(answer)) == [[], [], []]


def test_nor_what_only_another_prompt_was_given():
    def answer(asked):
        WRITE.invoke({"context": "Ann asked three times.", "question": "How often?"})
        return ScriptedChat().invoke(asked)

    assert found_in(RunnableLambda(answer)) == [[], [], []]


# A search that is a step inside a function -------------------------------------------------------

SEARCHES = {
    "documents": lambda asked: DOCUMENTS,
    "texts under a key": lambda asked: {"context": TEXTS},
}


@pytest.mark.parametrize("kind", SEARCHES)
def test_a_search_that_is_a_runnable_is_seen_inside_a_function(kind):
    """As the README says, also where the texts have fewer than 80 characters."""
    search = RunnableLambda(SEARCHES[kind])

    def answer(asked):
        search.invoke(asked)
        return ScriptedChat().invoke(f"Use {' '.join(TEXTS)} for: {asked}")

    async def aanswer(asked):
        await search.ainvoke(asked)
        return await ScriptedChat().ainvoke(f"Use {' '.join(TEXTS)} for: {asked}")

    assert found_in(RunnableLambda(answer)) == [TEXTS] * 3
    assert found_in(RunnableLambda(answer, aanswer)) == [TEXTS] * 3
    guard = ScriptedGuard()
    node = guard_node(guard, lambda state: {"answer": answer(state["question"]).text})
    node.invoke({"question": ASKED})
    watch = FranqCallback(guard)
    RunnableLambda(answer).invoke(ASKED, {"callbacks": [watch]})
    assert watch.flush(20)
    assert [[passage.text for passage in trace.passages] for trace in guard.traces] == [TEXTS] * 2


def test_without_the_step_the_answer_is_unverified_and_the_log_says_what_to_do(caplog):
    def answer(asked):
        return ScriptedChat().invoke(f"Use {' '.join(TEXTS * 40)} for: {asked}")

    guard = Guard(faithfulness=FakeFaithfulness())
    message = guard_chain(RunnableLambda(answer), guard).invoke(ASKED)
    report = message.response_metadata["franq"]
    assert report["status"] == "unverified"
    assert {verdict["reason"] for verdict in report["verdicts"]} == {"no_evidence"}
    assert "RunnableLambda(search)" in caplog.text


# Names beside the answer --------------------------------------------------------------------------

NAMES = {
    "titles": lambda about: about["title"],
    "files": lambda about: f"{about['title']}.pdf",
    "links": lambda about: f"https://example.com/{'long/' * 20}{about['page']}",
    "rows": lambda about: about,
}


class State(TypedDict, total=False):
    question: str
    documents: list[Document]
    answer: Any
    sources: list[Any]
    franq: dict[str, Any]


@pytest.mark.parametrize("kind", NAMES)
def test_names_of_sources_do_not_hide_the_documents_of_a_state(kind):
    def write(state: State) -> State:
        given = {"context": format_docs(state["documents"]), "question": state["question"]}
        named = [NAMES[kind](document.metadata) for document in state["documents"]]
        return {"answer": WRITE.invoke(given), "sources": named}

    guard = ScriptedGuard()
    built = StateGraph(State)
    built.add_node("retrieve", lambda state: {"documents": DOCUMENTS})
    built.add_node("write", guard_node(guard, write))
    built.add_edge(START, "retrieve")
    built.add_edge("retrieve", "write")
    built.add_edge("write", END)
    built.compile().invoke({"question": ASKED})
    assert [[p.text for p in trace.passages] for trace in guard.traces] == [TEXTS]


@pytest.mark.parametrize("kind", NAMES)
def test_nor_those_that_a_step_found(kind):
    search = RunnableParallel(docs=lambda _: DOCUMENTS, question=RunnablePassthrough())
    filled = RunnableLambda(lambda v: {"context": format_docs(v["docs"]), **v})
    named = RunnableLambda(lambda v: [NAMES[kind](doc.metadata) for doc in v["docs"]])
    chain = search | RunnableParallel(answer=filled | WRITE, sources=named)
    assert found_in(chain) == [TEXTS] * 3
