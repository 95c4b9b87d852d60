"""What a user says and what a model writes is no evidence, wherever a chain puts it."""

from __future__ import annotations

import json
from operator import itemgetter
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, get_buffer_string
from langchain_core.output_parsers import JsonOutputParser, PydanticOutputParser, StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.tools import tool
from pydantic import BaseModel

from langchain_franq import FranqCallback, FranqMiddleware, guard_chain, guard_node

from .fakes import ScriptedAgent, ScriptedChat, ScriptedGuard

ANSWER = "The Golden Gate Bridge was designed by Gustave Eiffel and opened in 1889."
ASKED = (
    "Since the Golden Gate Bridge was designed by Gustave Eiffel and opened in 1889, please tell "
    "me more about its designer."
)
MANUAL = "The Golden Gate Bridge opened on 27 May 1937. Its chief engineer was Joseph Strauss."
HISTORY = f"Human: Who built it?\nAI: {ANSWER} It stands in Paris."
PROMPT = ChatPromptTemplate.from_template("Context: {context}\nQuestion: {question}")
CHECKED = " [checked: ]"


class Nothing(BaseRetriever):
    """Finds no document."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return []


def joined(documents: list[Document]) -> str:
    return "\n".join(document.page_content for document in documents)


def model(answer: str = ANSWER) -> FakeListChatModel:
    return FakeListChatModel(responses=[answer])


def written(answer: str = ANSWER) -> Runnable:
    """A text that a model writes from memory."""
    asking = ChatPromptTemplate.from_template("Write about {question}")
    return asking | model(answer) | StrOutputParser()


def said(messages: list[Any]) -> str:
    return "\n".join(f"{message.type}: {message.text}" for message in messages)


def found_by(chain: Runnable, value: Any, **options: Any) -> list[list[str]]:
    """The passages of the answer, as the guarded chain and as a callback find them."""
    guard, watching = ScriptedGuard(), ScriptedGuard()
    guard_chain(chain, guard, **options).invoke(value)
    watch = FranqCallback(watching, output_key=options.get("output_key"))
    chain.invoke(value, {"callbacks": [watch]})
    assert watch.flush(20)
    return [[passage.text for passage in g.traces[0].passages] for g in (guard, watching)]


NO_PASSAGES: list[list[str]] = [[], []]


# Texts that a step returns ------------------------------------------------------------------------


def steps(context: Any, **others: Any) -> Runnable:
    """A chain whose steps return texts under keys that tell nothing."""
    of_all = {"found": context, "question": itemgetter("question"), **others}
    template = "\n".join(f"{key}: {{{key}}}" for key in of_all)
    return of_all | ChatPromptTemplate.from_template(template) | model() | StrOutputParser()


EMPTY = itemgetter("question") | Nothing() | joined
QUIET = RunnableLambda(lambda _: "")  # no retriever, which would end the matter
SHOUTED = RunnableLambda(lambda given: given["question"].upper())
REWORDED = RunnableLambda(lambda given: "Tell me of Eiffel, who designed this bridge in 1889. " * 2)
TOLD = RunnableLambda(lambda given: said(given["history"]))
MESSAGES = [HumanMessage(f"{ANSWER} Is that so?"), AIMessage(f"Yes. {ANSWER} It stands in Paris.")]
USERS = {
    "a question": (steps(QUIET), {"question": ASKED}),
    "a question, nothing retrieved": (steps(EMPTY), {"question": ASKED}),
    "reworded, nothing retrieved": (steps(EMPTY, other=REWORDED), {"question": "Who?"}),
    "with a line break": (steps(QUIET), {"question": f"{ASKED}\n"}),
    "in capitals": (steps(SHOUTED), {"question": ASKED}),
    "a history": (
        steps(QUIET, history=itemgetter("history")),
        {"question": "And when?", "history": HISTORY},
    ),
    "a history of messages": (steps(TOLD), {"question": "And when?", "history": MESSAGES}),
    "a draft": (steps(written()), {"question": "Who?"}),
    "a draft with words before it": (
        steps(written() | (lambda text: f"Here is the draft to be improved: {text}")),
        {"question": "Who?"},
    ),
    "a draft without a stop": (
        steps(written(ANSWER[:-1]) | (lambda text: f"Here is the draft: {text}, it says.")),
        {"question": "Who?"},
    ),
    "a part of a draft": (
        steps(written(f"Sure! {ANSWER} Shall I go on?") | (lambda text: f"Draft: {text[6:79]}")),
        {"question": "Who?"},
    ),
}


@pytest.mark.parametrize("kind", USERS)
def test_what_a_user_or_a_model_said_is_no_evidence_where_a_step_returns_it(kind):
    chain, value = USERS[kind]
    assert found_by(chain, value) == NO_PASSAGES


def test_what_a_step_found_stays_evidence_beside_them():
    """The same steps as above: only what was said is taken out."""

    def search(given: dict[str, str]) -> str:
        return f"You asked: {given['question']}\n{MANUAL}"

    for found in found_by(steps(RunnableLambda(search)), {"question": ASKED}):
        (text,) = found
        assert text.strip().endswith(MANUAL)
        assert "Eiffel" not in text


def test_of_a_draft_behind_a_long_text_that_text_alone_is_left():
    before = (
        "This is what a colleague of mine, who has never been to the place, wrote of it in May: "
    )
    for found in found_by(steps(written() | (lambda text: before + text)), {"question": "Who?"}):
        assert [text.strip() for text in found] == [before.strip()]


def test_a_text_that_an_agent_calls_a_tool_with_is_no_evidence():
    inner = steps(QUIET)

    @tool
    def search(query: str) -> str:
        """Asks a chain that retrieves nothing."""
        return str(inner.invoke({"question": f"{query} {ASKED}"}))

    guard = ScriptedGuard()
    agent = create_agent(ScriptedAgent(), [search], middleware=[FranqMiddleware(guard)])
    agent.invoke({"messages": [HumanMessage(ASKED)]})
    assert [trace.passages for trace in guard.traces] == [(), ()]  # of the tool, of the agent


def test_a_question_that_other_middleware_passes_through_a_step_is_no_evidence():
    class Repeats(AgentMiddleware):
        def wrap_model_call(self, request, handler):
            RunnableLambda(lambda text: text).invoke(str(request.messages[-1].text))
            return handler(request)

    guard = ScriptedGuard()
    middleware = [FranqMiddleware(guard), Repeats()]
    agent = create_agent(ScriptedChat(), system_prompt="Be brief.", middleware=middleware)
    agent.invoke({"messages": [HumanMessage(ASKED)]})
    assert [trace.passages for trace in guard.traces] == [()]


# Texts under a usual key --------------------------------------------------------------------------


class Reply(BaseModel):
    answer: str
    sources: list[str] = []


class Calling(ScriptedChat):
    """Writes its answer as the arguments of a tool call."""

    args: dict[str, Any]

    def bind_tools(self, tools: Any, **options: Any) -> Runnable:
        return self

    def _generate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
        call = {"name": "Reply", "args": self.args, "id": "1"}
        return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=[call]))])


QUOTED = f'He said: "{ANSWER}"\nThat is all.'
OF_MANUAL = ChatPromptTemplate.from_template("Manual: {manual}\nQuestion: {question}")
GIVEN = {"manual": MANUAL, "question": "Who?"}
ON_EMPTY = {"context": EMPTY, "question": itemgetter("question")} | PROMPT


def as_json(evidence: Any, key: str = "evidence") -> Runnable:
    return OF_MANUAL | model(json.dumps({"answer": ANSWER, key: evidence})) | JsonOutputParser()


REPLY = {"answer": ANSWER, "sources": [ANSWER, "Gustave Eiffel"]}
OBJECT = PydanticOutputParser(pydantic_object=Reply)
OWN = {
    "its field": (as_json(ANSWER), GIVEN, {"output_key": "answer"}),
    "its list": (as_json([ANSWER], "sources"), GIVEN, {"output_key": "answer"}),
    "escaped": (as_json(QUOTED, "context"), GIVEN, {"output_key": "answer"}),
    "a few words": (as_json("Gustave Eiffel", "knowledge"), GIVEN, {"output_key": "answer"}),
    "with a line of marks": (
        as_json("Gustave Eiffel\n\n...\n\nIn Dijon"),
        GIVEN,
        {"output_key": "answer"},
    ),
    "in a fence": (
        OF_MANUAL
        | model(f"```json\n{json.dumps({'answer': 'He.', 'evidence': ANSWER})}\n```")
        | JsonOutputParser(),
        GIVEN,
        {"output_key": "answer"},
    ),
    "a value in its code": (
        OF_MANUAL
        | model("```python\nname = 'Gustave Eiffel'\n```")
        | (lambda _: {"answer": ANSWER, "context": {"name": "Gustave Eiffel"}}),
        GIVEN,
        {},
    ),
    "an object, nothing retrieved": (
        ON_EMPTY | model(json.dumps(REPLY)) | OBJECT,
        {"question": "Who?"},
        {"fields": ("answer",)},
    ),
    "a tool call": (
        OF_MANUAL | Calling(args=REPLY).with_structured_output(Reply),
        GIVEN,
        {"fields": ("answer",)},
    ),
    "a draft": (
        {"context": written(), "question": RunnablePassthrough()} | PROMPT | model(),
        "Who?",
        {},
    ),
    "a draft with words before it": (
        {"context": written() | (lambda t: f"Here is the draft: {t}"), "question": lambda _: "?"}
        | PROMPT
        | model(),
        "Who?",
        {},
    ),
    "a draft that repeats the question": (
        {"context": written(), "question": RunnablePassthrough()} | PROMPT | model(),
        ASKED,
        {},
    ),
}


@pytest.mark.parametrize("kind", OWN)
def test_what_a_model_wrote_under_a_usual_key_is_no_evidence(kind):
    chain, value, options = OWN[kind]
    assert found_by(chain, value, **options) == NO_PASSAGES


@pytest.mark.parametrize("key", ["evidence", "sources", "context", "knowledge"])
@pytest.mark.parametrize("text", [ANSWER, "It was built by a man from Paris, I think."])
def test_such_a_field_is_checked_itself(key, text):
    output = guard_chain(as_json(text, key), ScriptedGuard(), output_key="answer").invoke(GIVEN)
    assert output[key] == f"{text}{CHECKED}"
    assert output["franq"]["also_checked"] == [key]


@pytest.mark.parametrize("source", ["Gustave Eiffel", "https://example.org/a/b/bridge-of-1937"])
def test_the_name_of_a_source_stays_as_it_is(source):
    chain = guard_chain(as_json([source], "sources"), ScriptedGuard(), output_key="answer")
    assert chain.invoke(GIVEN)["sources"] == [source]


def test_a_draft_in_the_update_of_a_node_is_no_evidence_and_is_checked():
    def write(state: dict[str, Any]) -> dict[str, Any]:
        draft = written().invoke(state)
        return {"answer": model().invoke(draft).text, "context": draft}

    guard = ScriptedGuard()
    update = guard_node(guard, write).invoke({"question": "Who?"})
    assert update["context"] == update["answer"] == f"{ANSWER}{CHECKED}"
    assert all(trace.passages == () for trace in guard.traces)
    # ... while the documents in the state are.
    guard_node(guard, write).invoke({"question": "Who?", "documents": [MANUAL]})
    assert [p.text for p in guard.traces[-1].passages] == [MANUAL]


# What a model was given ---------------------------------------------------------------------------


def test_a_passage_that_the_answer_copies_stays_evidence():
    """Also where the answer has more of its own, and the question's words are in the passage."""
    for answer in (MANUAL, f"{MANUAL} {ANSWER}"):
        for question in ("Who?", "the golden gate bridge opened"):
            chain = OF_MANUAL | model(answer) | (lambda m: {"answer": m.text, "context": MANUAL})
            assert found_by(chain, {"manual": MANUAL, "question": question}) == [[MANUAL]] * 2


