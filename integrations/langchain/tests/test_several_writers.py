"""Answers of several model calls: each claim may rest on what any of its writers was given."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel, RunnablePassthrough

from langchain_franq import FranqCallback, guard_chain

from .fakes import TEMPLATE, RunRetriever, ScriptedChat, ScriptedGuard, format_docs, question, said

LEAVE = "Employees get 28 days of paid leave each year, and ask for it two weeks ahead."
LAPTOPS = "Laptops are replaced every four years by the help desk, which is open from 8 to 17."
ASKED = "What about leave and laptops?"


def saying(text: str) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


class Repeating(ScriptedChat):
    """Says the first half of what it is given."""

    def _generate(self, messages: Any, *_: Any, **__: Any) -> Any:
        told = str(messages[-1].text).split("Use this:\n")[1]
        return saying(told.split(",")[0].split(" by ")[0] + ".")


class Found(BaseRetriever):
    """Finds one text."""

    text: str

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(self.text)]


def branch(text: str, model: Any = None) -> Runnable[Any, str]:
    inputs = {"context": Found(text=text) | format_docs, "question": RunnablePassthrough()}
    prompt = ChatPromptTemplate.from_template(TEMPLATE)
    return inputs | prompt | (model or Repeating()) | StrOutputParser()


BRANCHES = RunnableParallel(leave=branch(LEAVE), laptops=branch(LAPTOPS))


def summaries(texts: Any) -> str:
    """A summary of each document, without a last model."""
    prompt = ChatPromptTemplate.from_template(TEMPLATE)
    one = prompt | Repeating() | StrOutputParser()
    made = [one.invoke({"context": text.page_content, "question": ASKED}) for text in texts]
    return "\n".join(f"- {text}" for text in made)


JOINED = {
    "branches": BRANCHES | (lambda found: f"{found['leave']}\n\n{found['laptops']}"),
    "summaries": RunnableLambda(lambda _: [Document(LEAVE), Document(LAPTOPS)]) | summaries,
    "rewritten": BRANCHES | (lambda f: f"{f['leave'].replace('28', '~28')} {f['laptops'][:-6]}y"),
}


@pytest.mark.parametrize("way", ["chain", "callback"])
@pytest.mark.parametrize("kind", JOINED)
def test_an_answer_that_joins_texts_rests_on_what_all_of_them_were_written_from(kind, way):
    guard = ScriptedGuard()
    watch = FranqCallback(guard)
    if way == "chain":
        guard_chain(JOINED[kind], guard).invoke(ASKED)
    else:
        JOINED[kind].invoke(ASKED, {"callbacks": [watch]})
        assert watch.flush(20)
    (trace,) = guard.traces
    # Sorted, because branches run at the same time and either may search first.
    assert sorted(p.text for p in trace.passages) == [LEAVE, LAPTOPS]


class Last(Repeating):
    """Writes once another model has written."""

    after: Any

    def _generate(self, *given: Any, **options: Any) -> Any:
        assert self.after.wait(20)
        return super()._generate(*given, **options)


class First(Repeating):
    """Lets another model write when it has written itself."""

    before: Any

    def _generate(self, *given: Any, **options: Any) -> Any:
        result = super()._generate(*given, **options)
        self.before.set()
        return result


@pytest.mark.parametrize("leave_is_last", [False, True])
def test_an_answer_that_the_application_rewrites_rests_on_its_own_branch(leave_is_last):
    """Whichever of the branches has written last."""
    done = threading.Event()
    models = [First(before=done), Last(after=done)]
    first, second = models[::-1] if leave_is_last else models
    chain = RunnableParallel(
        answer=branch(LEAVE, first) | (lambda text: text.replace("paid leave", "leave")),
        follow_up=branch(LAPTOPS, second),
    )
    guard_chain(chain, guard := ScriptedGuard()).invoke(ASKED)
    found = {trace.generation.text[:5]: [p.text for p in trace.passages] for trace in guard.traces}
    assert found["Emplo"] == [LEAVE]


def test_a_model_that_only_chose_a_way_shows_nothing_of_what_it_was_given():
    """Its word is in the answer by chance; a document that it rejected is none of its passages."""

    class Choosing(ScriptedChat):
        """Finds a document useless."""

        def _generate(self, *_: Any, **__: Any) -> Any:
            return saying("tall")

    def answer(asked: str) -> str:
        used, rejected = RunRetriever().invoke(asked)
        prompt = ChatPromptTemplate.from_template(TEMPLATE)
        Choosing().invoke(f"Is it of use?\n{rejected.page_content}")
        text = (prompt | ScriptedChat()).invoke({"context": used.page_content, "question": asked})
        return f"Answer: {text.text}"

    guard_chain(RunnableLambda(answer), guard := ScriptedGuard()).invoke(question(7))
    assert guard.traces[0].generation.text == f"Answer: {said('run 7')}"
    assert [p.id for p in guard.traces[0].passages] == ["7-tall"]
