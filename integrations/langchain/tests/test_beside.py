"""No unchecked text of a model is returned with the checked answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.agents import AgentActionMessageLog
from langchain_core.documents import Document
from langchain_core.language_models import FakeListLLM
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.output_parsers import (
    CommaSeparatedListOutputParser,
    JsonOutputParser,
    PydanticOutputParser,
    StrOutputParser,
)
from langchain_core.runnables import (
    RunnableGenerator,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from pydantic import BaseModel

from franq_guard import Policy
from langchain_franq import guard_chain, guard_node

from .fakes import ScriptedChat, ScriptedGuard, ScriptedLLM, lcel, question, said
from .test_middleware import texts_in

RAW = said("run 7")
MARK = " [checked: "


def raw_in(shown: Any) -> list[str]:
    """The texts that spell the answer, or a part of it, without the mark of the check."""
    stretch = "has 7 steps"
    return [text for text in texts_in(shown) if stretch in text and MARK not in text]


def ways(runnable, value) -> dict[str, Any]:
    async def streamed():
        return [chunk async for chunk in runnable.astream(value)]

    return {
        "invoke": runnable.invoke(value),
        "ainvoke": asyncio.run(runnable.ainvoke(value)),
        "batch": runnable.batch([value]),
        "stream": list(runnable.stream(value)),
        "astream": asyncio.run(streamed()),
    }


BESIDE = {
    "a message": lambda raw: {"messages": [HumanMessage("How?"), AIMessage(raw)]},
    "a draft": lambda raw: {"draft": f"First thought: {raw} That is it."},
    "a part": lambda raw: {"summary": raw.split(". ")[1]},
    "steps": lambda raw: {"intermediate_steps": [(action(raw), "found")]},
    "nested": lambda raw: {"debug": {"tries": [{"text": raw}]}},
    "other words": lambda raw: {"messages": [AIMessage("The tower has 7 steps and a bell.")]},
}


def action(raw: str) -> AgentActionMessageLog:
    return AgentActionMessageLog(
        tool="search", tool_input="tower", log=f"Thought: {raw}", message_log=[AIMessage(raw)]
    )


@pytest.mark.parametrize("kind", BESIDE)
def test_texts_beside_the_answer_of_a_chain_are_checked(kind):
    chain = lcel(ScriptedLLM()) | (lambda raw: {"answer": raw, **BESIDE[kind](raw)})
    for way, output in ways(guard_chain(chain, ScriptedGuard()), question(7)).items():
        assert raw_in(output) == [], way
        shown = output[-1] if isinstance(output, list) else output
        assert shown["franq"]["also_checked"] == [next(iter(BESIDE[kind](RAW)))], way


def _parallel(**texts):
    return RunnableParallel({key: FakeListLLM(responses=[text]) for key, text in texts.items()})


def test_a_short_text_that_is_all_a_model_wrote_is_checked():
    written = {"year": "It opened in 1937.", "designer": "Gustave Eiffel.", "height": "227 metres"}
    chain = guard_chain(_parallel(**written), ScriptedGuard(), output_key="year")
    for way, output in ways(chain, "?").items():
        (shown,) = output if isinstance(output, list) else [output]
        assert {key: shown[key] for key in written} == {
            key: f"{text} [checked: ]" for key, text in written.items()
        }, way
        assert shown["franq"]["also_checked"] == ["designer", "height"], way


def test_a_route_and_a_part_of_few_words_stay_as_they_are():
    """One word states nothing; two words of a longer text may be anyone's."""
    chain = _parallel(
        answer="It opened in 1937.", route="billing", name="By Gustave Eiffel of Dijon."
    )
    chain |= lambda output: {**output, "name": "Gustave Eiffel"}
    output = guard_chain(chain, ScriptedGuard()).invoke("?")
    assert (output["route"], output["name"]) == ("billing", "Gustave Eiffel")
    assert "also_checked" not in output["franq"]


def test_what_no_model_wrote_stays_as_it_is():
    beside = {
        "question": question(7),
        "route": "archive",
        "context": [Document("The tower of run 7 is tall. It has 7 steps.")],
        "sources": "The tower of run 7 is tall, says a book.",
        "messages": [HumanMessage("Has it 7 steps?"), ToolMessage("It has 7", tool_call_id="1")],
        "score": 0.5,
    }
    chain = lcel(ScriptedLLM()) | (lambda raw: {"answer": raw, **beside})
    output = guard_chain(chain, ScriptedGuard()).invoke(question(7))
    assert {key: output[key] for key in beside} == beside
    assert "also_checked" not in output["franq"]


