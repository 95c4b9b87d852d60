"""FranqHandler: what it sees and reports of applications that it does not touch."""

from __future__ import annotations

import asyncio
import gc
import logging
import re
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from llama_index.core import Settings
from llama_index.core.base.llms.types import ChatMessage, CompletionResponse
from llama_index.core.base.response.schema import Response
from llama_index.core.callbacks import CallbackManager
from llama_index.core.chat_engine import CondenseQuestionChatEngine, ContextChatEngine
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.query_engine import CustomQueryEngine, RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from pydantic import Field

from franq_guard import Policy
from llama_index_franq import FranqHandler, guard_agent, guard_chat_engine, guard_query_engine

from .agent_fakes import function_agent, look_up, run_of
from .fakes import (
    RunRetriever,
    ScriptedChat,
    ScriptedGuard,
    ScriptedLLM,
    memory_of,
    question,
    rag,
    said,
)
from .leak_surfaces import (
    CHATS,
    ENGINES,
    UNGUARDED,
    OneQuestion,
    answer_of,
    sub_question,
    tool_of,
)
from .test_concurrency import alive

pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")


@pytest.fixture
def guard():
    return ScriptedGuard()


@pytest.fixture
def watch(guard):
    with FranqHandler(guard).attach() as handler:
        yield handler


def reported(watch, guard):
    assert watch.flush(30)
    assert watch.failed == watch.dropped == 0
    return guard.traces


def assert_own(trace, run):
    assert trace.question == question(run)
    assert trace.generation.text == said(f"run {run}")
    assert [p.id for p in trace.passages] == [f"{run}-{part}" for part in ("tall", "old")]
    assert f"run {run} is tall" in trace.generation.prompt


async def _read(response):
    return "".join([piece async for piece in response.async_response_gen()])


async def _astream(engine, asked):
    return await _read(await engine.aquery(asked))


QUERY_WAYS = {
    "query": lambda asked: rag(ScriptedLLM()).query(asked).response,
    "aquery": lambda asked: asyncio.run(rag(ScriptedLLM()).aquery(asked)).response,
    "stream": lambda asked: "".join(rag(ScriptedLLM(), streaming=True).query(asked).response_gen),
    "astream": lambda asked: asyncio.run(_astream(rag(ScriptedChat(), streaming=True), asked)),
}


@pytest.mark.parametrize("way", QUERY_WAYS)
def test_a_query_engine_is_seen_and_left_as_it_is(watch, guard, way):
    assert QUERY_WAYS[way](question(7)) == said("run 7")
    (trace,) = reported(watch, guard)
    assert_own(trace, 7)


def chat(kind):
    memory = memory_of()
    if kind == "context":
        return ContextChatEngine.from_defaults(RunRetriever(), llm=ScriptedChat(), memory=memory)
    return CondenseQuestionChatEngine.from_defaults(
        rag(ScriptedLLM()), llm=ScriptedLLM(), memory=memory
    )


async def _achat(engine, asked):
    return (await engine.achat(asked)).response


async def _astream_chat(engine, asked):
    return await _read(await engine.astream_chat(asked))


CHAT_WAYS = {
    "chat": lambda engine, asked: engine.chat(asked).response,
    "achat": lambda engine, asked: asyncio.run(_achat(engine, asked)),
    "stream": lambda engine, asked: "".join(engine.stream_chat(asked).response_gen),
    "astream": lambda engine, asked: asyncio.run(_astream_chat(engine, asked)),
}


@pytest.mark.parametrize("kind", ["context", "condense"])
@pytest.mark.parametrize("way", CHAT_WAYS)
def test_a_chat_engine(watch, guard, way, kind):
    engine = chat(kind)
    assert CHAT_WAYS[way](engine, question(7)) == said("run 7")
    assert engine.chat_history[-1].content == said("run 7")
    (trace,) = reported(watch, guard)
    assert_own(trace, 7)


