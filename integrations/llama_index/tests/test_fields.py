"""Structured answers: text fields checked one by one, refused at construction, copies."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import pickle
from copy import deepcopy

import pytest
from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.base.response.schema import PydanticResponse, StreamingResponse
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import CustomQueryEngine
from pydantic import BaseModel

from franq_guard import Policy
from llama_index_franq import guard_agent, guard_chat_engine, guard_query_engine

from .agent_fakes import function_agent, run_of
from .fakes import ScriptedChat, ScriptedGuard, ScriptedLLM, node, question, rag, said
from .secret_parts import guard as real_guard
from .test_afterwards import Tower as AgentTower
from .test_afterwards import function_caller

pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")


class Finding(BaseModel):
    text: str
    page: int


class Summary(BaseModel):
    title: str
    findings: list[Finding] = []


FOUND = Summary(title="Tour 5", findings=[Finding(text="It is tall.", page=3)])


class Writing(CustomQueryEngine):
    streaming: bool = False

    def custom_query(self, query_str):
        if self.streaming:
            return StreamingResponse(iter([Summary(title="T"), FOUND]), [node(5, "tall")])
        return PydanticResponse(FOUND, source_nodes=[node(5, "tall")])


MARK = " [checked: Tower 5]"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_named_fields_leave_one_by_one(asynchronous):
    guard = ScriptedGuard()
    engine = guard_query_engine(Writing(), guard, fields=("findings.text",))
    response = asyncio.run(engine.aquery("?")) if asynchronous else engine.query("?")
    assert response.response.findings == [Finding(text=f"It is tall.{MARK}", page=3)]
    assert response.response.title == "Tour 5"
    rest, value = guard.traces
    assert [claim.text for claim in rest.claims] == ["title: Tour 5", "findings page: 3"]
    assert value.generation.text == "It is tall."
    assert value.claims is None
    report = response.metadata["franq"]
    spans = [report["original"][slice(*v["claim"]["spans"][0])] for v in report["verdicts"]]
    assert spans == ['"Tour 5"', "3", "It is tall."]


def test_all_fields_and_streams():
    engine = guard_query_engine(Writing(streaming=True), ScriptedGuard(), fields=("*",))
    (left,) = engine.query("?").response_gen
    assert left.title == f"Tour 5{MARK}"
    assert left.findings[0].text == f"It is tall.{MARK}"


def test_a_named_field_that_is_taken_out_does_not_take_the_object_with_it():
    guard = ScriptedGuard(policy=Policy(action="filter"))
    named = guard_query_engine(Writing(), guard, fields=("title", "findings"))
    assert named.query("?").response is None  # the page changed, as this guard changes everything
    every = guard_query_engine(Writing(), real_guard(), fields=("*",))
    assert every.query("?").response is not None


def as_json(llm=None):
    llm = (llm or ScriptedLLM(script=[json.dumps(FOUND.model_dump())])).as_structured_llm(Summary)
    return rag(llm)


def test_a_model_that_writes_objects_is_refused_before_it_is_paid():
    llm = ScriptedLLM()
    with pytest.raises(ValueError, match="guard before the parser"):
        guard_query_engine(as_json(llm), ScriptedGuard())
    assert llm.prompts == []
    with pytest.raises(ValueError, match="not one string"):
        guard_query_engine(Writing(), ScriptedGuard(), fields="title")
    with pytest.raises(ValueError, match="are not streamed"):
        guard_query_engine(Writing(), real_guard(), fields=("title",), stream="claims")


def test_what_a_structured_model_wrote_field_by_field():
    engine = guard_query_engine(as_json(), ScriptedGuard(), fields=("title",))
    found = engine.query(question(5)).response
    assert found.title.startswith("Tour 5 [checked: Tower 5")
    assert found.findings == [Finding(text="It is tall.", page=3)]


class Text(CustomQueryEngine):
    """JSON that nothing has parsed yet."""

    def custom_query(self, query_str):
        return json.dumps(FOUND.model_dump())


def test_json_field_by_field():
    engine = guard_query_engine(Text(), ScriptedGuard(), fields=("findings.text",))
    found = json.loads(engine.query(question(5)).response)
    assert found == {
        "title": "Tour 5",
        "findings": [{"text": "It is tall. [checked: ]", "page": 3}],
    }


def test_structured_output_of_an_agent_field_by_field():
    agent = function_agent(function_caller(), output_cls=AgentTower)
    guarded = guard_agent(agent, ScriptedGuard(), fields=("name",))
    result, _, _ = asyncio.run(run_of(guarded, question(4)))
    assert result.structured_response == {"name": "Tower 4 [checked: towers]", "steps": 4}


# Copies ---------------------------------------------------------------------------------------


class Portable(ScriptedGuard):
    """A guard that can be pickled: its lock is made again."""

    def __getstate__(self):
        return {"label": self.label, "policy": self.policy}

    def __setstate__(self, state):
        self.__init__(**state)


def test_a_guarded_query_engine_is_copied_and_pickled():
    guard = Portable(label="doubtful")
    engine = guard_query_engine(rag(ScriptedLLM()), guard, stream="tail", raise_on=("false",))
    copied = deepcopy(engine)
    assert copied._engine is not engine._engine
    assert copied._watch.guard is guard
    for other in (copied, pickle.loads(pickle.dumps(written_by(guard)))):
        assert other.query(question(5)).metadata["franq"]["verdicts"][0]["label"] == "doubtful"
    assert (copied._watch.stream, copied._watch.release.raise_on) == ("tail", ("false",))


def written_by(guard):
    return guard_query_engine(Writing(), guard, fields=("title",))


def test_a_guarded_chat_engine_is_copied():
    memory = ChatMemoryBuffer.from_defaults(token_limit=3000, tokenizer_fn=str.split)
    inner = SimpleChatEngine.from_defaults(llm=ScriptedChat(), memory=memory)
    engine = guard_chat_engine(inner, ScriptedGuard())
    other = deepcopy(engine)
    other.chat(question(1))
    assert engine.chat_history == []
    assert other.chat_history[-1].content == f"{said('run 1')} [checked: ]"


def test_a_guarded_agent_is_copied():
    guarded = guard_agent(function_agent(), ScriptedGuard())
    result, _, _ = asyncio.run(run_of(deepcopy(guarded), question(7)))
    assert result.response.content == f"{said('run 7')} [checked: towers]"


def test_a_copied_agent_shares_what_llamaindex_has_once_a_process(monkeypatch):
    """Its runtime knows all agents, and dropped ones leave it during any allocation."""
    agent = guard_agent(AgentWorkflow(agents=[function_agent(name="one")]), ScriptedGuard())
    dropped = [function_agent() for _ in range(3)]
    copy_tuple = copy._deepcopy_dispatch[tuple]

    def while_one_is_dropped(*given):
        del dropped[:]
        gc.collect()
        return copy_tuple(*given)

    monkeypatch.setitem(copy._deepcopy_dispatch, tuple, while_one_is_dropped)
    other = deepcopy(agent)
    for name in ("_runtime", "_dispatcher"):
        assert getattr(other, name) is getattr(agent, name)
        assert getattr(other.agents["one"], name) is getattr(agent.agents["one"], name)
    assert other.agents["one"].llm is not agent.agents["one"].llm
