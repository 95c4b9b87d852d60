"""No stream shows unchecked text."""

from __future__ import annotations

import asyncio
import gc
import weakref
from functools import reduce

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableGenerator, RunnableLambda

from franq_guard import Policy
from langchain_franq import FactualityError, _call, guard_chain

from .fakes import ScriptedChat, ScriptedGuard, ScriptedLLM, expected, lcel, question, said
from .test_chain_shapes import retrieval_chain


def chunks_of(chain, value):
    async def streamed():
        return [chunk async for chunk in chain.astream(value)]

    return [list(chain.stream(value)), asyncio.run(streamed())]


@pytest.mark.parametrize("model", [ScriptedLLM(), ScriptedChat()])
def test_the_answer_comes_as_one_chunk(model):
    for chunks in chunks_of(guard_chain(lcel(model), ScriptedGuard()), question(1)):
        assert chunks == [expected(1)]


def test_messages_come_as_one_chunk():
    chain = guard_chain(lcel(ScriptedChat(), parse=False), ScriptedGuard())
    for chunks in chunks_of(chain, question(1)):
        assert [chunk.text for chunk in chunks] == [expected(1)]


def test_documents_pass_before_the_answer_is_written():
    chain = guard_chain(retrieval_chain(), ScriptedGuard())
    for chunks in chunks_of(chain, {"input": question(2)}):
        assert [sorted(chunk) for chunk in chunks] == [["input"], ["context"], ["answer", "franq"]]
        assert chunks[-1]["answer"] == expected(2)


def test_nothing_leaves_before_the_check_is_over():
    """Every chunk that the caller has when the guard starts to check is free of the answer."""
    seen: list[str] = []

    class Watching(ScriptedGuard):
        def check_trace(self, trace):
            assert "tall. It has" not in "".join(seen)
            return super().check_trace(trace)

    for chunk in guard_chain(retrieval_chain(), Watching()).stream({"input": question(2)}):
        seen.append(str(chunk))
    assert "[checked: " in seen[-1]


@pytest.mark.parametrize(
    "leak",
    [
        {"node": {"answer": "raw"}},
        {"messages": [AIMessage("raw")]},
        {"draft": "raw"},
        {"draft": ("raw", {})},
        {"draft": object()},
    ],
)
@pytest.mark.parametrize("output_key", [None, "answer"])
def test_text_under_any_key_is_held_until_the_check(leak, output_key):
    def steps(_):
        yield leak
        yield {"answer": "Because."}

    seen = []
    guard = ScriptedGuard()
    chain = guard_chain(RunnableGenerator(steps), guard, output_key=output_key)
    for chunk in chain.stream("Why?"):
        seen.append(chunk)
        assert guard.traces, "a chunk left before the answer was checked"
    assert len(seen) == 1


@pytest.mark.parametrize(
    "chunks", [[("messages", AIMessage("raw"))], [1, 2], ["text", {"answer": "x"}]]
)
def test_unknown_streams_raise(chunks):
    def steps(_):
        yield from chunks

    chain = guard_chain(RunnableGenerator(steps), ScriptedGuard())
    with pytest.raises(TypeError, match=r"guard_chain cannot put together"):
        list(chain.stream("Why?"))


def test_a_compiled_graph_does_not_stream():
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(dict)
    graph.add_node("write", lambda state: {"answer": "Because."})
    graph.add_edge(START, "write")
    graph.add_edge("write", END)
    compiled = graph.compile()
    for chain in (
        compiled,
        RunnableLambda(dict) | compiled.with_config(tags=["x"]),
        compiled.with_retry(),
        compiled.with_fallbacks([compiled]),
    ):
        guarded = guard_chain(chain, ScriptedGuard())
        assert guarded.invoke({"question": "Why?"})["answer"] == "Because. [checked: ]"
        with pytest.raises(TypeError, match=r"FranqMiddleware.*guard_node.*stream that"):
            next(guarded.stream({"question": "Why?"}))
        with pytest.raises(TypeError, match="FranqMiddleware"):
            asyncio.run(anext(guarded.astream({"question": "Why?"})))


