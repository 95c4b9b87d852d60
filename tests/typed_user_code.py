"""Code as a user writes it: never run, but type-checked strictly by `make check`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_type

from franq_guard import Generation, Guard, GuardedAnswer, Passage, Policy, Trace, Verdict
from franq_guard.language_model import LanguageModel
from franq_guard.records import CitationFinding, Label, Status
from franq_guard.streaming import ClaimStream, Release


def without_flagged(answer: str, verdicts: Sequence[Verdict]) -> str:
    return "" if any(verdict.label == "false" for verdict in verdicts) else answer


def build() -> Guard:
    policy = Policy(action=without_flagged, on_error="closed")
    guard = Guard.offline(policy=policy, form="auto", deadline=2.5)
    assert_type(guard.warm(), Guard)
    return guard


def check(guard: Guard) -> list[str]:
    answer = guard.check("Which town?", ["Rome is big.", Passage("Bonn is small.")], "Rome is big.")
    assert_type(answer, GuardedAnswer)
    assert_type(answer.status, Status)
    for verdict in answer.verdicts:
        assert_type(verdict.label, Label)
        assert_type(verdict.p_true, float | None)
        assert_type(verdict.citations, tuple[CitationFinding, ...])
    return [found.finding for verdict in answer.verdicts for found in verdict.citations]


async def stream(guard: Guard, trace: Trace) -> str:
    assert_type(await guard.acheck_trace(trace), GuardedAnswer)
    told: list[GuardedAnswer] = []
    found = ClaimStream(guard, lambda text: (guard, trace), release=Release(told.append))
    text = found.feed("Rome is big.")
    found.end()
    while (more := found.wait()) is not None:
        text += more
    return text + found.rest


def batch(guard: Guard) -> list[GuardedAnswer]:
    traces = (Trace("Which town?", (), Generation(text)) for text in ("Rome.", "Bonn."))
    given = [("Which town?", ["Rome is a town."], "Rome.")]
    checked = [*guard.check_many(traces, batch_size=2, progress=lambda done: None)]
    assert_type(checked[0].flagged, tuple[Verdict, ...])
    assert_type(checked[0].score, float | None)
    assert_type(checked[0].to_html(), str)
    return [*checked, *guard.check_many(given)]


def another_model(model: LanguageModel) -> Guard:
    return Guard.offline(language_model=model, deadline=3.0, evidence=False)
