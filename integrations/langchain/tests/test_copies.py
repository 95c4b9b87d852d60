"""Guarded chains, agents and nodes can be pickled and copied."""

from __future__ import annotations

import copy
import pickle

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import FakeListLLM
from langchain_core.messages import HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import PromptTemplate

from franq_guard import GuardedAnswer
from langchain_franq import FranqMiddleware, guard_chain, guard_node

from .fakes import ScriptedChat, ScriptedGuard


class PlainGuard:
    """A guard without locks."""

    def check_trace(self, trace):
        answer = trace.generation.text
        return GuardedAnswer(f"{answer} [checked: ]", answer, (), "ok")

    async def acheck_trace(self, trace):
        return self.check_trace(trace)

    def check_many(self, traces, **_):
        return map(self.check_trace, traces)

    def using(self, *, language_model):
        return self

    language_model = renderer = None


CHAIN = PromptTemplate.from_template("{question}") | FakeListLLM(responses=["Yes."])
COPIES = {
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),
}


@pytest.mark.parametrize("way", COPIES)
def test_a_guarded_chain_is_copied(way):
    chain = guard_chain(CHAIN | StrOutputParser(), PlainGuard(), evidence="context")
    other = COPIES[way](chain)
    assert other is not chain
    for one in (chain, other):
        assert one.invoke({"question": "?", "context": "x"}) == "Yes. [checked: ]"
    assert other.evidence == "context"


def test_a_copy_shares_the_guard():
    chain = guard_chain(CHAIN, guard := ScriptedGuard())  # which has a lock
    other = copy.deepcopy(chain)
    assert other.guard is guard
    assert other.bound is not chain.bound
    assert other.invoke({"question": "?"}) == "Yes. [checked: ]"


@pytest.mark.parametrize("way", COPIES)
def test_a_node_and_a_middleware_are_copied(way):
    node = COPIES[way](guard_node(PlainGuard(), CHAIN | {"answer": StrOutputParser()}))
    assert node.invoke({"question": "?"})["answer"] == "Yes. [checked: ]"
    middleware = COPIES[way](FranqMiddleware(PlainGuard()))
    output = create_agent(ScriptedChat(), middleware=[middleware]).invoke(
        {"messages": [HumanMessage("run 7")]}
    )
    assert output["messages"][-1].text.endswith("[checked: ]")


def test_a_chain_with_a_local_model_finds_it_again(pipe, smollm2):
    chain = guard_chain(CHAIN.first | pipe, guard := ScriptedGuard())
    # The weights are not copied here: what is looked at is the recorder of the copied chain.
    other = chain.model_copy()
    state = chain.__getstate__()
    other.__setstate__(state)
    assert [model._model for model in other.models] == [smollm2.model]
    other.invoke({"question": "How old is the tower?"})
    assert guard.traces[0].generation.source == "captured"
