"""One shared guard behind every surface: runs never mix, and nothing of a run is kept."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections import Counter

import pytest

from .fakes import ScriptedAgent, ScriptedChat, ScriptedGuard, ScriptedLLM, expected, question
from .surfaces import SURFACES, WAYS, run_all, run_once

RUNS = 40
QUESTIONS = [question(i) for i in range(RUNS)]
EXPECTED = [expected(i) for i in range(RUNS)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("surface", SURFACES)
def test_runs_at_once_keep_apart(surface, way):
    guard = ScriptedGuard()
    assert run_all(SURFACES[surface](guard), way, QUESTIONS) == EXPECTED
    assert len(guard.traces) == RUNS
    for trace in guard.traces:
        (number,) = {passage.id.split("-")[0] for passage in trace.passages}
        assert trace.question == question(int(number))
        assert f"of run {number} is tall" in trace.generation.prompt


@pytest.fixture(autouse=True)
def _few_objects_to_count():
    """What the libraries hold already is left out of every count."""
    gc.freeze()
    yield
    gc.unfreeze()


def alive() -> Counter:
    """How many objects of ours exist, by class."""
    gc.collect()
    names = (f"{type(o).__module__}.{type(o).__qualname__}" for o in gc.get_objects())
    return Counter(name for name in names if name.startswith(("langchain_franq", "franq_guard")))


@pytest.mark.parametrize("surface", SURFACES)
def test_nothing_of_a_run_is_kept(surface):
    guard = ScriptedGuard()
    one = SURFACES[surface](guard)

    def run(times):
        for i in range(times):
            assert (one.stream if i % 2 else one.invoke)(QUESTIONS[i % RUNS]) == EXPECTED[i % RUNS]
        guard.traces.clear()
        gc.collect()

    run(4)
    before = alive()
    run(8)
    assert not alive() - before  # an earlier test's objects may go meanwhile


@pytest.mark.slow
@pytest.mark.parametrize("surface", SURFACES)
def test_memory_stays_flat(surface):
    guard = ScriptedGuard()
    one = SURFACES[surface](guard)

    def run(times):
        for i in range(times):
            (one.stream if i % 2 else one.invoke)(QUESTIONS[i % RUNS])
        guard.traces.clear()
        gc.collect()

    run(200)  # warms every cache of LangChain's
    tracemalloc.start()
    try:
        run(2)
        before = tracemalloc.get_traced_memory()[0]
        run(1000)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown / 1000 < 64  # bytes a run; one kept Capture is over 1,000


# Runs that do not end ------------------------------------------------------------------------


class Endless(ScriptedGuard):
    """Its check goes on until the task is cancelled."""

    def __init__(self):
        super().__init__()
        self.checking = 0

    async def acheck_trace(self, trace):
        self.checking += 1
        if "run 2" not in trace.question:
            await asyncio.sleep(3600)
        return await super().acheck_trace(trace)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("surface", SURFACES)
def test_a_client_that_goes_away_during_the_check_leaves_nothing_behind(surface, streamed):
    guard = Endless()
    one = SURFACES[surface](guard)

    async def gone(run):
        ask = one.astream if streamed else one.ainvoke
        task = asyncio.create_task(ask(question(run)))
        before = guard.checking
        while guard.checking == before and not task.done():
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(gone(1))
    before = alive()
    for run in (3, 4):
        asyncio.run(gone(run))
    assert not alive() - before  # an earlier test's objects may go meanwhile
    assert not guard.traces
    assert asyncio.run(one.ainvoke(question(2))) == expected(2)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize(
    ("surface", "mode"), [("agent", "updates"), ("agent", "values"), ("graph", "updates")]
)
def test_an_abandoned_stream_leaves_nothing_behind(surface, mode, asynchronous):
    guard = ScriptedGuard()
    one = SURFACES[surface](guard)
    value = one.ask(question(1))

    def leave():
        stream = one.runnable.stream(value, stream_mode=mode)
        next(stream)
        stream.close()

    async def aleave():
        stream = one.runnable.astream(value, stream_mode=mode)
        await anext(stream)
        await stream.aclose()

    for left in range(3):
        asyncio.run(aleave()) if asynchronous else leave()
        if left == 0:
            before = alive()
    assert not alive() - before  # an earlier test's objects may go meanwhile
    assert not guard.traces
    assert one.invoke(question(2)) == expected(2)


class Gone(LookupError):
    """What a model fails with."""


def broken(kind):
    """A model of ``kind`` that fails."""

    class Broken(kind):
        def _generate(self, *args, **kwargs):
            raise Gone("the model is gone")

        def _stream(self, *args, **kwargs):
            raise Gone("the model is gone")
            yield

    return Broken()


MODELS = {
    "chain": ScriptedLLM,
    "chat_chain": ScriptedChat,
    "agent": ScriptedAgent,
    "graph": ScriptedChat,
    "function": ScriptedLLM,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("surface", SURFACES)
def test_an_exception_reaches_the_caller_and_leaves_nothing_behind(surface, way):
    guard = ScriptedGuard()
    one = SURFACES[surface](guard, model=broken(MODELS[surface]))
    for attempt in range(3):
        with pytest.raises(Gone, match="the model is gone"):
            run_once(one, way, question(1))
        if attempt == 0:
            before = alive()
    assert not alive() - before  # an earlier test's objects may go meanwhile
    assert not guard.traces
