"""Many conversations and agents at once: each keeps to its own, and nothing of a run is kept."""

from __future__ import annotations

import asyncio
import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context

import pytest
from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.chat_engine import ContextChatEngine
from workflows.errors import WorkflowCancelledByUser

from llama_index_franq import guard_agent, guard_chat_engine

from .agent_fakes import function_agent, look_up, run_of
from .fakes import RunRetriever, ScriptedChat, ScriptedGuard, marked, memory_of, question, said
from .test_concurrency import alive

TALKS = 40


def conversations(guard):
    llm = ScriptedChat()
    return [
        guard_chat_engine(
            ContextChatEngine.from_defaults(RunRetriever(), llm=llm, memory=memory_of()),
            guard,
        )
        for _ in range(TALKS)
    ]


def assert_kept_apart(engines):
    for i, engine in enumerate(engines):
        said_so_far = [message.content for message in engine.chat_history]
        assert said_so_far == [question(i), marked(i)] * 2


@pytest.mark.parametrize("streaming", [False, True])
def test_conversations_in_threads(streaming):
    engines = conversations(ScriptedGuard())

    def talk(i):
        for _ in range(2):
            if streaming:
                "".join(engines[i].stream_chat(question(i)).response_gen)
            else:
                engines[i].chat(question(i))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(talk, range(TALKS)))
    assert_kept_apart(engines)


@pytest.mark.parametrize("streaming", [False, True])
def test_conversations_in_tasks(streaming):
    engines = conversations(ScriptedGuard())

    async def talk(i):
        for _ in range(2):
            if streaming:
                response = await engines[i].astream_chat(question(i))
                _ = [delta async for delta in response.async_response_gen()]
            else:
                await engines[i].achat(question(i))

    async def all_of_them():
        await asyncio.gather(*(talk(i) for i in range(TALKS)))

    asyncio.run(all_of_them())
    assert_kept_apart(engines)


def test_streams_opened_together_and_read_elsewhere_in_any_order():
    """A chat stream's model is called while it is read: in a bare thread, in an empty context."""
    engines = conversations(ScriptedGuard())
    streams = [engine.stream_chat(question(i)) for i, engine in enumerate(engines)]
    texts: dict[int, str] = {}

    def read(i):
        texts[i] = Context().run(lambda: "".join(streams[i].response_gen))

    threads = [threading.Thread(target=read, args=(i,)) for i in reversed(range(TALKS))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == {i: marked(i) for i in range(TALKS)}
    assert [s.metadata["franq"]["text"] for s in streams] == [marked(i) for i in range(TALKS)]
    assert [e.chat_history[-1].content for e in engines] == [marked(i) for i in range(TALKS)]


def test_async_streams_opened_in_one_task_and_read_in_another():
    engines = conversations(ScriptedGuard())

    async def run():
        opened = await asyncio.gather(*(e.astream_chat(question(i)) for i, e in enumerate(engines)))

        async def read(response):
            return "".join([delta async for delta in response.async_response_gen()])

        return await asyncio.gather(*(asyncio.create_task(read(r)) for r in opened))

    assert asyncio.run(run()) == [marked(i) for i in range(TALKS)]


@pytest.mark.parametrize("turns", [10, pytest.param(300, marks=pytest.mark.slow)])
def test_conversations_keep_nothing_of_a_turn(turns):
    """Turns twice as many: one answered at once, one streamed."""
    guard = ScriptedGuard()
    engine = conversations(guard)[0]

    def talk(n):
        for i in range(n):
            engine.chat(question(i))
            "".join(engine.stream_chat(question(i)).response_gen)
            engine.reset()
        guard.traces.clear()
        gc.collect()

    talk(3)
    before = alive()
    talk(turns)
    assert not alive() - before  # an earlier test's objects may go meanwhile


AGENTS = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")


@AGENTS
@pytest.mark.parametrize("times", [8, pytest.param(500, marks=pytest.mark.slow)])
def test_agents_keep_nothing_of_a_run(times):
    guard = ScriptedGuard()
    agent = guard_agent(function_agent(), guard)

    def runs(n):
        for i in range(n):
            asyncio.run(run_of(agent, question(i)))
        guard.traces.clear()
        gc.collect()

    runs(2)
    before = alive()
    runs(times)
    assert not alive() - before  # an earlier test's objects may go meanwhile


def agents(kind, guard):
    """A guarded agent of a kind, and the title of its evidence."""
    if kind == "function":
        return guard_agent(function_agent(), guard)
    member = function_agent(name="one", description="knows towers")
    return guard_agent(AgentWorkflow(agents=[member], root_agent="one"), guard)


def assert_own_runs(results, guard):
    for i, (result, _, streamed) in enumerate(results):
        assert result.response.content == streamed == f"{said(f'run {i}')} [checked: towers]"
    assert len(guard.traces) == TALKS
    for trace in guard.traces:
        assert [p.text for p in trace.passages] == [look_up(trace.question)]
        assert look_up(trace.question) in trace.generation.prompt


@AGENTS
@pytest.mark.parametrize("kind", ["function", "workflow"])
def test_runs_of_one_agent_in_tasks(kind):
    guard = ScriptedGuard()
    agent = agents(kind, guard)

    async def all_of_them():
        return await asyncio.gather(*(run_of(agent, question(i)) for i in range(TALKS)))

    assert_own_runs(asyncio.run(all_of_them()), guard)


@AGENTS
@pytest.mark.parametrize("kind", ["function", "workflow"])
def test_runs_of_one_agent_in_threads(kind):
    guard = ScriptedGuard()
    agent = agents(kind, guard)

    def one(i):
        return asyncio.run(run_of(agent, question(i)))

    with ThreadPoolExecutor(8) as pool:
        assert_own_runs(list(pool.map(one, range(TALKS))), guard)


class Endless(ScriptedGuard):
    """Its check goes on until it is stopped."""

    def __init__(self):
        super().__init__()
        self.checking, self.stop = threading.Event(), threading.Event()

    def check_trace(self, trace):
        self.checking.set()
        self.stop.wait(5)
        return super().check_trace(trace)


@AGENTS
def test_an_agent_that_is_cancelled_leaves_nothing_behind():
    guard = Endless()
    agent = guard_agent(function_agent(), guard)
    memory = memory_of()

    async def cancelled():
        handler = agent.run(user_msg=question(1), memory=memory)
        while not guard.checking.is_set():
            await asyncio.sleep(0.001)
        await handler.cancel_run()
        guard.stop.set()  # the check itself runs in a thread, which cannot be stopped
        with pytest.raises(WorkflowCancelledByUser):
            await handler

    asyncio.run(cancelled())
    assert [m.role.value for m in memory.get_all()] == ["user"]
    guard.traces.clear()
    result, _, _ = asyncio.run(run_of(agent, question(2), memory=memory))
    assert result.response.content == f"{said('run 2')} [checked: towers]"
    assert [p.text for p in guard.traces[0].passages] == [look_up("run 2")]
