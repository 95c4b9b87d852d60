"""Stopping answers, falling back, and log-probabilities that servers send."""

from __future__ import annotations

import asyncio
import re

import pytest
from langchain_core.runnables import RunnableLambda

from franq_guard import Calibrator, Guard
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel
from langchain_franq import FactualityError, guard_chain

from .fakes import ScriptedChat, ScriptedGuard, ScriptedLLM, expected, lcel, question, said


def test_a_weak_answer_raises_instead_of_leaving():
    chain = guard_chain(lcel(ScriptedLLM()), ScriptedGuard(label="false"), raise_on=("false",))
    ways = [
        lambda: chain.invoke(question(1)),
        lambda: asyncio.run(chain.ainvoke(question(1))),
        lambda: chain.batch([question(1)]),
        lambda: asyncio.run(chain.abatch([question(1)])),
        lambda: list(chain.stream(question(1))),
    ]
    for way in ways:
        with pytest.raises(FactualityError) as caught:
            way()
        assert "tower" not in str(caught.value)  # logs must not spread what was stopped
        assert caught.value.answer.original == said("run 1")
        assert [v.label for v in caught.value.verdicts] == ["false"]
    errors = chain.batch([question(1), question(2)], return_exceptions=True)
    assert [type(error) for error in errors] == [FactualityError] * 2


def test_fallbacks_answer_instead_and_know_why():
    first = guard_chain(lcel(ScriptedLLM()), ScriptedGuard(label="false"), raise_on=("false",))
    other = guard_chain(lcel(ScriptedChat()), ScriptedGuard())
    assert first.with_fallbacks([other]).invoke(question(1)) == expected(1)
    assert first.with_fallbacks([other]).batch([question(1)]) == [expected(1)]
    assert list(first.with_fallbacks([other]).stream(question(1))) == [expected(1)]

    asked = RunnableLambda(lambda value: value["question"]) | first
    told = RunnableLambda(lambda value: value["error"].verdicts[0].claim.text)
    again = asked.with_fallbacks([told], exception_key="error")
    assert again.invoke({"question": question(1)}) == said("run 1")


@pytest.mark.parametrize("labels", ["false", ("wrong",)])
def test_labels_are_checked_at_construction(labels):
    with pytest.raises(ValueError, match="raise_on takes labels"):
        guard_chain(lcel(ScriptedLLM()), ScriptedGuard(), raise_on=labels)


def chat_logprobs(*pieces):
    return {"logprobs": {"content": [{"token": t, "bytes": b, "logprob": p} for t, b, p in pieces]}}


def test_a_server_model_in_a_chain_needs_no_second_reading():
    text = said("run 1")
    info = chat_logprobs(*((word, None, -0.1) for word in re.findall(r"\s*\S+", text)))
    model = ScriptedChat(metadata_of_answer=info)
    guard = ScriptedGuard()
    guard_chain(lcel(model), guard).invoke(question(1))
    generation = guard.traces[0].generation
    assert generation.source == "server"
    assert generation.text == text
    # With the real guard: its fake model gives the contrast, the server's values are used as sent.
    real = Guard(
        language_model=FakeLanguageModel(),
        faithfulness=FakeFaithfulness(),
        franq=Calibrator.uncalibrated(),
    )
    reports = []
    guard_chain(lcel(model), real, on_report=reports.append).invoke(question(1))
    first, second = reports[0].verdicts
    assert first.raw["uq_faith"] == pytest.approx(-0.1 * 7)
    assert second.raw["uq_faith"] == pytest.approx(-0.1 * 4)
