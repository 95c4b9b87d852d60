"""guard_node wherever LangGraph takes a node: every state, injected argument and update."""

import asyncio
import operator
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, StreamWriter, interrupt
from pydantic import BaseModel

from langchain_franq import guard_chain, guard_node

from .fakes import RunRetriever, ScriptedChat, ScriptedGuard, ScriptedLLM, said

RAW, CHECKED = said("run 7"), f"{said('run 7')} [checked: ]"


class Dict(TypedDict, total=False):
    question: str
    answer: Any


@dataclass
class Data:
    question: str = ""
    answer: Any = None


class Pydantic(BaseModel):
    question: str = ""
    answer: Any = None


STATES = {"dict": Dict, "dataclass": Data, "pydantic": Pydantic}


@dataclass
class Context:
    user: str = "ann"


def graph(writer, state: Any = Dict, *, after=None, **options):
    built = StateGraph(state, context_schema=Context)
    built.add_node("write", guard_node(ScriptedGuard(), writer, **options))
    built.add_edge(START, "write")
    if after is not None:
        built.add_node("after", after)
        built.add_edge("after", END)
    return built


def both(built, value=None, **options):
    """Sync and async."""
    value = {"question": "How tall is the tower of run 7?"} if value is None else value
    yield built.invoke(value, **options)
    yield asyncio.run(built.ainvoke(value, **options))


def question_in(state) -> str:
    return state["question"] if isinstance(state, dict) else state.question


def write(state):
    return {"answer": ScriptedLLM().invoke(question_in(state))}


async def awrite(state):
    return {"answer": await ScriptedLLM().ainvoke(question_in(state))}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", ["dict", "object", "pairs", "command", "several", "async"])
def test_states_and_updates_of_every_class(state, kind):
    made = {
        "dict": write,
        "async": awrite,
        "object": lambda s: STATES[state](**write(s)),
        "pairs": lambda s: Command(update=[*write(s).items()]),
        "several": lambda s: [Command(update=write(s)), {"question": "Another?"}],
        "command": lambda s: Command(update=write(s), goto=END),
    }[kind]
    built = graph(made, STATES[state]).compile()
    runs = both(built) if kind != "async" else [asyncio.run(built.ainvoke({"question": RAW}))]
    for output in runs:
        assert output["answer"] == CHECKED


class Found(TypedDict):
    question: str
    found: list


def test_a_writer_with_a_state_of_its_own_gets_it_as_the_readme_says():
    def search(state: Dict) -> Found:
        return {"found": RunRetriever().invoke(state["question"])}

    def answer(state: Found) -> Dict:
        return {"answer": ScriptedLLM().invoke(state["found"][0].page_content)}

    guard = ScriptedGuard()
    built = StateGraph(Dict).add_node(search).add_edge(START, "search").add_edge("search", "write")
    built.add_node("write", guard_node(guard, answer), input_schema=Found)
    output = built.compile().invoke({"question": "How tall is the tower of run 7?"})
    assert output["answer"] == f"{RAW} [checked: Tower 7]"


def test_a_command_goes_where_it_says():
    seen = []
    built = graph(lambda s: Command(update=write(s), goto="after"), after=seen.append)
    for output in both(built.compile()):
        assert output["answer"] == CHECKED
    assert [state["answer"] for state in seen] == [CHECKED] * 2


@pytest.mark.parametrize("asynchronous", [False, True])
def test_everything_is_injected(asynchronous):
    seen = []

    def note(config, runtime, writer, store):
        seen.append((config["metadata"]["x"], runtime.context.user, store.get(("a",), "k").value))
        writer({"progress": "half"})

    def injected(
        state, config: RunnableConfig, *, runtime: Runtime[Context], writer: StreamWriter,
        store: BaseStore,
    ):  # fmt: skip
        note(config, runtime, writer, store)
        return write(state)

    async def ainjected(
        state, config: RunnableConfig, *, runtime: Runtime[Context], writer: StreamWriter,
        store: BaseStore,
    ):  # fmt: skip
        note(config, runtime, writer, store)
        return await awrite(state)

    store = InMemoryStore()
    store.put(("a",), "k", {"v": 1})
    built = graph(ainjected if asynchronous else injected).compile(store=store)
    given, options = (
        {"question": RAW},
        {"context": Context("bob"), "stream_mode": ["custom", "values"]},
    )

    async def streamed():
        return [c async for c in built.astream(given, {"metadata": {"x": 1}}, **options)]

    shown = [asyncio.run(streamed())]
    if not asynchronous:
        shown.append(list(built.stream(given, {"metadata": {"x": 1}}, **options)))
    for chunks in shown:
        assert ("custom", {"progress": "half"}) in chunks
        assert chunks[-1] == ("values", {"question": RAW, "answer": CHECKED})
    assert set(map(str, seen)) == {str((1, "bob", {"v": 1}))}