def test_an_agent(watch, guard):
    result, _, streamed = asyncio.run(run_of(function_agent(), question(7)))
    assert str(result) == streamed == said("run 7")
    (trace,) = reported(watch, guard)
    assert trace.question == question(7)
    assert [p.text for p in trace.passages] == [look_up("run 7")]


def test_an_agent_that_is_given_a_history_alone_answers_its_last_question(watch, guard):
    said_before = [ChatMessage(question(3)), ChatMessage("It is old.", role="assistant")]
    history = [*said_before, ChatMessage(question(7))]

    async def run():
        return await function_agent().run(chat_history=history)

    assert str(asyncio.run(run())) == said("run 7")
    (trace,) = reported(watch, guard)
    assert trace.question == question(7)


def test_of_nested_engines_the_outermost_answer_is_reported(watch, guard):
    sub_question(False, rag(ScriptedLLM())).query(question(7))
    tool = tool_of(rag(ScriptedLLM()))
    asyncio.run(run_of(function_agent(tools=[tool]), question(8)))
    first, second = reported(watch, guard)
    assert first.question == question(7)
    assert_own(second, 8)
    assert OneQuestion  # the engines' own questions are no answers


@pytest.mark.filterwarnings("ignore:is_running called:DeprecationWarning")
@pytest.mark.parametrize(("name", "mode"), UNGUARDED)
def test_of_every_application_the_one_answer_is_reported(watch, guard, name, mode):
    text = asyncio.run(answer_of(name, mode, 7))
    (trace,) = reported(watch, guard)
    assert (trace.question, trace.generation.text) == (question(7), text)
    none = name == "simple chat" or "tool with a model" in name  # a model's text is no evidence
    assert bool(trace.passages) == (not none)


class Telling(Workflow):
    """A workflow of its own steps: it retrieves, asks a model, and returns text."""

    @step
    async def answer(self, ev: StartEvent) -> StopEvent:
        nodes = await RunRetriever().aretrieve(ev.query)
        context = "\n".join(node.node.get_content() for node in nodes)
        written = await ScriptedLLM().acomplete(f"{context}\n{ev.query}")
        return StopEvent(result=written.text)


class Both(Workflow):
    """Two answers in one run; the result is no text."""

    @step
    async def answer(self, ev: StartEvent) -> StopEvent:
        engine = rag(ScriptedLLM())
        one, two = await engine.aquery(question(1)), await engine.aquery(question(2))
        return StopEvent(result={"one": one.response, "two": two.response})


async def _run(workflow, **options):
    return await workflow.run(**options)


def test_a_workflow_and_several_answers_in_a_run(watch, guard):
    assert asyncio.run(_run(Telling(), query=question(7))) == said("run 7")
    assert asyncio.run(_run(Both()))["two"] == said("run 2")
    whole, one, two = reported(watch, guard)
    assert_own(whole, 7)
    assert_own(one, 1)
    assert_own(two, 2)


class PassesOn(Workflow):
    """Returns what it is told as a bare text; its question has a name of its own."""

    def __init__(self, ask):
        super().__init__()
        self.ask = ask

    @step
    async def answer(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=str(await self.ask(ev.topic)))


def of_another(ask):
    return lambda topic: PassesOn(ask).run(topic=topic)


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("kind", ["engine", "agent"])
def test_a_workflow_that_passes_on_a_text_has_the_evidence_of_who_wrote_it(
    watch, guard, kind, deep
):
    ask = rag(ScriptedLLM()).aquery if kind == "engine" else function_agent().run
    asked = _run(PassesOn(of_another(ask) if deep else ask), topic=question(7))
    assert asyncio.run(asked) == said("run 7")
    (trace,) = reported(watch, guard)
    assert (trace.question, trace.generation.text) == (question(7), said("run 7"))
    nodes = [one.text for one in RunRetriever().retrieve(question(7))]
    assert [p.text for p in trace.passages] == (nodes if kind == "engine" else [look_up("run 7")])