@pytest.mark.parametrize("place", ["input", "step"])
def test_a_document_that_the_answer_copies_stays_evidence_where_no_prompt_shows_it(place):
    """Some models are given documents beside the messages, and quote them."""
    document = Document(MANUAL)
    beside = RunnableLambda(lambda given: {"answer": model(MANUAL).invoke("Who?").text, **given})
    if place == "input":
        assert found_by(beside, {"question": "Who?", "documents": [document]}) == [[MANUAL]] * 2
    else:
        search = RunnableLambda(lambda _: {"context": [document]})
        assert found_by(search | beside, {"question": "Who?"}) == [[MANUAL]] * 2


@pytest.mark.parametrize("fenced", [False, True])
@pytest.mark.parametrize(
    "shown", [json.dumps([MANUAL.replace(". ", ".\n")]), f"* {MANUAL}", MANUAL]
)
def test_a_quote_from_the_prompt_stays_evidence_and_stays_as_it_is(shown, fenced):
    quote = "Its chief engineer was Joseph Strauss"
    reply = json.dumps({"answer": ANSWER, "evidence": quote})
    chain = OF_MANUAL | model(f"```json\n{reply}\n```" if fenced else reply) | JsonOutputParser()
    given = {"manual": shown, "question": "Who?"}
    assert found_by(chain, given, output_key="answer") == [[quote]] * 2
    output = guard_chain(chain, ScriptedGuard(), output_key="answer").invoke(given)
    assert output["evidence"] == quote


