"""Guards side by side and within each other, under many runs at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from langchain_core.runnables import RunnableParallel

from langchain_franq import guard_chain

from .fakes import ScriptedChat, ScriptedGuard, ScriptedLLM, expected, lcel, question

RUNS = 40
QUESTIONS = [question(i) for i in range(RUNS)]
EXPECTED = [expected(i) for i in range(RUNS)]


def _in_threads(one):
    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(one, QUESTIONS))


def test_two_guards_side_by_side_keep_apart():
    first, second = ScriptedGuard(), ScriptedGuard()
    both = RunnableParallel(
        a=guard_chain(lcel(ScriptedLLM()), first), b=guard_chain(lcel(ScriptedChat()), second)
    )
    outputs = _in_threads(both.invoke)
    assert outputs == [{"a": text, "b": text} for text in EXPECTED]
    assert len(first.traces) == len(second.traces) == RUNS


def test_a_guard_inside_a_guard_sees_the_same_evidence():
    inner, outer = ScriptedGuard(), ScriptedGuard()
    chain = guard_chain(guard_chain(lcel(ScriptedLLM()), inner), outer)
    outputs = _in_threads(chain.invoke)
    for i, output in enumerate(outputs):
        assert output == f"{EXPECTED[i]} [checked: Tower {i},Tower {i}]"
    assert all(len(trace.passages) == 2 for trace in outer.traces)