@pytest.mark.parametrize("kind", ["engine", "agent"])
def test_a_guarded_text_that_a_workflow_passes_on_is_not_checked_again(watch, guard, kind):
    other = ScriptedGuard()
    agent, engine = (
        guard_agent(function_agent(), other),
        guard_query_engine(rag(ScriptedLLM()), other),
    )
    ask = engine.aquery if kind == "engine" else agent.run
    assert "[checked: " in asyncio.run(_run(PassesOn(ask), topic=question(7)))
    assert reported(watch, guard) == []
    assert len(other.traces) == 1


class Told(StopEvent):
    """The result of a workflow, as an event of its own."""

    answer: str
    sources: list = Field(default_factory=list)


class Parsed:
    """An object that nobody can look into."""

    def __init__(self, text):
        self._text = text


RESULTS = {
    "response": lambda written, nodes: StopEvent(result=written),
    "message": lambda written, nodes: StopEvent(result=written.message),
    "completion": lambda written, nodes: StopEvent(result=CompletionResponse(text=str_of(written))),
    "dict": lambda written, nodes: StopEvent(result={"answer": str_of(written), "nodes": nodes}),
    "tuple": lambda written, nodes: StopEvent(result=(written.message, nodes)),
    "part": lambda written, nodes: StopEvent(result={"first": str_of(written).split(". ")[0]}),
    "event": lambda written, nodes: Told(answer=str_of(written), sources=nodes),
    "loose event": lambda written, nodes: Told(answer="", said=str_of(written)),
}
UNREAD = {
    "object": lambda written, nodes: StopEvent(result=Parsed(written)),
    "changed": lambda written, nodes: StopEvent(result=[str_of(written).upper()]),
    "stream": lambda written, nodes: StopEvent(result=iter([written])),
}
NO_ANSWER = {
    "nodes": lambda written, nodes: StopEvent(result=nodes),
    "state": lambda written, nodes: StopEvent(result={"state": "done", "asked": question(7)}),
    "nothing": lambda written, nodes: StopEvent(),
}


def str_of(written):
    return written.message.content


class Returning(Workflow):
    """Asks a model by itself, and returns what it wrote in a form of its own."""

    @step
    async def answer(self, ev: StartEvent) -> StopEvent:
        nodes = await RunRetriever().aretrieve(ev.query)
        context = "\n".join(node.node.get_content() for node in nodes)
        asked = ChatMessage(content=f"{context}\n{ev.query}")
        return ev.form(await ScriptedChat().achat([asked]), nodes)


@pytest.mark.parametrize("form", RESULTS)
def test_what_a_workflows_own_model_wrote_is_found_in_what_it_returns(watch, guard, form):
    asyncio.run(_run(Returning(), query=question(7), form=RESULTS[form]))
    (trace,) = reported(watch, guard)
    text = said("run 7")
    assert trace.generation.text == (text.split(". ")[0] if form == "part" else text)
    assert trace.question == question(7)
    assert [p.id for p in trace.passages] == ["7-tall", "7-old"]


def test_passages_beside_a_workflows_answer_are_its_evidence(watch, guard):
    """Its own search is no event."""
    found = "The archive says that the tower of run 7 is tall."

    class Searching(Workflow):
        @step
        async def answer(self, ev: StartEvent) -> StopEvent:
            said = await ScriptedLLM().acomplete(f"{found}\n{ev.query}")
            return StopEvent(result={"answer": said.text, "context": [found], "sources": ["a.pdf"]})

    asyncio.run(_run(Searching(), query=question(7)))
    (trace,) = reported(watch, guard)
    assert [passage.text for passage in trace.passages] == [found]