@dataclass
class Page:
    text: str
    parent: Any = None
    parts: list[Any] = field(default_factory=list)


def _page(draft: str) -> Page:
    """A page whose part knows it, so that it is inside itself."""
    page = Page("Towers")
    page.parts.append(Page(draft, parent=page))
    return page


def test_an_object_that_is_inside_itself_breaks_nothing():
    """In the input, the output and the state of a graph; what a model wrote in it is checked."""
    checked = f"{RAW} [checked: ]"
    chain = RunnablePassthrough.assign(answer=lambda v: ScriptedLLM().invoke("run 7"))
    chain = chain | RunnablePassthrough.assign(draft=lambda v: _page(v["answer"]))
    output = guard_chain(chain, ScriptedGuard()).invoke({"question": "Why?", "page": _page("Mine")})
    assert output["answer"] == checked
    assert output["draft"].parts[0].text == checked
    assert output["page"].parts[0].text == "Mine"

    class State(TypedDict, total=False):
        page: Page
        answer: str

    node = guard_node(ScriptedGuard(), lambda state: {"answer": ScriptedLLM().invoke("run 7")})
    graph = StateGraph(State).add_node("write", node).add_edge(START, "write").compile()
    assert graph.invoke({"page": _page("Mine")})["answer"] == checked


def test_raise_on_holds_for_texts_beside_the_answer():
    from langchain_franq import FactualityError

    class Strict(ScriptedGuard):
        def check_trace(self, trace):
            self.label = "false" if "bell" in trace.generation.text else "supported"
            return super().check_trace(trace)

    chain = RunnableLambda(lambda _: {"answer": "Yes.", **BESIDE["other words"]("")})
    with pytest.raises(FactualityError):
        guard_chain(chain, Strict(), raise_on=("false",)).invoke("How?")


def test_reasoning_and_log_probabilities_are_taken_out_and_it_is_said():
    thought = {"type": "reasoning", "id": "r1", "reasoning": "It has 7 steps, I think."}
    thinking = {"type": "thinking", "thinking": "It has 7 steps", "signature": "abc"}
    message = AIMessage(
        [thought, thinking, {"type": "text", "text": "It has 7 steps."}],
        response_metadata={"logprobs": {"content": [{"token": "It has 7 steps."}]}, "model": "m"},
        additional_kwargs={"reasoning_content": "It has 7 steps", "kept": 1},
    )
    for output in ways(
        guard_chain(RunnableLambda(lambda _: message), ScriptedGuard()), "?"
    ).values():
        (found,) = output if isinstance(output, list) else [output]
        assert raw_in(found) == []
        assert found.content[:2] == [
            {"type": "reasoning", "id": "r1", "reasoning": ""},
            {"type": "thinking", "thinking": "", "signature": "abc"},
        ]
        assert found.additional_kwargs == {"kept": 1}
        assert "logprobs" not in found.response_metadata
        assert found.response_metadata["franq"]["removed"] == [
            "logprobs",
            "reasoning",
            "reasoning_content",
        ]


def test_an_unchanged_answer_keeps_its_log_probabilities():
    class Silent(ScriptedGuard):
        def check_trace(self, trace):
            from dataclasses import replace

            checked = super().check_trace(trace)
            return replace(checked, text=checked.original)

    message = AIMessage("Yes.", response_metadata={"logprobs": {"content": []}, "x": 1})
    output = guard_chain(RunnableLambda(lambda _: message), Silent()).invoke("?")
    assert set(output.response_metadata) == {"logprobs", "x", "franq"}


@pytest.mark.parametrize("around", ["chain", "node"])
def test_streamed_reasoning_does_not_leave(around):
    def steps(_):
        yield AIMessageChunk([{"type": "reasoning", "reasoning": "It has 7 steps", "index": 0}])
        yield AIMessageChunk([{"type": "text", "text": "It has 7 steps.", "index": 1}])

    writer = RunnableGenerator(steps)
    if around == "chain":
        for mode in ("buffer", "claims"):
            guard = ScriptedGuard() if mode == "buffer" else _real_guard()
            chunks = list(guard_chain(writer, guard, stream=mode).stream("How?"))
            blocks = [b for c in chunks if isinstance(c.content, list) for b in c.content]
            assert not any(block.get("reasoning") for block in blocks if isinstance(block, dict))
            text = "".join(str(c.text) for c in chunks)
            assert text in ("It has 7 steps. [checked: ]", "It has 7 steps [unverified].")
    else:
        update = guard_node(ScriptedGuard(), writer | (lambda m: {"answer": m})).invoke({"q": "?"})
        assert raw_in(update) == []


