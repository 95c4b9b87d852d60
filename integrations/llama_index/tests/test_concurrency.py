"""One shared guard under many runs at once: each result belongs to its own run."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context

import pytest

import franq_guard
import llama_index_franq
from llama_index_franq import guard_query_engine
from llama_index_franq._events import _captures

from .fakes import ScriptedChat, ScriptedGuard, ScriptedLLM, marked, question, rag

RUNS = 40
QUESTIONS = [question(i) for i in range(RUNS)]
EXPECTED = [marked(i) for i in range(RUNS)]


@pytest.fixture(params=[ScriptedLLM, ScriptedChat])
def make(request):
    guard = ScriptedGuard()
    return lambda streaming: guard_query_engine(rag(request.param(), streaming=streaming), guard)


def _in_threads(one):
    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(one, QUESTIONS))


def _gather(one):
    async def run():
        return await asyncio.gather(*(one(q) for q in QUESTIONS))

    return asyncio.run(run())


def test_threads(make):
    engine = make(False)
    responses = _in_threads(engine.query)
    assert [r.response for r in responses] == EXPECTED
    assert [r.metadata["franq"]["text"] for r in responses] == EXPECTED


def test_gather(make):
    responses = _gather(make(False).aquery)
    assert [r.response for r in responses] == EXPECTED


def test_streams_in_threads(make):
    engine = make(True)
    assert _in_threads(lambda q: "".join(engine.query(q).response_gen)) == EXPECTED


def test_streams_in_gather(make):
    engine = make(True)

    async def one(asked):
        response = await engine.aquery(asked)
        return "".join([chunk async for chunk in response.async_response_gen()])

    assert _gather(one) == EXPECTED


def test_streams_opened_together_and_read_elsewhere_in_any_order(make):
    """The model is only called while a stream is read: in a bare thread, in an empty context."""
    engine = make(True)
    streams = [engine.query(asked) for asked in QUESTIONS]
    texts: dict[int, str] = {}

    def read(i):
        texts[i] = Context().run(lambda: "".join(streams[i].response_gen))

    threads = [threading.Thread(target=read, args=(i,)) for i in reversed(range(RUNS))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [texts[i] for i in range(RUNS)] == EXPECTED
    assert [s.metadata["franq"]["text"] for s in streams] == EXPECTED


def test_async_streams_opened_in_one_task_and_read_in_another(make):
    engine = make(True)

    async def run():
        opened = await asyncio.gather(*(engine.aquery(q) for q in QUESTIONS))

        async def read(response):
            return "".join([chunk async for chunk in response.async_response_gen()])

        return await asyncio.gather(*(asyncio.create_task(read(r)) for r in opened))

    assert asyncio.run(run()) == EXPECTED


def test_every_trace_belongs_to_its_run():
    guard = ScriptedGuard()
    engine = guard_query_engine(rag(ScriptedLLM()), guard)
    _in_threads(engine.query)
    assert len(guard.traces) == RUNS
    for trace in guard.traces:
        (number,) = {passage.id.split("-")[0] for passage in trace.passages}
        assert trace.question == question(int(number))
        assert f"of run {number} is tall" in trace.generation.prompt


def test_two_guards_side_by_side_keep_apart():
    first, second = ScriptedGuard(), ScriptedGuard()
    one = guard_query_engine(rag(ScriptedLLM()), first)
    two = guard_query_engine(rag(ScriptedChat()), second)

    async def both(asked):
        a, b = await asyncio.gather(one.aquery(asked), two.aquery(asked))
        return a.response, b.response

    assert _gather(both) == [(text, text) for text in EXPECTED]
    assert len(first.traces) == len(second.traces) == RUNS


def test_an_abandoned_stream_leaves_nothing_behind(make):
    engine = make(True)
    for asked in QUESTIONS[:5]:
        stream = engine.query(asked).response_gen
        stream.close()  # before anything was read
    opened = engine.query(QUESTIONS[0])
    next(opened.response_gen)
    opened.response_gen.close()

    async def cancelled():
        response = await engine.aquery(QUESTIONS[1])
        task = asyncio.create_task(anext(response.async_response_gen()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert _captures.get() == ()
    assert "".join(engine.query(QUESTIONS[3]).response_gen) == EXPECTED[3]


def test_exceptions_of_the_engine_reach_the_caller_and_leave_nothing():
    class Broken(ScriptedLLM):
        def answer(self, prompt):
            raise LookupError("the model is gone")

    for streaming in (False, True):
        engine = guard_query_engine(rag(Broken(), streaming=streaming), ScriptedGuard())
        with pytest.raises(LookupError, match="the model is gone"):
            str(engine.query(question(1)))
        with pytest.raises(LookupError, match="the model is gone"):
            asyncio.run(_consumed(engine))
        assert _captures.get() == ()


async def _consumed(engine):
    response = await engine.aquery(question(1))
    return [chunk async for chunk in response.async_response_gen()]


def test_a_failing_capture_becomes_an_unverified_answer(monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("no room for the trace")

    monkeypatch.setattr("llama_index_franq._call.job_of", broken)
    engine = guard_query_engine(rag(ScriptedLLM()), ScriptedGuard())
    for response in (engine.query(question(1)), asyncio.run(engine.aquery(question(1)))):
        assert response.response.endswith("[unverified]")
        assert response.metadata["franq"]["status"] == "unverified"


def test_models_that_the_guard_calls_are_not_taken_for_the_engine():
    judge = ScriptedLLM()

    class Judging(ScriptedGuard):
        def check_trace(self, trace):
            judge.complete("run 99")
            return super().check_trace(trace)

    inner, outer = Judging(), ScriptedGuard()
    guarded = guard_query_engine(guard_query_engine(rag(ScriptedLLM()), inner), outer)
    guarded.query(question(1))
    assert "Query:" in outer.traces[0].generation.prompt
    assert "run 99" not in outer.traces[0].generation.prompt


def test_the_handler_is_installed_once():
    from llama_index.core.instrumentation import get_dispatcher

    for _ in range(3):
        guard_query_engine(rag(ScriptedLLM()), ScriptedGuard()).query(question(1))
    names = [type(handler).__name__ for handler in get_dispatcher().event_handlers]
    assert names.count("_Router") == 1


def alive():
    """How many objects of ours exist, by class."""
    names = (f"{type(o).__module__}.{type(o).__qualname__}" for o in gc.get_objects())
    return Counter(name for name in names if name.startswith(("llama_index_franq", "franq_guard")))


@pytest.mark.parametrize("times", [10, pytest.param(100, marks=pytest.mark.slow)])
def test_nothing_is_kept(times, kept_bytes):
    """Runs twice as many: each asks for an answer and for a stream."""
    llm, guard = ScriptedLLM(), ScriptedGuard()
    engines = [guard_query_engine(rag(llm, streaming=stream), guard) for stream in (False, True)]

    def runs(n):
        for i in range(n):
            for engine in engines:
                str(engine.query(QUESTIONS[i % RUNS]))
        guard.traces.clear()
        llm.prompts.clear()
        gc.collect()

    runs(10)  # fills every cache
    before = alive()
    # One kept Capture would be over 1,000, two for each question.
    assert kept_bytes(runs, times, franq_guard, llama_index_franq, enough=400) < 400
    assert not alive() - before  # an earlier test's objects may go meanwhile