@pytest.mark.parametrize("form", UNREAD)
def test_a_workflows_answer_that_cannot_be_read_counts_as_failed(watch, guard, form, caplog):
    asyncio.run(_run(Returning(), query=question(7), form=UNREAD[form]))
    assert watch.flush(30)
    assert (guard.traces, watch.failed, watch.checked) == ([], 1, 0)
    assert "no text of a model was found" in caplog.text
    assert said("run 7") not in caplog.text


@pytest.mark.parametrize("form", NO_ANSWER)
def test_a_workflow_that_returns_no_text_of_a_model_reports_nothing(watch, guard, form):
    asyncio.run(_run(Returning(), query=question(7), form=NO_ANSWER[form]))
    assert reported(watch, guard) == []


class OfAgent(Workflow):
    """Returns the message of an agent."""

    @step
    async def answer(self, ev: StartEvent) -> StopEvent:
        result = await ev.agent.run(user_msg=ev.query)
        return StopEvent(result=result.response)


def test_the_message_of_a_guarded_agent_is_not_checked_again(watch, guard):
    agent = guard_agent(function_agent(), ScriptedGuard())
    found = asyncio.run(_run(OfAgent(), query=question(7), agent=agent))
    assert found.content.endswith("[checked: towers]")
    assert reported(watch, guard) == []
    assert asyncio.run(_run(OfAgent(), query=question(8), agent=function_agent())).content
    (trace,) = reported(watch, guard)
    assert trace.generation.text == said("run 8")


class Streaming(Workflow):
    """Returns a stream that is read after the run: of a synthesizer (as in LlamaIndex's docs)."""

    by_engine: bool = False

    @step
    async def answer(self, ev: StartEvent) -> StopEvent:
        engine = rag(ScriptedLLM(), streaming=True)
        if self.by_engine:
            return StopEvent(result=await engine.aquery(ev.query))
        nodes = await RunRetriever().aretrieve(ev.query)
        found = await engine._response_synthesizer.asynthesize(ev.query, nodes)
        return StopEvent(result=found)


@pytest.mark.parametrize("by_engine", [False, True])
def test_a_workflow_that_returns_a_stream(watch, guard, by_engine):
    async def read():
        workflow = Streaming()
        workflow.by_engine = by_engine
        response = await workflow.run(query=question(7))
        return "".join([piece async for piece in response.async_response_gen()])

    assert asyncio.run(read()) == said("run 7")
    (trace,) = reported(watch, guard)
    assert_own(trace, 7)


class Slow(RunRetriever):
    async def _aretrieve(self, query_bundle):
        await asyncio.sleep(60)


class Failing(ScriptedLLM):
    def answer(self, prompt):
        raise LookupError("the model is gone")


def test_failed_cancelled_and_abandoned_runs_report_nothing_and_leave_nothing(watch, guard):
    with pytest.raises(LookupError, match="the model is gone"):
        rag(Failing()).query(question(1))
    stream = rag(ScriptedLLM(), streaming=True).query(question(2)).response_gen
    next(stream)
    stream.close()
    with pytest.raises(LookupError):
        list(rag(Failing(), streaming=True).query(question(3)).response_gen)

    async def cancelled():
        task = asyncio.create_task(rag(ScriptedLLM(), Slow()).aquery(question(4)))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    failing = ContextChatEngine.from_defaults(RunRetriever(), llm=Failing(), memory=memory_of())
    with pytest.raises(LookupError):
        asyncio.run(_astream_chat(failing, question(5)))
    assert reported(watch, guard) == []
    gc.collect()
    assert not watch._runs._open
    assert not watch._runs._writing


class Connected(ScriptedLLM):
    """Notes that a stream is closed, as a server's connection is."""

    closed: list[bool] = Field(default_factory=list)

    def stream_complete(self, prompt, formatted=False, **kwargs):
        def chunks(inner):
            try:
                yield from inner
            finally:
                self.closed.append(True)

        return chunks(super().stream_complete(prompt, formatted, **kwargs))