def _real_guard(**options):
    from franq_guard import Guard
    from franq_guard.testing import FakeFaithfulness

    return Guard(faithfulness=FakeFaithfulness(), **options)


# Numbers, nested outputs, structures --------------------------------------------------------------


WRAPS = [lambda v: v, lambda v: {"answer": v}, lambda v: {"result": {"answer": v}}]


@pytest.mark.parametrize("answer", [42, 4.5, True])
@pytest.mark.parametrize("wrap", WRAPS)
def test_a_number_is_checked_and_stays_one_where_nothing_is_marked(answer, wrap):
    class Silent(ScriptedGuard):
        def check_trace(self, trace):
            from dataclasses import replace

            return replace(super().check_trace(trace), text=trace.generation.text)

    def value(output):
        while isinstance(output, dict):
            output = next(v for k, v in output.items() if k != "franq")
        return output

    for guard, expected in ((Silent(), answer), (ScriptedGuard(), f"{answer} [checked: ]")):
        chain = guard_chain(RunnableLambda(lambda _: wrap(answer)), guard)
        for way, output in ways(chain, "How many?").items():
            (shown,) = output if isinstance(output, list) else [output]
            assert value(shown) == expected, way
        assert {trace.generation.text for trace in guard.traces} == {str(answer)}


def test_a_dotted_key_leads_to_a_nested_answer():
    nested = {"reply": {"body": {"words": "Because."}, "id": 3}}
    chain = guard_chain(
        RunnableLambda(lambda _: nested), ScriptedGuard(), output_key="reply.body.words"
    )
    output = chain.invoke("Why?")
    assert output["reply"] == {"body": {"words": "Because. [checked: ]"}, "id": 3}
    assert [chunk["reply"] for chunk in chain.stream("Why?")] == [output["reply"]]


class Finding(BaseModel):
    text: str
    page: int = 1


class Summary(BaseModel):
    title: str
    summary: str
    findings: list[Finding] = []


OBJECT = Summary(title="T", summary="It is tall.", findings=[Finding(text="It is old.")])


@dataclass(frozen=True)
class Plain:
    summary: str = "It is tall."


@pytest.mark.parametrize(
    ("output", "fields", "checked"),
    [
        (OBJECT, ("summary", "findings.text"), {"It is tall.", "It is old."}),
        (OBJECT, ("findings",), {"It is old."}),
        (OBJECT, ("*",), {"T", "It is tall.", "It is old."}),
        (OBJECT.model_dump(), ("summary",), {"It is tall."}),
        (["It is tall.", "It is old."], ("*",), {"It is tall.", "It is old."}),
        (Plain(), ("summary",), {"It is tall."}),
        ([{"text": "It is old.", "n": 1}], ("text",), {"It is old."}),
        ({"facts": {"It is old."}}, ("facts",), {"It is old."}),
        (frozenset(["It is old."]), ("*",), {"It is old."}),
    ],
)
def test_named_fields_are_checked_each_for_itself(output, fields, checked):
    guard, reports = ScriptedGuard(), []
    chain = guard_chain(
        RunnableLambda(lambda _: output), guard, fields=fields, on_report=reports.append
    )
    made = ways(chain, "How?")
    for way, found in made.items():
        if way in ("batch", "stream", "astream"):
            (found,) = found
        marked = {t for t in texts_in(_plain(found)) if MARK in t}
        assert marked == {f"{text} [checked: ]" for text in checked}, way
        assert type(found) is type(output)
    assert {trace.generation.text for trace in guard.traces} == checked
    assert [report.original for report in reports] == ["\n".join(_in_order(output, checked))] * 5


@pytest.mark.parametrize(
    "output",
    [
        {"summary": None, "title": "T"},
        {"summary": "", "title": "T", "note": ""},
        {"summary": []},
        {"title": "T"},
        Summary(title="T", summary=""),
        [{"title": "T"}],
        [],
        None,
    ],
)
def test_named_fields_that_the_model_left_out_do_not_break_the_chain(output, caplog):
    reports = []
    chain = guard_chain(
        RunnableLambda(lambda _: output),
        _real_guard(policy=Policy(action=lambda answer, verdicts: f"{answer} Ask us.")),
        fields=("summary",),
        on_report=reports.append,
    )
    for way, found in ways(chain, "How?").items():
        if way in ("batch", "stream", "astream"):
            (found,) = found
        left = found.pop("franq", None) if isinstance(found, dict) else None
        assert found == output, way
        assert left is None or (left["status"], left["verdicts"]) == ("unverified", [])
    assert {report.status for report in reports} <= {"unverified"}
    warned = [line for line in caplog.messages if "fields=('summary',)" in line]
    assert len(warned) == 1


