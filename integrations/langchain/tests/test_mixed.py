"""Runs of every kind at once, each with a secret: none is mixed with another or shown early."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from langchain_franq import FranqCallback

from .fakes import ScriptedGuard, expected, lcel, question, said
from .fakes import ScriptedLLM as Model
from .surfaces import SURFACES


class Noting(ScriptedGuard):
    """Knows which answers it has checked."""

    def __init__(self):
        super().__init__()
        self.done: set[str] = set()
        self._noted = threading.Lock()

    def check_trace(self, trace):
        checked = super().check_trace(trace)
        with self._noted:
            self.done.add(trace.generation.text)
        return checked


def run_one(surface, way: str, number: int, guard: Noting) -> str:
    if way == "invoke":
        return surface.invoke(question(number))
    if way == "batch":
        return surface.batch([question(number)])[0]
    shown = []
    for chunk in surface.runnable.stream(surface.ask(question(number)), **(surface.options or {})):
        early = said(f"run {number}") not in guard.done
        assert not (early and f"{number} steps" in str(chunk)), "it left before its check"
        shown.append(chunk)
    return surface.shown(shown)


async def arun_one(surface, way: str, number: int) -> str:
    return await (surface.ainvoke if way == "ainvoke" else surface.astream)(question(number))


@pytest.mark.parametrize("runs", [150, pytest.param(1500, marks=pytest.mark.slow)])
def test_mixed_runs_with_a_secret_each(runs):
    guard = Noting()
    surfaces = [make(guard) for make in SURFACES.values()]
    reports = []
    watch = FranqCallback(Noting(), reports.append, queue_size=runs)
    plain = lcel(Model())

    def in_threads(number: int) -> str:
        if number % 10 == 9:  # an unguarded application, watched at the same time
            return plain.invoke(question(number), {"callbacks": [watch]})
        way = ("invoke", "batch", "stream")[number % 3]
        return run_one(surfaces[number % len(surfaces)], way, number, guard)

    async def in_tasks(numbers: range) -> list[str]:
        ways = ("ainvoke", "astream")
        return await asyncio.gather(
            *(arun_one(surfaces[i % len(surfaces)], ways[i // 5 % 2], i) for i in numbers)
        )

    half = runs // 2
    with ThreadPoolExecutor(13) as pool:
        tasks = pool.submit(asyncio.run, in_tasks(range(half, runs)))
        shown = list(pool.map(in_threads, range(half)))
        shown += tasks.result()
    wanted = [said(f"run {i}") if i % 10 == 9 and i < half else expected(i) for i in range(runs)]
    assert shown == wanted
    assert watch.flush(60)
    assert sorted(r.original for r in reports) == sorted(w for w in wanted if "[checked" not in w)
    for trace in guard.traces:
        (number,) = {passage.id.split("-")[0] for passage in trace.passages}
        assert trace.question == question(int(number))
        assert f"of run {number} is tall" in trace.generation.prompt