@pytest.mark.parametrize("read", [0, 1])
def test_a_stream_that_is_dropped_is_closed_and_forgotten(watch, guard, read):
    llm = Connected()
    chunks = rag(llm, streaming=True).query(question(7)).response_gen
    for _ in range(read):
        next(chunks)
    del chunks
    gc.collect()
    assert len(llm.closed) == read  # one that nobody reads is never opened
    assert reported(watch, guard) == []
    assert not watch._runs._open


def test_a_guarded_engine_is_not_checked_again(watch, guard):
    other = ScriptedGuard()
    guard_query_engine(rag(ScriptedLLM()), other).query(question(7))
    assert reported(watch, guard) == []
    assert len(other.traces) == 1


@pytest.mark.parametrize("way", ["stream", "astream"])
def test_a_guarded_chat_stream_is_not_checked_again(watch, guard, way):
    other = ScriptedGuard()
    CHAT_WAYS[way](guard_chat_engine(chat("context"), other), question(7))
    assert reported(watch, guard) == []
    assert len(other.traces) == 1
    assert not watch._runs._open
    assert not watch._runs._writing


class OnlyRead(ContextChatEngine):
    """Its streams are in no history."""

    def _chunks(self, message):
        nodes = RunRetriever().retrieve(message)
        asked = "\n".join([*(node.get_content() for node in nodes), message])
        return nodes, ScriptedChat().stream_chat([ChatMessage(content=asked)])

    def stream_chat(self, message, chat_history=None):
        nodes, chunks = self._chunks(message)
        return StreamingAgentChatResponse(
            chat_stream=chunks, source_nodes=nodes, is_writing_to_memory=False
        )

    async def astream_chat(self, message, chat_history=None):
        async def later():
            for chunk in chunks:
                yield chunk

        nodes, chunks = self._chunks(message)
        return StreamingAgentChatResponse(
            achat_stream=later(), source_nodes=nodes, is_writing_to_memory=False
        )


class AtOnce(threading.Thread):
    """Done when it has started."""

    def start(self):
        super().start()
        self.join()


def test_a_chat_that_is_written_before_anybody_reads_it(watch, guard, monkeypatch):
    monkeypatch.setattr("llama_index.core.chat_engine.context.Thread", AtOnce)
    response = chat("context").stream_chat(question(7))
    (trace,) = reported(watch, guard)
    assert (trace.question, trace.generation.text) == (question(7), said("run 7"))
    assert [p.id for p in trace.passages] == ["7-tall", "7-old"]
    assert "".join(response.response_gen) == said("run 7")
    assert not watch._runs._heard
    del response
    gc.collect()
    assert not watch._runs._written_early


@pytest.mark.parametrize("way", ["stream", "astream"])
def test_a_chat_stream_that_no_history_gets(watch, guard, way):
    engine = OnlyRead.from_defaults(RunRetriever(), llm=ScriptedChat(), memory=memory_of())
    assert CHAT_WAYS[way](engine, question(7)) == said("run 7")
    (trace,) = reported(watch, guard)
    assert_own(trace, 7)
    assert not watch._runs._open


def test_nothing_it_does_is_raised_and_everything_is_counted(guard, caplog):
    class Broken(ScriptedGuard):
        def check_trace(self, trace):
            raise LookupError("no scorer")

    caplog.set_level(logging.WARNING)
    with FranqHandler(Broken()).attach() as watch:
        assert rag(ScriptedLLM()).query(question(7)).response == said("run 7")
        watch.flush(30)
        assert (watch.checked, watch.failed) == (0, 1)
    seen = []
    held, go = threading.Event(), threading.Event()

    def report(answer):
        seen.append(answer.original)
        held.set()
        go.wait(30)

    with FranqHandler(guard, on_report=report, queue_size=1).attach() as watch:
        rag(ScriptedLLM()).query(question(1))
        assert held.wait(30)  # the first is being reported, the second waits, the third is dropped
        rag(ScriptedLLM()).query(question(2))
        rag(ScriptedLLM()).query(question(3))
        go.set()
        watch.flush(30)
        assert watch.dropped == 1
    assert seen == [said("run 1"), said("run 2")]
    assert rag(ScriptedLLM()).query(question(4)).response == said("run 4")
    assert len(seen) == 2  # detached