@pytest.mark.parametrize(
    "returned",
    [
        lambda raw: [AIMessage(raw)],
        lambda raw: AIMessage(raw),
        lambda raw: [("ai", raw)],
        lambda raw: ("ai", raw),
        lambda raw: [{"role": "assistant", "content": raw}],
        lambda raw: {"role": "assistant", "content": raw},
    ],
)
@pytest.mark.parametrize("reducer", [add_messages, operator.add])
def test_messages_of_every_form_carry_the_report(returned, reducer):
    class State(TypedDict):
        messages: Annotated[list, reducer]  # there is no key for the report

    def answer(state):
        return {"messages": returned(ScriptedChat().invoke("run 7").text)}

    built = StateGraph(State)
    built.add_node("write", guard_node(ScriptedGuard(), answer))
    built.add_edge(START, "write")
    built.add_edge("write", END)
    for given in (
        HumanMessage("How tall?"),
        ("user", "How tall?"),
        {"role": "user", "content": "How?"},
    ):
        for output in both(built.compile(), {"messages": [given]}):
            assert len(output["messages"]) == 2
            last = output["messages"][-1]
            assert last.text == CHECKED
            assert last.response_metadata["franq"]["status"] == "ok"


def test_a_question_in_tuples_is_found():
    guard = ScriptedGuard()
    guard_node(guard, write).invoke({"question": "", "messages": [("user", "How tall?")]})
    guard_node(guard, write).invoke({"question": "Why?", "messages": [("user", "How tall?")]})
    assert [trace.question for trace in guard.traces] == ["How tall?", "Why?"]


def test_the_rest_of_the_update_stays():
    node = guard_node(ScriptedGuard(), lambda s: {**write(s), "count": 3, "tags": ["a"]})
    update = node.invoke({"question": RAW, "other": 1})
    assert {key: update[key] for key in ("count", "tags", "answer")} == {
        "count": 3,
        "tags": ["a"],
        "answer": CHECKED,
    }
    assert "other" not in update


def test_an_interrupt_inside_the_writer_resumes():
    def asking(state):
        return {"answer": RAW if interrupt("sure?") else "No."}

    built = graph(asking).compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    assert built.invoke({"question": "?"}, config)["__interrupt__"]
    assert built.invoke(Command(resume=True), config)["answer"] == CHECKED


class Report(BaseModel):
    title: str
    parts: list[str] = field(default_factory=list)


def test_a_structured_answer_is_checked_field_by_field():
    class State(TypedDict, total=False):
        question: str
        report: Any

    def structured(state):
        return {"report": Report(title="T", parts=[RAW, "It is old."])}

    built = StateGraph(State)
    built.add_node("write", guard_node(ScriptedGuard(), structured, fields=("report.parts",)))
    built.add_edge(START, "write")
    built.add_edge("write", END)
    for output in both(built.compile()):
        assert output["report"] == Report(title="T", parts=[CHECKED, "It is old. [checked: ]"])


def test_a_mistyped_field_is_warned_of(caplog):
    node = guard_node(
        ScriptedGuard(), lambda _: {"report": {"title": RAW}}, fields=("report.name",)
    )
    assert node.invoke({"question": "?"})["report"] == {"title": RAW}
    assert "fields=('report.name',)" in caplog.text


def test_a_task_inside_a_guarded_node_is_refused():
    from langgraph.func import task

    @task
    def ask(text: str) -> str:
        return ScriptedLLM().invoke(text)

    built = graph(lambda s: {"answer": ask(s["question"]).result()}).compile()
    with pytest.raises(TypeError, match="@task inside a guarded node"):
        built.invoke({"question": RAW})


def test_what_streams_inside_the_guard_still_does():
    """An agent that is read token by token, inside a guarded function."""
    inner = StateGraph(TypedDict("S", {"messages": Annotated[list, add_messages]}))
    inner.add_node("say", lambda s: {"messages": ScriptedChat().invoke(s["messages"])})
    inner.add_edge(START, "say")
    compiled = inner.compile()

    def read(state):
        given = {"messages": [HumanMessage("run 7")]}
        tokens = [m.text for m, _ in compiled.stream(given, stream_mode="messages")]
        assert len(tokens) > 3
        return {"answer": "".join(tokens)}

    shown = list(graph(read).compile().stream({"question": "?"}, stream_mode="messages"))
    assert shown == []  # the answer is a string, and no token of the inner model is seen
    for output in both(graph(read).compile(), {"question": "?"}):
        assert output["answer"] == CHECKED