def test_an_abandoned_stream_leaves_nothing_behind(monkeypatch):
    calls: weakref.WeakSet = weakref.WeakSet()

    class Watched(_call.Call):
        __hash__ = object.__hash__

        def __init__(self, *args):
            super().__init__(*args)
            calls.add(self)

    monkeypatch.setattr("langchain_franq.chain.Call", Watched)
    guard = ScriptedGuard()
    chain = guard_chain(retrieval_chain(), guard)
    stream = chain.stream({"input": question(3)})
    next(stream)
    assert len(calls) == 1
    stream.close()

    async def abandoned():
        stream = chain.astream({"input": question(3)})
        await anext(stream)
        await stream.aclose()

    asyncio.run(abandoned())
    del stream
    gc.collect()
    assert not calls
    assert not guard.traces


def test_a_cancelled_task_leaves_the_guard_usable():
    guard = ScriptedGuard()
    chain = guard_chain(lcel(ScriptedLLM()), guard)

    async def main():
        task = asyncio.create_task(chain.ainvoke(question(1)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await chain.ainvoke(question(2))

    assert asyncio.run(main()) == expected(2)


def test_an_empty_stream_stays_empty():
    def nothing(_):
        yield from ()

    chain = guard_chain(RunnableGenerator(nothing), guard := ScriptedGuard())
    assert list(chain.stream("Why?")) == []
    assert not guard.traces


REMARK = "\n[likely false] The tower of run 3 is tall. It has 3 steps."


def test_tail_streams_the_raw_text_and_says_what_is_weak():
    guard = ScriptedGuard(label="false")
    chain = guard_chain(lcel(ScriptedLLM()), guard, stream="tail")
    for chunks in chunks_of(chain, question(3)):
        assert "".join(chunks[:-1]) == said("run 3")
        assert len(chunks) > 3
        assert chunks[-1] == REMARK
    assert chain.invoke(question(3)) == expected(3)  # only streams are advisory


def test_tail_says_nothing_of_labels_that_the_policy_lets_pass():
    for weak, remark in ((("false", "unsupported"), "[not in the passages]"), (("false",), "")):
        guard = ScriptedGuard(label="unsupported", policy=Policy(weak=weak))
        (*_, last) = guard_chain(lcel(ScriptedLLM()), guard, stream="tail").stream(question(3))
        assert last.strip().startswith(remark)
        assert bool(last) == bool(remark)


def test_tail_of_messages_and_dicts_carries_the_report():
    guard = ScriptedGuard(label="false")
    chain = guard_chain(lcel(ScriptedChat(), parse=False), guard, stream="tail")
    whole = reduce(lambda a, b: a + b, chain.stream("run 3"))
    assert whole.text == said("run 3") + REMARK
    assert whole.response_metadata["franq"]["status"] == "ok"
    value = {"input": question(3)}
    chunks = list(guard_chain(retrieval_chain(), guard, stream="tail").stream(value))
    whole = reduce(lambda a, b: a + b, chunks)
    assert whole["answer"] == said("run 3") + REMARK
    assert whole["franq"]["status"] == "ok"


def test_tail_can_still_stop_what_follows():
    chain = guard_chain(
        lcel(ScriptedLLM()), ScriptedGuard(label="false"), stream="tail", raise_on=("false",)
    )
    with pytest.raises(FactualityError):
        list(chain.stream(question(3)))


def test_what_the_caller_gave_passes_at_once():
    def steps(value):
        (given,) = value
        yield {"question": given}
        yield {"scores": [0.5], "context": [Document("x")], "nothing": None}
        yield {"answer": "Because."}

    chunks = list(guard_chain(RunnableGenerator(steps), ScriptedGuard()).stream("Why?"))
    assert [sorted(c) for c in chunks] == [
        ["question"],
        ["context", "nothing", "scores"],
        ["answer", "franq"],
    ]