def test_a_text_in_place_of_a_structure_is_checked_whole():
    """A fallback may return the model's raw text where the parser failed."""
    chain = RunnableLambda(lambda _: "It is tall.")
    guarded = guard_chain(chain, ScriptedGuard(), fields=("summary",))
    assert guarded.invoke("How?") == "It is tall. [checked: ]"
    message = guard_chain(
        RunnableLambda(lambda _: AIMessage("It is tall.")), ScriptedGuard(), fields=("summary",)
    ).invoke("How?")
    assert message.text == "It is tall. [checked: ]"


def _plain(value):
    return value.model_dump() if isinstance(value, BaseModel) else getattr(value, "__dict__", value)


def _in_order(output, checked):
    return [text for text in texts_in(_plain(output)) if text in checked]


MODEL = FakeListLLM(responses=['{"title": "T", "summary": "It is tall.", "findings": []}'])
STRUCTURED = {
    "pydantic": MODEL | PydanticOutputParser(pydantic_object=Summary),
    "list": MODEL | CommaSeparatedListOutputParser(),
    "json": MODEL | JsonOutputParser(),
    "json, retried": (MODEL | JsonOutputParser()).with_retry(),
    "json, with a fallback": (MODEL | JsonOutputParser()).with_fallbacks([MODEL]),
}


@pytest.mark.parametrize("kind", STRUCTURED)
def test_structured_outputs_are_refused_before_a_model_is_paid(kind):
    with pytest.raises(ValueError, match=r"guard before the parser.*fields="):
        guard_chain(STRUCTURED[kind], ScriptedGuard())
    guard_chain(STRUCTURED[kind], ScriptedGuard(), fields=("summary",))


@pytest.mark.parametrize("include_raw", [False, True])
def test_with_structured_output_is_refused_too(include_raw):
    class Structured(ScriptedChat):
        def bind_tools(self, tools, **kwargs):
            return self.bind(tools=tools)

    chain = Structured().with_structured_output(Summary, include_raw=include_raw)
    with pytest.raises(ValueError, match="guard before the parser"):
        guard_chain(chain, ScriptedGuard())


def test_the_advice_works():
    guarded = guard_chain(MODEL, ScriptedGuard()) | StrOutputParser()
    assert guarded.invoke("?").endswith("[checked: ]")


@pytest.mark.parametrize("fields", [(), ("summary",)])
def test_a_streamed_json_answer_is_the_last_of_its_chunks(fields):
    words = ['{"summary": "The br', "idge opened ", 'in 1937.", "n": 1}']
    parser = JsonOutputParser()

    def steps(_):
        yield from words

    chain = RunnableGenerator(steps) | parser
    assert len(list(chain.stream("?"))) > 2  # it does repeat what came before
    options = {"fields": fields} if fields else {"output_key": "summary"}
    (chunk,) = guard_chain(chain, ScriptedGuard(), **options).stream("?")
    assert chunk["summary"] == "The bridge opened in 1937. [checked: ]"
    assert chunk["n"] == 1
    for refused in ({"output_key": "summary"}, {"fields": ("summary",)}):
        with pytest.raises(ValueError, match=r"stream='claims'"):
            guard_chain(chain, _real_guard(), stream="claims", **refused)


def test_pieces_of_dicts_are_still_added_up():
    def steps(_):
        yield {"answer": "The bridge"}
        yield {"answer": " is red."}

    (chunk,) = guard_chain(RunnableGenerator(steps), ScriptedGuard()).stream("?")
    assert chunk["answer"] == "The bridge is red. [checked: ]"


def _streaming(chunks):
    def steps(_):
        yield from chunks

    return RunnableGenerator(steps)


@pytest.mark.parametrize("answer", ["work, bridge opened in 1937", "bridge, bridge opened in 1937"])
def test_the_items_of_a_streamed_list_are_all_there(answer):
    """The parser streams item by item, [bridge] and then [bridge opened in 1937]."""
    chain = FakeListLLM(responses=[answer]) | CommaSeparatedListOutputParser()
    assert all(len(chunk) == 1 for chunk in chain.stream("?"))
    guarded = guard_chain(chain, ScriptedGuard(), fields=("*",))
    expected = [f"{item} [checked: ]" for item in answer.split(", ")]
    assert guarded.invoke("?") == expected
    assert list(guarded.stream("?")) == [expected]


