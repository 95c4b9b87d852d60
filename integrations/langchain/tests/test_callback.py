"""A callback that only watches: it sees what the wrappers see and changes nothing."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain.agents import create_agent
from langchain_core.caches import InMemoryCache
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.tools import tool

from franq_guard.basics import background
from langchain_franq import FranqCallback

from .fakes import (
    RunRetriever,
    ScriptedAgent,
    ScriptedChat,
    ScriptedGuard,
    ScriptedLLM,
    format_docs,
    lcel,
    question,
    said,
)
from .test_chain_shapes import retrieval_chain

PASSAGES = ["7-tall", "7-old"]


@tool
def search(query: str) -> str:
    """Search the archive."""
    return format_docs(RunRetriever().invoke(query))


def watching(guard=None, **options):
    guard, reports = guard or ScriptedGuard(), []
    return FranqCallback(guard, reports.append, **options), guard, reports


def with_ids(guard):
    return [[p.id for p in trace.passages] for trace in guard.traces]


APPS = {
    "string": (lambda: lcel(ScriptedLLM()), question),
    "chat": (lambda: lcel(ScriptedChat(), parse=False), question),
    "retrieval chain": (retrieval_chain, lambda run: {"input": question(run)}),
    "agent": (
        lambda: create_agent(ScriptedAgent(), [search]),
        lambda run: {"messages": [HumanMessage(question(run))]},
    ),
    "nested": (
        lambda: RunnableLambda(lambda q: lcel(ScriptedLLM()).invoke(q)) | RunnablePassthrough(),
        question,
    ),
}
WAYS = {
    "invoke": lambda app, value, config: app.invoke(value, config),
    "ainvoke": lambda app, value, config: asyncio.run(app.ainvoke(value, config)),
    "batch": lambda app, value, config: app.batch([value], config),
    "stream": lambda app, value, config: list(app.stream(value, config)),
    "astream": lambda app, value, config: asyncio.run(_all(app.astream(value, config))),
}


async def _all(stream):
    return [chunk async for chunk in stream]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("app", APPS)
def test_the_answer_of_every_application_is_checked_and_left_alone(app, way):
    make, ask = APPS[app]
    watch, guard, reports = watching()
    plain = _texts(WAYS[way](make(), ask(7), {}))
    assert _texts(WAYS[way](make(), ask(7), {"callbacks": [watch]})) == plain
    assert watch.flush(20)
    assert [report.original for report in reports] == [said("run 7")]
    assert with_ids(guard) == [PASSAGES]
    assert guard.traces[0].question == question(7)
    assert "tower of run 7 is tall" in guard.traces[0].generation.prompt
    assert (watch.checked, watch.dropped, watch.failed, watch.open_runs) == (1, 0, 0, 0)
    assert watch._roots._root_of == {}


def _texts(shown) -> str:
    """All that an application showed, but for the ids of its messages."""
    if isinstance(shown, dict):
        return " ".join(_texts(value) for value in shown.values())
    if isinstance(shown, (list, tuple)):
        return " ".join(map(_texts, shown))
    return str(getattr(shown, "text", shown))


@pytest.mark.parametrize("where", ["model", "agent", "chain"])
def test_it_may_hang_on_a_part(where):
    watch, guard, reports = watching()
    if where == "model":
        lcel(ScriptedLLM(callbacks=[watch])).invoke(question(7))
    elif where == "agent":
        app = create_agent(ScriptedAgent(), [search]).with_config(callbacks=[watch])
        app.invoke({"messages": [HumanMessage(question(7))]})
    else:
        lcel(ScriptedLLM()).with_config(callbacks=[watch]).invoke(question(7))
    assert watch.flush(20)
    assert [report.original for report in reports] == [said("run 7")]
    assert with_ids(guard) == [[] if where == "model" else PASSAGES]  # a model sees no retriever


def test_a_batch_has_a_report_for_each_item():
    watch, _, reports = watching()
    chain = lcel(ScriptedLLM())
    chain.batch([question(i) for i in range(5)], {"callbacks": [watch]})
    watch.flush(20)
    assert {report.original for report in reports} == {said(f"run {i}") for i in range(5)}
    assert len({report.id for report in reports}) == 5


def test_several_answers_of_a_run_are_reported_together():
    watch, _, reports = watching()
    both = RunnableParallel(a=lcel(ScriptedLLM()), b=lcel(ScriptedChat()) | str.strip)
    run = RunnableLambda(
        lambda q: {"first": both.invoke(q), "second": ScriptedLLM().invoke("run 9")}
    )
    run.invoke(question(7), {"callbacks": [watch]})
    watch.flush(20)
    (report,) = reports
    assert report.original == f"{said('run 7')}\n{said('run 9')}"
    assert report.id is not None


@pytest.mark.parametrize("runs", [80, pytest.param(1000, marks=pytest.mark.slow)])
def test_runs_at_once_keep_apart(runs):
    half = runs // 2
    watch, guard, reports = watching(queue_size=runs)
    chain, config = lcel(ScriptedLLM()), {"callbacks": [watch]}
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda i: chain.invoke(question(i), config), range(half)))
    assert answers == [said(f"run {i}") for i in range(half)]

    async def tasks():
        under_way = [chain.ainvoke(question(i), config) for i in range(half, runs)]
        return await asyncio.gather(*under_way)

    assert asyncio.run(tasks()) == [said(f"run {i}") for i in range(half, runs)]
    assert watch.flush(60)
    assert (watch.checked, watch.dropped, watch.failed, watch.open_runs) == (runs, 0, 0, 0)
    assert {report.original for report in reports} == {said(f"run {i}") for i in range(runs)}
    for trace in guard.traces:
        (number,) = {passage.id.split("-")[0] for passage in trace.passages}
        assert trace.question == question(int(number))
        assert trace.generation.text == said(f"run {number}")
        assert f"of run {number} is tall" in trace.generation.prompt


def test_a_sample_is_a_sample_of_whole_runs():
    watch, guard, reports = watching(sample=0.2)
    chain = retrieval_chain()
    for i in range(100):
        chain.invoke({"input": question(i)}, {"callbacks": [watch]})
    watch.flush(20)
    assert 5 <= len(reports) <= 40  # 20 on average, a deviation of 4
    assert all(len(ids) == 2 for ids in with_ids(guard))  # no part of a run is taken for a run
    assert watch._roots._open == {}


class Waiting(ScriptedGuard):
    """Checks nothing before it is released."""

    def __init__(self):
        super().__init__()
        self.begun, self.go = threading.Event(), threading.Event()

    def check_trace(self, trace):
        self.begun.set()
        assert self.go.wait(30)
        return super().check_trace(trace)


def test_no_answer_waits_for_a_check_and_what_does_not_fit_is_counted():
    guard = Waiting()
    watch, _, reports = watching(guard, queue_size=2)
    chain, config = lcel(ScriptedLLM()), {"callbacks": [watch]}
    assert chain.invoke(question(0), config) == said("run 0")
    assert guard.begun.wait(20)
    for i in range(1, 8):
        assert chain.invoke(question(i), config) == said(f"run {i}")
    assert watch.dropped == 5
    guard.go.set()
    assert watch.flush(20)
    assert len(reports) == 3


@pytest.mark.parametrize("broken", ["guard", "report", "evidence"])
def test_nothing_is_raised_into_the_answer(broken, caplog):
    def fail(*_):
        raise RuntimeError("broken")

    class Broken(ScriptedGuard):
        check_trace = fail

    guard = Broken() if broken == "guard" else ScriptedGuard()
    options = {"evidence": fail} if broken == "evidence" else {}
    watch = FranqCallback(guard, fail if broken == "report" else None, **options)
    for way in WAYS.values():
        way(lcel(ScriptedLLM()), question(7), {"callbacks": [watch]})
    assert watch.flush(20)
    if broken == "evidence":  # the report says so: unverified
        assert watch.checked == 5
    else:
        assert watch.failed == 5
        assert "watching failed: RuntimeError" in caplog.text


def test_failed_and_cancelled_runs_leave_nothing_behind():
    watch, _, reports = watching()
    config = {"callbacks": [watch]}

    def boom(_):
        raise LookupError("gone")

    chain = lcel(ScriptedLLM()) | boom
    with pytest.raises(LookupError):
        chain.invoke(question(1), config)
    with pytest.raises(LookupError):
        asyncio.run(chain.ainvoke(question(1), config))

    async def cancelled():
        begun = asyncio.Event()

        async def hang(_):
            begun.set()
            await asyncio.sleep(60)

        task = asyncio.create_task((lcel(ScriptedLLM()) | hang).ainvoke(question(1), config))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    stream = lcel(ScriptedLLM()).stream(question(1), config)
    first = next(stream)
    stream.close()
    watch.flush(20)
    assert [report.original for report in reports] in ([], [first])  # the shown part counts
    assert watch.open_runs == 0
    assert watch._roots._root_of == {}


def test_a_retry_is_one_run():
    watch, _, reports = watching()
    calls = []

    class Flaky(ScriptedLLM):
        def _generate(self, *args, **kwargs):
            calls.append(1)
            if len(calls) < 3:
                raise ConnectionError("busy")
            return super()._generate(*args, **kwargs)

    chain = lcel(Flaky()).with_retry(
        retry_if_exception_type=(ConnectionError,), wait_exponential_jitter=False
    )
    chain.invoke(question(7), {"callbacks": [watch]})
    watch.flush(20)
    assert [report.original for report in reports] == [said("run 7")]


def test_a_cached_answer_is_checked_without_its_prompt():
    watch, guard, _ = watching()
    chain = lcel(ScriptedLLM(cache=InMemoryCache()))
    for _ in range(2):
        chain.invoke(question(7), {"callbacks": [watch]})
    watch.flush(20)
    assert [t.generation.prompt is None for t in guard.traces] == [False, True]
    assert with_ids(guard) == [PASSAGES] * 2


def test_tokens_of_a_named_local_model_are_captured(pipe, smollm2):
    from .test_real_model import assert_captured

    watch, guard, _ = watching(models=[pipe])
    lcel(pipe).invoke(question(7), {"callbacks": [watch]})
    watch.flush(60)
    assert_captured(guard.traces[0], smollm2)


def test_langsmith_and_telemetry_take_its_reports():
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from franq_guard import Guard
    from franq_guard.telemetry import configure
    from franq_guard.testing import FakeFaithfulness, FakeLanguageModel
    from langchain_franq import feedback_to

    sent, exporter, provider = [], InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    class Client:
        def create_feedback(self, run_id, key, **values):
            sent.append((run_id, key, values["value"]))

    from uuid import uuid4

    report, run = feedback_to(Client()), uuid4()
    guard = Guard(faithfulness=FakeFaithfulness(), language_model=FakeLanguageModel())
    watch = FranqCallback(guard, report)
    configure(tracer_provider=provider)
    try:
        with provider.get_tracer("app").start_as_current_span("request") as span:
            lcel(ScriptedLLM()).invoke(question(7), {"callbacks": [watch], "run_id": run})
        watch.flush(20)
        assert report.flush(20)
    finally:
        configure()
    assert sent == [(run, "franq", "ok")]
    (check,) = [s for s in exporter.get_finished_spans() if s.name == "franq.check"]
    assert check.parent.span_id == span.get_span_context().span_id


@pytest.mark.parametrize(
    ("arguments", "error"),
    [((None,), TypeError), ((ScriptedGuard(), "file"), TypeError)],
)
def test_misuse_is_told_at_construction(arguments, error):
    with pytest.raises(error):
        FranqCallback(*arguments)
    with pytest.raises(ValueError, match="sample"):
        FranqCallback(ScriptedGuard(), sample=2)


def test_a_callback_made_for_each_call_leaves_no_thread_and_nothing_else(monkeypatch):
    monkeypatch.setattr(background, "IDLE", 0.01)
    threads, callbacks = set(), []
    for run in range(5):
        watch = FranqCallback(
            ScriptedGuard(), lambda answer: threads.add(threading.current_thread())
        )
        lcel(ScriptedLLM()).invoke(question(run), {"callbacks": [watch]})
        assert watch.flush(20)
        callbacks.append(weakref.ref(watch))
        del watch
    assert len(threads) == 5
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    gc.collect()
    assert [callback() for callback in callbacks] == [None] * 5