WRONG = ["policy", "class", "none"]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("make", ["guard_chain", "guard_node", "FranqMiddleware", "capture"])
def test_a_wrong_guard_is_refused_with_what_to_pass(make, wrong):
    from franq_guard import Guard, Policy
    from langchain_franq import FranqMiddleware, capture

    given = {"policy": Policy(), "class": Guard, "none": None}[wrong]
    says = r"Guard\.offline\(policy=Policy" if wrong == "policy" else r"pass Guard\.offline\(\)"
    with pytest.raises(TypeError, match=f"{make} wants .*{says}"):  # noqa: PT012
        if make == "guard_chain":
            guard_chain(ScriptedLLM(), given)
        elif make == "guard_node":
            guard_node(given)
        elif make == "FranqMiddleware":
            FranqMiddleware(given)
        else:
            with capture() as run:
                run.check(given, "?", "x")


def test_a_writer_that_is_none_is_refused():
    with pytest.raises(TypeError, match=r"guard_node\(guard, write\)"):
        guard_node(ScriptedGuard(), "write")


# No answer this time ------------------------------------------------------------------------------

STATEMENT = HumanMessage("The tower was built by Gustave Eiffel in Rome. Tell me about it.")
FOUND = [Document("The tower of run 7 is tall.")]
NO_ANSWERS = [
    {"documents": FOUND},
    {"documents": ["The tower of run 7 is tall."]},
    {},
    None,
    Command(goto=END),
    {"messages": [HumanMessage("Anything else that I can look up?")]},
    {"route": "search", "tries": 2},
]


@pytest.mark.parametrize("update", NO_ANSWERS)
@pytest.mark.parametrize("answer", [None, "answer"])
def test_an_update_without_an_answer_is_returned_as_it_is(update, answer):
    guard = ScriptedGuard()
    node = guard_node(guard, lambda state: update, answer=answer)
    state = {"messages": [STATEMENT], "answer": CHECKED, "route": ""}
    assert node.invoke(state) == update
    assert asyncio.run(node.ainvoke(state)) == update
    assert guard.traces == []


def test_a_search_before_the_first_answer_is_returned_as_it_is():
    for options in ({}, {"answer": "reply"}, {"fields": ("reply",)}):
        node = guard_node(ScriptedGuard(), lambda state: {"documents": FOUND}, **options)
        assert node.invoke({"question": "How tall?"}) == {"documents": FOUND}


def test_after_the_users_message_there_is_nothing_to_correct():
    guard = ScriptedGuard()
    assert guard_node(guard).invoke({"messages": [AIMessage(RAW), STATEMENT]}) == {}
    assert guard.traces == []


class Turns(TypedDict, total=False):
    messages: Annotated[list, add_messages]
    answer: Any
    documents: list
    franq: dict


SECOND = {
    "nothing": lambda state: {},
    "documents": lambda state: {"documents": FOUND},
    "the whole state": lambda state: {**state, "documents": FOUND},
    "the messages": lambda state: {"messages": state["messages"]},
    "a search with words": lambda state: {"documents": FOUND, "messages": [HumanMessage("Wait.")]},
}


@pytest.mark.parametrize("first", ["answer", "messages"])
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("second", SECOND)
def test_the_answer_of_an_earlier_turn_is_not_marked_again(first, second, named):
    def write(state):
        if len(state["messages"]) > 1:
            return SECOND[second](state)
        raw = ScriptedLLM().invoke("run 7")
        return {"answer": raw} if first == "answer" else {"messages": [AIMessage(raw, id="a")]}

    built = StateGraph(Turns)
    built.add_node(
        "write", guard_node(guard := ScriptedGuard(), write, answer=first if named else None)
    )
    built.add_edge(START, "write")
    app = built.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    app.invoke({"messages": [STATEMENT]}, config)
    output = app.invoke({"messages": [STATEMENT.model_copy(update={"id": "2"})]}, config)
    texts = [message.text for message in output["messages"] if isinstance(message, AIMessage)]
    assert ([output["answer"]] if first == "answer" else texts) == [CHECKED]
    assert all(m.text in (STATEMENT.text, CHECKED, "Wait.") for m in output["messages"])
    assert len(guard.traces) == 1


def test_an_agent_that_adds_no_message_changes_none():
    inner = StateGraph(Turns)
    inner.add_node("look", lambda state: {"documents": FOUND})
    inner.add_edge(START, "look")
    guard = ScriptedGuard()
    built = StateGraph(Turns)
    built.add_node("write", guard_node(guard, inner.compile()))
    built.add_edge(START, "write")
    for output in both(built.compile(), {"messages": [AIMessage(RAW), STATEMENT]}):
        assert [m.text for m in output["messages"]] == [RAW, STATEMENT.text]
    assert guard.traces == []