def test_a_share_of_the_runs(guard):
    with FranqHandler(guard, sample=0.0).attach() as watch:
        rag(ScriptedLLM()).query(question(7))
        sub_question(False, rag(ScriptedLLM())).query(question(7))
        assert watch.flush(30)
    assert guard.traces == []


def test_attached_once_and_detached():
    handler = FranqHandler(ScriptedGuard())
    root = get_dispatcher()
    before = len(root.span_handlers), len(root.event_handlers)
    handler.attach().attach()
    assert (len(root.span_handlers), len(root.event_handlers)) == (before[0] + 1, before[1] + 1)
    handler.close()
    assert (len(root.span_handlers), len(root.event_handlers)) == before


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="wants the guard, not its policy"):
        FranqHandler(Policy())
    with pytest.raises(ValueError, match="sample is the share"):
        FranqHandler(ScriptedGuard(), sample=3)


class Plain(CustomQueryEngine):
    """Documents that no retriever found."""

    def custom_query(self, query_str):
        text = ScriptedLLM().complete(f"run 7 is tall. {query_str}").text
        return Response(text, metadata={"documents": ["The tower of run 7 is tall."]})


def test_a_custom_engine_with_documents_of_its_own(watch, guard):
    Plain().query(question(7))
    (trace,) = reported(watch, guard)
    assert [p.text for p in trace.passages] == ["The tower of run 7 is tall."]


def summarizing():
    """Calls its model at once, so that the span of the call has ended when the stream is read."""
    return rag(ScriptedLLM(), streaming=True, response_mode="simple_summarize")


class Reads(CustomQueryEngine):
    """Reads the stream of an engine inside before it answers."""

    def custom_query(self, query_str):
        response = summarizing().query(query_str)
        text = "".join(response.response_gen)
        return Response(text, source_nodes=response.source_nodes)

    async def acustom_query(self, query_str):
        response = await summarizing().aquery(query_str)
        return Response(await _read(response), source_nodes=response.source_nodes)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_engine_that_reads_the_stream_of_another(watch, guard, asynchronous):
    engine = Reads()
    asyncio.run(engine.aquery(question(7))) if asynchronous else engine.query(question(7))
    (trace,) = reported(watch, guard)
    assert_own(trace, 7)


def test_accumulated_answers_are_one_report_with_the_prompt_of_each(watch, guard):
    llm = ScriptedLLM(script=["It is so."] * 2)
    text = rag(llm, response_mode="accumulate").query(question(7)).response
    assert text.count("It is so.") == 2
    one, two = (trace.generation.prompt for trace in reported(watch, guard))
    assert "run 7 is tall" in one
    assert "run 7 is old" in two


# CallbackManager -------------------------------------------------------------------------------


@pytest.fixture
def legacy(guard):
    handler = FranqHandler(guard)
    manager = CallbackManager([handler.callback_handler()])
    yield handler, manager
    handler.close()


def with_manager(manager, streaming=False):
    llm = ScriptedLLM(callback_manager=manager)
    synthesizer = get_response_synthesizer(llm=llm, callback_manager=manager, streaming=streaming)
    retriever = RunRetriever(callback_manager=manager)
    return RetrieverQueryEngine(retriever, synthesizer, callback_manager=manager)


@pytest.mark.parametrize("way", ["query", "aquery", "stream", "astream"])
def test_a_callback_manager(guard, legacy, way):
    handler, manager = legacy
    engine = with_manager(manager, "stream" in way)
    if way == "astream":
        text = asyncio.run(_astream(engine, question(7)))
    elif way == "aquery":
        text = asyncio.run(engine.aquery(question(7))).response
    else:
        response = engine.query(question(7))
        text = "".join(response.response_gen) if way == "stream" else response.response
    assert text == said("run 7")
    (trace,) = reported(handler, guard)
    assert_own(trace, 7)