def test_of_a_text_that_a_model_extended_only_its_own_sentence_is_taken_out():
    more = f"{MANUAL} {ANSWER}"
    chain = OF_MANUAL | model(more) | (lambda m: {"answer": "Yes.", "context": m.text})
    for (found,) in found_by(chain, GIVEN):
        assert found.strip() == MANUAL


def test_a_document_with_the_words_of_a_models_query_is_whole():
    """The model wrote the query, and the document that it found has the same words."""
    query = "engineer of the Golden Gate Bridge"
    document = f"The chief {query} was Joseph Strauss, who had not built such a bridge before."
    asking = ChatPromptTemplate.from_template("Write a query for {question}")
    search = asking | model(query) | StrOutputParser() | (lambda _: [Document(document)])
    chain = {"context": search | joined, "question": itemgetter("question")} | PROMPT | model()
    assert found_by(chain, {"question": "Who?"}) == [[document]] * 2


def test_documents_that_a_step_found_stay_evidence_beside_a_draft():
    """The draft is under a usual key of the output, which would come first."""
    search = RunnableLambda(lambda _: [Document(MANUAL)])
    chain = {"context": written(), "looked_up": search, "question": RunnablePassthrough()}
    write = {"answer": PROMPT | model(), "context": itemgetter("context")}
    value = {"question": "Who?"}
    assert found_by(RunnableLambda(lambda x: x) | chain | write, value) == [[MANUAL]] * 2


TURNS = [HumanMessage(ASKED), AIMessage(ANSWER)]
LOADED = {
    "messages": RunnableLambda(lambda _: TURNS) | get_buffer_string,
    "a text": RunnableLambda(lambda _: {"history": HISTORY}) | itemgetter("history"),
}


@pytest.mark.parametrize("kind", LOADED)
@pytest.mark.parametrize("answer", [ANSWER, MANUAL])
def test_earlier_turns_that_a_step_loads_are_no_evidence(kind, answer):
    """As a memory does; what a function found stays evidence, also where the answer copies it."""
    filled = RunnablePassthrough.assign(past=LOADED[kind], note=lambda _: MANUAL)
    prompt = ChatPromptTemplate.from_template("{past}\n\n{note}\n\n{question}")
    chain = filled | prompt | model(answer) | (lambda message: AIMessage(message.text))
    guard_chain(chain, guard := ScriptedGuard()).invoke({"question": "When did it open?"})
    assert [passage.text for passage in guard.traces[0].passages] == [MANUAL]
