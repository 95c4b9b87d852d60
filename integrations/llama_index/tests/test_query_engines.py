"""What a guarded query engine takes and returns, for each response mode and kind of engine."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import (
    CitationQueryEngine,
    CustomQueryEngine,
    RetrieverQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
)
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.response_synthesizers.context_only import ContextOnly
from llama_index.core.response_synthesizers.no_text import NoText
from llama_index.core.schema import QueryBundle
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import QueryEngineTool
from pydantic import BaseModel

from franq_guard import Evidence, Policy
from llama_index_franq import guard_query_engine
from llama_index_franq._structured import Fields

from .fakes import (
    RunRetriever,
    ScriptedChat,
    ScriptedGuard,
    ScriptedLLM,
    marked,
    memory_of,
    node,
    question,
    rag,
    said,
)

MODES = ("compact", "refine", "tree_summarize", "simple_summarize")


async def _stream_of(engine, asked):
    response = await engine.aquery(asked)
    return response, "".join([chunk async for chunk in response.async_response_gen()])


def run_all_ways(make, asked):
    """(response, text) of the four ways to query; ``make(streaming)`` builds the engine."""
    answers = [make(False).query(asked), asyncio.run(make(False).aquery(asked))]
    assert all(type(answer) is Response for answer in answers)
    streamed = make(True).query(asked)
    assert type(streamed) is StreamingResponse
    assert streamed.metadata["franq"] == {}
    text = "".join(streamed.response_gen)
    atext = asyncio.run(_stream_of(make(True), asked))
    assert type(atext[0]) is AsyncStreamingResponse
    return [(answer, answer.response) for answer in answers] + [(streamed, text), atext]


@pytest.mark.parametrize("llm", [ScriptedLLM, ScriptedChat])
@pytest.mark.parametrize("mode", MODES)
def test_each_response_mode_each_way(mode, llm):
    guard = ScriptedGuard()

    def make(streaming):
        return guard_query_engine(rag(llm(), response_mode=mode, streaming=streaming), guard)

    for response, text in run_all_ways(make, question(7)):
        assert text == marked(7)
        assert [n.node.node_id for n in response.source_nodes] == ["7-tall", "7-old"]
        report = response.metadata["franq"]
        assert (report["schema"], report["text"]) == ("franq.answer/1", marked(7))
        assert response.metadata["7-tall"]["title"] == "Tower 7"
    for trace in guard.traces:
        assert trace.question == question(7)
        assert [p.id for p in trace.passages] == ["7-tall", "7-old"]
        assert trace.generation.text == said("run 7")
        assert question(7) in trace.generation.prompt


@pytest.mark.parametrize("streaming", [False, True])
def test_generation_asks_the_model_alone(streaming):
    guard = ScriptedGuard()
    inner = rag(ScriptedLLM(), response_mode="generation", streaming=streaming)
    response = guard_query_engine(inner, guard).query(question(7))
    text = "".join(response.response_gen) if streaming else response.response
    assert text.startswith(said("run 7"))
    (trace,) = guard.traces
    assert question(7) in trace.generation.prompt
    assert "The archive says" not in trace.generation.prompt


@pytest.mark.parametrize("mode", ["accumulate", "compact_accumulate"])
def test_accumulated_answers_are_checked_one_by_one(mode):
    guard = ScriptedGuard()
    llm = ScriptedLLM(script=["It is tall.", "It is old."] * 2)
    engine = guard_query_engine(rag(llm, response_mode=mode), guard)
    if mode == "compact_accumulate":  # both nodes fit one prompt
        assert engine.query(question(3)).response.startswith("Response 1: It is tall. [checked")
        return
    for response in (engine.query(question(3)), asyncio.run(engine.aquery(question(3)))):
        mark = "[checked: Tower 3,Tower 3]"
        assert response.response == (
            f"Response 1: It is tall. {mark}\n---------------------\nResponse 2: It is old. {mark}"
        )
        report = response.metadata["franq"]
        spans = [verdict["claim"]["spans"][0] for verdict in report["verdicts"]]
        texts = [report["original"][start:end] for start, end in spans]
        assert texts == ["It is tall.", "It is old."]
    prompts = [trace.generation.prompt for trace in guard.traces[:2]]
    assert "is tall" in prompts[0]
    assert "is tall" not in prompts[1]


@pytest.mark.parametrize("synthesizer", [NoText, ContextOnly])
def test_modes_that_write_no_answer_are_refused(synthesizer):
    engine = RetrieverQueryEngine(RunRetriever(), synthesizer(llm=ScriptedLLM()))
    with pytest.raises(ValueError, match="writes no answer"):
        guard_query_engine(engine, ScriptedGuard())


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="not str"):
        guard_query_engine("engine", ScriptedGuard())
    with pytest.raises(ValueError, match="buffer"):
        guard_query_engine(rag(ScriptedLLM()), ScriptedGuard(), stream="fast")


class Talking(CustomQueryEngine):
    chat: object

    def custom_query(self, query_str):
        return self.chat.chat(query_str).response


def test_a_memory_of_raw_answers_inside_is_warned_of():
    chat = SimpleChatEngine.from_defaults(llm=ScriptedChat(), memory=memory_of())
    with pytest.warns(UserWarning, match="SimpleChatEngine inside .* guard_chat_engine"):
        guard_query_engine(Talking(chat=chat), ScriptedGuard())


class KeepLast(BaseNodePostprocessor):
    def _postprocess_nodes(self, nodes, query_bundle=None):
        return nodes[-1:]


def test_evidence_is_what_post_processing_left():
    guard = ScriptedGuard()
    guard_query_engine(rag(ScriptedLLM(), node_postprocessors=[KeepLast()]), guard).query(
        question(1)
    )
    assert [p.id for p in guard.traces[0].passages] == ["1-old"]


def test_what_speaks_against_a_claim_names_its_node_too():
    guard = ScriptedGuard(label="false", against=Evidence(0, 0, 3, 0.9))
    report = guard_query_engine(rag(ScriptedLLM()), guard).query(question(7)).metadata["franq"]
    (verdict,) = report["verdicts"]
    assert verdict["against"] == {"passage": 0, "start": 0, "end": 3, "node_id": "7-tall"}
    assert verdict["evidence"] is None


def test_nothing_retrieved_is_no_claim():
    guard = ScriptedGuard()

    class Drop(KeepLast):
        def _postprocess_nodes(self, nodes, query_bundle=None):
            return []

    for streaming in (False, True):
        engine = rag(ScriptedLLM(), node_postprocessors=[Drop()], streaming=streaming)
        str(guard_query_engine(engine, guard).query(question(1)))
    for trace in guard.traces:
        assert trace.generation.text == "Empty Response"
        assert [c.not_a_claim for c in trace.claims] == ["nothing was asked of the model"]


def test_citation_engine():
    guard = ScriptedGuard()
    engine = CitationQueryEngine(RunRetriever(), llm=ScriptedLLM())
    response = guard_query_engine(engine, guard).query(question(4))
    (trace,) = guard.traces
    assert response.response.startswith(said("run 4"))
    assert "Source 1:\nThe archive says" in trace.passages[0].text
    assert "The archive says" not in trace.contrast_prompt


class TwoQuestions(BaseQuestionGenerator):
    def generate(self, tools, query):
        return [SubQuestion(sub_question=question(i), tool_name="towers") for i in (1, 2)]

    async def agenerate(self, tools, query):
        return self.generate(tools, query)

    def _get_prompts(self):
        return {}

    def _update_prompts(self, prompts):
        pass


@pytest.mark.parametrize("use_async", [False, True])
def test_sub_questions_are_scored_against_documents_not_sub_answers(use_async):
    guard = ScriptedGuard()
    tool = QueryEngineTool.from_defaults(rag(ScriptedLLM()), name="towers", description="towers")
    engine = SubQuestionQueryEngine.from_defaults(
        [tool],
        llm=ScriptedLLM(),
        question_gen=TwoQuestions(),
        verbose=False,
        use_async=use_async,
    )
    guarded = guard_query_engine(engine, guard)
    responses = [guarded.query("Which is taller?"), asyncio.run(guarded.aquery("Which is taller?"))]
    for response in responses:
        assert len(response.source_nodes) == 6
    answers = [trace for trace in guard.traces if trace.question == "Which is taller?"]
    assert len(answers) == len(responses)
    for trace in answers:
        assert {p.id for p in trace.passages} == {"1-tall", "1-old", "2-tall", "2-old"}
        assert "Which is taller?" in trace.generation.prompt
        assert "Sub question" not in trace.contrast_prompt


def test_router_engine_with_a_guarded_engine_inside():
    inner, outer = ScriptedGuard(), ScriptedGuard()
    towers = guard_query_engine(rag(ScriptedLLM()), inner)
    tool = QueryEngineTool.from_defaults(towers, name="towers", description="towers")
    llm = ScriptedLLM(script=['[{"choice": 1, "reason": "it fits"}]'])
    router = RouterQueryEngine(LLMSingleSelector.from_defaults(llm=llm), [tool], llm=ScriptedLLM())
    response = guard_query_engine(router, outer).query(question(5))
    assert inner.traces[0].generation.text == said("run 5")
    assert outer.traces[0].generation.text == marked(5)
    assert [p.id for p in outer.traces[0].passages] == ["5-tall", "5-old"]
    assert response.response == f"{marked(5)} [checked: Tower 5,Tower 5]"


class Homemade(CustomQueryEngine):
    llm: ScriptedLLM
    with_nodes: bool = False

    def custom_query(self, query_str):
        nodes = RunRetriever().retrieve(query_str)[:1]
        text = self.llm.complete(f"{nodes[0].node.text}\n{query_str}").text
        return Response(text, source_nodes=nodes) if self.with_nodes else text


@pytest.mark.parametrize("with_nodes", [True, False])
def test_custom_engine(with_nodes):
    guard = ScriptedGuard()
    engine = guard_query_engine(Homemade(llm=ScriptedLLM(), with_nodes=with_nodes), guard)
    for response in (engine.query(question(6)), asyncio.run(engine.aquery(question(6)))):
        assert response.response == f"{said('run 6')} [checked: Tower 6]"
    # Retrieved, but never shown to the model: no evidence.
    assert [p.id for p in guard.traces[0].passages] == ["6-tall"]


class Odd(CustomQueryEngine):
    def custom_query(self, query_str):
        return {"answer": "unchecked"}


def test_an_unknown_kind_of_response_is_not_let_through():
    with pytest.raises(TypeError, match="returned dict"):
        guard_query_engine(Odd(), ScriptedGuard()).query("?")


class Tower(BaseModel):
    name: str
    height_m: int
    notes: list[str] = []


class Structured(CustomQueryEngine):
    def custom_query(self, query_str):
        tower = Tower(name="Tour 5", height_m=5, notes=["old", "5 m wide"])
        return PydanticResponse(tower, source_nodes=[node(5, "tall")])


def test_structured_answers_have_a_claim_for_each_field():
    guard = ScriptedGuard()
    response = guard_query_engine(Structured(), guard).query("?")
    assert response.response == Tower(name="Tour 5", height_m=5, notes=["old", "5 m wide"])
    report = response.metadata["franq"]
    text = '{"name": "Tour 5", "height_m": 5, "notes": ["old", "5 m wide"]}'
    assert report["original"] == text
    claims = [v["claim"] for v in report["verdicts"]]
    assert [c["text"] for c in claims] == [
        "name: Tour 5",
        "height m: 5",
        "notes: old",
        "notes: 5 m wide",
    ]
    assert [text[slice(*c["spans"][0])] for c in claims] == ['"Tour 5"', "5", '"old"', '"5 m wide"']


def test_structured_answers_go_as_a_whole_where_the_policy_takes_something_out():
    guard = ScriptedGuard(policy=Policy(action="block"))
    engine = guard_query_engine(Structured(), guard)
    for response in (engine.query("?"), asyncio.run(engine.aquery("?"))):
        assert response.response is None
        assert "checked" in response.metadata["franq"]["text"]


def test_retrieve_and_synthesize():
    guard = ScriptedGuard()
    engine = guard_query_engine(rag(ScriptedLLM()), guard)
    asked = QueryBundle(question(8))
    nodes = engine.retrieve(asked)
    assert nodes == asyncio.run(engine.aretrieve(asked))
    more = [node(9, "wide")]
    responses = [
        engine.synthesize(asked, nodes, more),
        asyncio.run(engine.asynthesize(asked, nodes, more)),
        engine.synthesize(question(8), nodes, more),
        asyncio.run(engine.asynthesize(question(8), nodes, more)),
    ]
    for response in responses:
        assert response.response == f"{said('run 8')} [checked: Tower 8,Tower 8,Tower 9]"


def test_prompts_of_the_engine_are_read_and_changed_under_their_own_names():
    llm = ScriptedLLM()
    plain = rag(llm)
    engine = guard_query_engine(plain, ScriptedGuard())
    key = "response_synthesizer:text_qa_template"
    assert [*engine.get_prompts()] == [*plain.get_prompts()]
    engine.update_prompts({key: PromptTemplate("Be brief. {context_str} {query_str}")})
    response = engine.query(question(7))
    assert response.response == marked(7)
    assert llm.prompts[-1].startswith("Be brief. ")


def test_report_goes_to_on_report_and_what_it_raises_to_the_caller():
    class Rejected(Exception):
        pass

    seen = []
    engine = guard_query_engine(rag(ScriptedLLM()), ScriptedGuard(), on_report=seen.append)
    engine.query(question(1))
    assert [answer.text for answer in seen] == [marked(1)]

    def reject(answer):
        raise Rejected(answer.status)

    engine = guard_query_engine(rag(ScriptedLLM()), ScriptedGuard(), on_report=reject)
    with pytest.raises(Rejected, match="ok"):
        engine.query(question(1))


class Part(BaseModel):
    notes: str | None
    open: bool


class Nested(BaseModel):
    notes: list[str]
    part: Part
    weight: float


@given(st.lists(st.text()), st.none() | st.text(), st.booleans(), st.floats(allow_nan=False))
def test_the_spans_of_fields_are_their_values(notes, note, opened, weight):
    found = Nested(notes=notes, part=Part(notes=note, open=opened), weight=weight)
    fields = Fields(found)
    assert json.loads(fields.text) == found.model_dump()
    values = [json.loads(fields.text[slice(*claim.spans[0])]) for claim in fields.claims]
    assert values == [v for v in [*notes, note, opened, weight] if v not in (None, "")]
    assert fields.claims[-1].text == f"weight: {weight}"
    assert Fields(None).text == ""