@pytest.mark.parametrize(
    "pieces",
    [
        ['["', "The bridge", ' opened in 1937."]'],  # its first chunk has the only item already
        ["[", '"The bri', 'dge opened in 1937."', "]"],
    ],
)
def test_a_streamed_json_list_is_the_last_of_its_chunks(pieces):
    chain = _streaming(pieces) | JsonOutputParser()
    assert len(list(chain.stream("?"))) > 1
    (chunk,) = guard_chain(chain, ScriptedGuard(), fields=("*",)).stream("?")
    assert chunk == ["The bridge opened in 1937. [checked: ]"]


@pytest.mark.parametrize(
    ("chunks", "whole"),
    [
        ([["a"], ["a", "b"], ["a", "bc"]], ["a", "bc"]),  # each repeats the one before
        ([[], ["a"], ["ab"]], ["ab"]),
        ([["a"], ["ab"]], ["a", "ab"]),  # none is longer: pieces
        ([["a", "b"], ["c"]], ["a", "b", "c"]),
    ],
)
def test_lists_of_an_unknown_step_are_put_together(chunks, whole):
    (made,) = guard_chain(_streaming(chunks), ScriptedGuard(), fields=("*",)).stream("?")
    assert made == [f"{item} [checked: ]" for item in whole]


# Memory -------------------------------------------------------------------------------------------


def _with_history():
    from langchain_core.chat_history import InMemoryChatMessageHistory
    from langchain_core.runnables import RunnableWithMessageHistory

    with pytest.deprecated_call():
        return RunnableWithMessageHistory(ScriptedChat(), lambda _: InMemoryChatMessageHistory())


def _with_checkpointer():
    from langgraph.checkpoint.memory import InMemorySaver

    built = StateGraph(dict)
    built.add_node("write", lambda state: {"answer": "Yes."})
    built.add_edge(START, "write")
    built.add_edge("write", END)
    return built.compile(checkpointer=InMemorySaver())


@pytest.mark.parametrize("inner", [_with_history, _with_checkpointer])
def test_memory_inside_the_guard_is_warned_of(inner):
    chain = inner()
    for wrapped in (chain, RunnablePassthrough() | chain):
        with pytest.warns(UserWarning, match="Put the memory outside"):
            guard_chain(wrapped, ScriptedGuard())
    with pytest.warns(UserWarning, match="guard_node"):
        guard_node(ScriptedGuard(), chain)


class Messages(TypedDict):
    messages: Annotated[list, add_messages]


def test_a_node_that_returns_an_answer_and_messages():
    class State(Messages, total=False):
        question: str
        answer: str

    def write(state):
        raw = ScriptedLLM().invoke(state["question"])
        return {
            "answer": raw,
            "messages": [AIMessage(raw), AIMessage("It has 7 steps and a bell.")],
        }

    built = StateGraph(State)
    built.add_node("write", guard_node(ScriptedGuard(), write))
    built.add_edge(START, "write")
    built.add_edge("write", END)
    graph = built.compile()
    for mode in ("values", "updates", "messages", "debug", "tasks"):
        chunks = list(graph.stream({"question": question(7)}, stream_mode=mode))
        assert chunks
        assert raw_in(chunks) == []
    last = graph.invoke({"question": question(7)})
    assert [m.text for m in last["messages"]] == [
        f"{RAW} [checked: ]",
        "It has 7 steps and a bell. [checked: ]",
    ]


# AgentExecutor ------------------------------------------------------------------------------------


def executor(**options):
    """An AgentExecutor whose agent searches, thinks aloud, and answers."""
    import warnings

    from langchain_classic.agents import AgentExecutor
    from langchain_core.agents import AgentFinish
    from langchain_core.tools import tool

    @tool
    def search(query: str) -> str:
        """Search."""
        return "The tower of run 7 is tall."

    def act(given):
        raw = ScriptedLLM().invoke("run 7")
        if not given["intermediate_steps"]:
            return action(raw)
        return AgentFinish({"output": raw}, f"I know now: {raw}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if options.pop("memory", False):
            from langchain_classic.memory import ConversationBufferMemory

            options["memory"] = ConversationBufferMemory(output_key="output")
        return AgentExecutor(agent=RunnableLambda(act), tools=[search], **options)


def test_an_agent_executor_shows_no_raw_step_and_no_raw_message():
    agent = executor(return_intermediate_steps=True)
    assert raw_in(list(agent.stream({"input": "How tall?"})))  # unguarded it does
    for way, output in ways(guard_chain(agent, ScriptedGuard()), {"input": "How tall?"}).items():
        assert raw_in(output) == [], way
        shown = output[-1] if isinstance(output, list) else output
        assert shown["output"].startswith(f"{RAW} [checked: ")


def test_the_memory_of_an_executor_is_warned_of():
    with pytest.warns(UserWarning, match="the memory of AgentExecutor"):
        guard_chain(executor(memory=True), ScriptedGuard())