LEGACY = [
    (name, mode) for name, mode in UNGUARDED if name in (*ENGINES, *CHATS) and name != "simple chat"
]


@pytest.mark.parametrize(("name", "mode"), LEGACY)
def test_every_engine_that_a_callback_manager_tells_of(guard, legacy, name, mode):
    handler, Settings.callback_manager = legacy
    try:
        text = asyncio.run(answer_of(name, mode, 7))
    finally:
        Settings.callback_manager = None
    (trace,) = reported(handler, guard)
    assert (trace.question, trace.generation.text) == (question(7), text)
    assert trace.passages


def test_a_callback_manager_never_raises_into_the_engine(legacy, monkeypatch):
    handler, manager = legacy
    monkeypatch.setattr(handler._runs, "open_event", lambda *args: 1 / 0)
    monkeypatch.setattr(handler._runs, "captures", lambda *args: 1 / 0)
    assert with_manager(manager).query(question(7)).response == said("run 7")


# Many runs at once ------------------------------------------------------------------------------


@pytest.mark.parametrize("runs", [40, pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("way", ["tasks", "streams", "threads", "callbacks"])
def test_of_many_runs_at_once_none_is_mixed(guard, runs, way):
    handler = FranqHandler(guard, queue_size=10_000)
    manager = CallbackManager([handler.callback_handler()] if way == "callbacks" else [])
    if way != "callbacks":
        handler.attach()
    engine = with_manager(manager, way == "streams")

    async def all_of_them():
        one = _astream if way == "streams" else lambda e, q: e.aquery(q)
        return await asyncio.gather(*(one(engine, question(i)) for i in range(runs)))

    if way == "threads":
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda i: engine.query(question(i)), range(runs)))
    else:
        asyncio.run(all_of_them())
    traces = reported(handler, guard)
    handler.close()
    assert sorted(t.question for t in traces) == sorted(question(i) for i in range(runs))
    for trace in traces:
        assert_own(trace, int(trace.passages[0].id.split("-")[0]))


@pytest.mark.filterwarnings("ignore:is_running called:DeprecationWarning")
@pytest.mark.parametrize("runs", [40, pytest.param(500, marks=pytest.mark.slow)])
def test_of_all_applications_at_once_none_is_mixed(watch, guard, runs):
    async def all_of_them():
        asked = (answer_of(*UNGUARDED[i % len(UNGUARDED)], 1000 + i) for i in range(runs))
        return await asyncio.gather(*asked)

    texts = asyncio.run(all_of_them())
    found = {trace.question: trace.generation.text for trace in reported(watch, guard)}
    assert found == {question(1000 + i): text for i, text in enumerate(texts)}
    for trace in guard.traces:
        about = " ".join([trace.generation.text, *(passage.text for passage in trace.passages)])
        assert set(re.findall(r"run (\d+)", about)) <= set(re.findall(r"\d+", trace.question))


def test_an_engine_that_the_application_drops_is_not_kept(watch, guard):
    engine = rag(ScriptedLLM())
    engine.query(question(7))
    reported(watch, guard).clear()
    dropped = weakref.ref(engine)
    del engine
    gc.collect()
    assert dropped() is None
    assert not watch._runs._models


def test_nothing_of_a_run_is_kept(watch, guard):
    engine, streaming = rag(ScriptedLLM()), rag(ScriptedLLM(), streaming=True)

    def runs(n):
        for i in range(n):
            engine.query(question(i))
            str(streaming.query(question(i)))
        reported(watch, guard).clear()
        gc.collect()

    runs(3)
    before = alive()
    runs(20)
    assert not alive() - before  # an earlier test's objects may go meanwhile