def test_an_answer_that_is_the_same_again_is_checked_again():
    guard = ScriptedGuard()
    node = guard_node(guard, lambda state: {"answer": ScriptedLLM().invoke("run 7")})
    assert node.invoke({"question": "How tall?", "answer": RAW})["answer"] == CHECKED
    assert len(guard.traces) == 1


@pytest.mark.parametrize("around", ["", "The researcher says: "])
def test_what_a_model_wrote_is_checked_also_as_a_message_of_a_user(around):
    """Several agents may talk to each other in messages of users."""

    def research(state):
        return {"messages": [HumanMessage(around + ScriptedLLM().invoke("run 7"), name="research")]}

    (message,) = guard_node(ScriptedGuard(), research).invoke({"messages": [STATEMENT]})["messages"]
    assert message.text == f"{around}{CHECKED}"


def test_a_models_text_under_an_unknown_key_is_checked_beside_messages():
    node = guard_node(ScriptedGuard(), lambda state: {"reply": ScriptedLLM().invoke("run 7")})
    update = node.invoke({"messages": [STATEMENT]})
    assert update["reply"] == CHECKED
    assert list(update["franq"]["fields"]) == [RAW]
    assert "messages" not in update


@pytest.mark.parametrize("key", ["generation", "reply"])
def test_a_text_of_a_client_that_langchain_does_not_see_is_checked_beside_messages(key):
    """The node calls a provider's own client, so no event tells what a model wrote."""
    node = guard_node(ScriptedGuard(), lambda state: {key: RAW, "documents": FOUND, "route": "end"})
    update = node.invoke({"messages": [STATEMENT]})
    assert update[key].startswith(f"{RAW} [checked")
    assert (update["documents"], update["route"]) == (FOUND, "end")
    assert "franq" in update


@pytest.mark.parametrize("answer", [None, "answr"])
def test_a_text_that_may_be_the_answer_does_not_pass_unnamed(answer):
    node = guard_node(ScriptedGuard(), lambda state: {"reply": RAW}, answer=answer)
    with pytest.raises(KeyError, match="name the one that holds the answer"):
        node.invoke({"question": "How tall?"})


def test_a_message_that_only_calls_tools_is_no_answer():
    called = AIMessage("", tool_calls=[{"name": "search", "args": {}, "id": "1"}])
    thought = {"reasoning_content": "It may be tall."}
    reports = []
    writes = guard_node(
        ScriptedGuard(),
        lambda state: {"messages": [called.model_copy(update={"additional_kwargs": thought})]},
        on_report=reports.append,
    )
    for update in (
        writes.invoke({"messages": [HumanMessage("How tall?")]}),
        asyncio.run(writes.ainvoke({"messages": [HumanMessage("How tall?")]})),
    ):
        assert update == {"messages": [called]}  # without its reasoning, which nobody checked
    assert reports == []


@pytest.mark.parametrize("kind", ["answer first", "answer last", "a summary beside"])
def test_messages_that_remove_others_are_no_answer(kind):
    """A node may answer, or sum up, and let earlier turns be forgotten in the same update."""
    asked = HumanMessage("How tall is the tower of run 7?", id="asked")
    turns = [HumanMessage("Hello!", id="old"), AIMessage("Hello.", id="older"), asked]
    forgotten = [RemoveMessage(id="old"), RemoveMessage(id="older")]

    def writer(state):
        said_now = ScriptedChat().invoke(state["messages"])
        if kind == "a summary beside":
            return {"answer_so_far": said_now.text, "messages": forgotten}
        first = kind == "answer first"
        return {"messages": [said_now, *forgotten] if first else [*forgotten, said_now]}

    class State(MessagesState):
        answer_so_far: str
        franq: dict

    reports = []
    built = StateGraph(State).add_node(
        "write", guard_node(ScriptedGuard(), writer, on_report=reports.append)
    )
    output = built.add_edge(START, "write").compile().invoke({"messages": turns})
    assert [report.original for report in reports] == [RAW]
    if kind == "a summary beside":
        assert output["messages"] == [asked]
        assert output["answer_so_far"] == CHECKED
        assert output["franq"]["fields"][RAW]["text"] == CHECKED
    else:
        assert [m.text for m in output["messages"]] == [asked.text, CHECKED]
        assert output["messages"][-1].response_metadata["franq"]["original"] == RAW
        assert output["franq"]["original"] == RAW
