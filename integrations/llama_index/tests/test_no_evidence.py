"""What is no evidence: what the user asked, and what a model wrote on the way to the answer."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.base.response.schema import Response
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.chat_engine.types import AgentChatResponse, BaseChatEngine
from llama_index.core.indices.query.query_transform import HyDEQueryTransform
from llama_index.core.llms import ChatMessage
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import (
    CitationQueryEngine,
    CustomQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from franq_guard import Guard, Policy
from franq_guard.testing import FakeFaithfulness
from llama_index_franq import (
    FranqEvaluator,
    FranqHandler,
    capture,
    guard_chat_engine,
    guard_query_engine,
)

from .fakes import RunRetriever, ScriptedGuard, ScriptedLLM, memory_of, node, question, rag, said
from .leak_surfaces import multi_step, sub_question

pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
ASKED = "The bridge was designed by Gustave Eiffel in 1889; who paid for that bridge?"
CLAIM = "The bridge was designed by Gustave Eiffel in 1889."
DOCUMENT = "The archive says that the tower of run 7 is tall."


class Nothing(RunRetriever):
    """Finds nothing."""

    def _retrieve(self, query_bundle):
        return []


def passages_of(engine, asked):
    """The passages of the answer, the same however the engine is asked or watched."""
    guard = ScriptedGuard()
    guarded = guard_query_engine(engine, guard)
    guarded.query(asked)
    asyncio.run(guarded.aquery(asked))
    with FranqHandler(guard).attach() as watch:
        engine.query(asked)
        assert watch.flush(30)
    last = guard.traces[-1].generation.text  # others are of texts beside the answer
    answers = [trace for trace in guard.traces if trace.generation.text == last]
    assert len(answers) == 3
    assert answers[0].passages == answers[1].passages == answers[2].passages
    return [passage.text for passage in answers[0].passages]


# What the user asked ----------------------------------------------------------------------------


def hyde(llm, retriever=None, **options):
    inner = rag(llm, retriever or Nothing(), response_mode="generation", **options)
    return TransformQueryEngine(inner, HyDEQueryTransform(llm=llm))


@pytest.mark.parametrize("asked", [ASKED, "Who?"])
def test_a_question_that_a_template_calls_context(asked):
    assert passages_of(hyde(ScriptedLLM()), asked) == []
    found = passages_of(hyde(ScriptedLLM(), RunRetriever()), question(7))
    assert found == [n.node.text for n in RunRetriever().retrieve(question(7))]


def test_the_question_stays_in_the_prompt_without_evidence():
    guard = ScriptedGuard()
    guard_query_engine(hyde(ScriptedLLM(), RunRetriever()), guard).query(question(7))
    (trace,) = guard.traces
    assert trace.generation.prompt == question(7)  # it holds no evidence that could be taken out
    assert trace.contrast_prompt is None


def test_a_question_that_a_model_condensed():
    condensed = "Who paid for the bridge that Gustave Eiffel designed in 1889?"
    guard = ScriptedGuard()
    engine = CondenseQuestionChatEngine.from_defaults(
        hyde(ScriptedLLM()), llm=ScriptedLLM(script=[condensed]), memory=memory_of()
    )
    history = [
        ChatMessage(role="user", content="Hello."),
        ChatMessage(role="assistant", content="?"),
    ]
    guard_chat_engine(engine, guard).chat("And who paid?", chat_history=history)
    (trace,) = guard.traces
    assert (trace.question, trace.passages) == (condensed, ())


class Asking(CustomQueryEngine):
    """Puts ``context`` (``{draft}``: what its model writes first) into its prompt as context."""

    llm: ScriptedLLM
    context: str

    def custom_query(self, query_str):
        draft = self.llm.complete(f"Write about this: {query_str}").text
        return self.llm.predict(
            PromptTemplate("{context}\n{query}"),
            context=self.context.replace("{draft}", draft).replace("{asked}", query_str),
            query=query_str,
        )


def asked_with(context):
    engine = Asking(llm=ScriptedLLM(script=[CLAIM, "Nobody."] * 3), context=context)
    return passages_of(engine, ASKED)


def test_the_question_with_little_around_it_or_a_part_of_it():
    assert asked_with("  {asked}\n") == []
    assert asked_with("Question: {asked}") == []
    assert asked_with("The bridge was designed by Gustave Eiffel in 1889") == []
    # A document that quotes the question is a document.
    quoting = "Many a visitor asked us this: {asked} The city did."
    assert asked_with(quoting) == [quoting.replace("{asked}", ASKED)]


def test_a_conversation_as_context():
    history = f"user: {CLAIM}\nassistant: It was. He designed that bridge in 1889."
    assert asked_with(history) == []
    assert asked_with(f"The archive of the company says so.\n{history}") != []


class Remembering(BaseChatEngine):
    """A chat engine of one's own, which puts its history into the prompt."""

    def __init__(self, llm):
        self._llm, self._memory = llm, memory_of()

    def chat(self, message, chat_history=None):
        context = "\n".join(f"{m.role.value}: {m.content}" for m in self._memory.get())
        text = self._llm.predict(PromptTemplate("{context}\n{ask}"), context=context, ask=message)
        for role, said_ in (("user", message), ("assistant", text)):
            self._memory.put(ChatMessage(role=role, content=said_))
        return AgentChatResponse(response=text)

    achat = stream_chat = astream_chat = reset = None

    @property
    def chat_history(self):
        return self._memory.get_all()


Remembering.__abstractmethods__ = frozenset()


def test_what_the_user_said_before_is_no_evidence_in_the_next_turn():
    guard = ScriptedGuard()
    engine = guard_chat_engine(Remembering(ScriptedLLM(script=["I see.", CLAIM])), guard)
    engine.chat(CLAIM)
    engine.chat("Who designed it?")
    assert CLAIM in guard.traces[-1].generation.prompt
    assert guard.traces[-1].passages == ()


# What a model wrote -----------------------------------------------------------------------------


def test_a_draft_as_context():
    assert asked_with("{draft}") == []
    assert asked_with("Draft to improve: {draft}") == []
    # Beside a document, the draft alone does not count; positions stay.
    (left,) = asked_with(f"{DOCUMENT}\n{{draft}}")
    assert left == f"{DOCUMENT}\n{' ' * len(CLAIM)}"


class Structured(CustomQueryEngine):
    """Its model writes an answer and what it calls evidence, as JSON."""

    llm: ScriptedLLM
    key: str
    evidence: str

    def custom_query(self, query_str):
        self.llm.complete(f"{DOCUMENT}\n{query_str}")
        return Response("It is so.", metadata={self.key: self.evidence})


@pytest.mark.parametrize("key", ["evidence", "sources", "context"])
def test_a_models_own_words_under_a_usual_name(key):
    def engine(evidence):
        written = f'{{"answer": "It is so.", "evidence": "{evidence}"}}'
        return Structured(llm=ScriptedLLM(script=[written] * 3), key=key, evidence=evidence)

    assert passages_of(engine(CLAIM), ASKED) == []
    # Quoted from its prompt, it is the document's.
    assert passages_of(engine(DOCUMENT), ASKED) == [DOCUMENT]


def test_names_of_sources_do_not_hide_the_context_of_a_template():
    class Naming(CustomQueryEngine):
        llm: ScriptedLLM

        def custom_query(self, query_str):
            template = PromptTemplate("{context}\n{question}")
            text = self.llm.predict(template, context=DOCUMENT, question=query_str)
            return Response(text, metadata={"sources": ["bridges.pdf"]})

    assert passages_of(Naming(llm=ScriptedLLM()), ASKED) == [DOCUMENT]


@pytest.mark.parametrize("place", ["metadata", "nodes"])
def test_the_answer_is_no_evidence_for_itself(place):
    class Echo(CustomQueryEngine):
        llm: ScriptedLLM

        def custom_query(self, query_str):
            text = self.llm.complete(query_str).text
            nodes = [NodeWithScore(node=TextNode(text=text))] if place == "nodes" else []
            return Response(text, source_nodes=nodes, metadata={"sources": [text]})

    assert passages_of(Echo(llm=ScriptedLLM(script=[CLAIM] * 3)), ASKED) == []


# Answers to sub-questions -----------------------------------------------------------------------

FOUND = ["7-tall", "7-old"]
LAST = "Gustave Eiffel did it all."
GUARD = Guard(faithfulness=FakeFaithfulness())


def ids_of(engine, asked):
    guard = ScriptedGuard()
    guard_query_engine(engine, guard).query(asked)
    with FranqHandler(guard).attach() as watch:
        engine.query(asked)
        assert watch.flush(30)
    first, second = (t for t in guard.traces if t.generation.text == LAST)
    assert first.passages == second.passages
    return [passage.id for passage in first.passages]


def over(make, inner):
    """The engine ``make`` makes over ``inner``, whose last model says the same each time."""
    engine = make(False)
    engine._response_synthesizer._llm = ScriptedLLM(script=[LAST] * 4)
    if make is sub_question:
        engine._query_engines = {"towers": inner}
    else:
        engine._query_engine = inner
    return engine


POLICIES = {
    "annotate": Policy(action="annotate"),
    "filter": Policy(action="filter"),
    "block": Policy(action="block"),
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("make", [sub_question, multi_step])
def test_checked_by_a_guard_inside(make, policy):
    def inner(retriever):
        script = [f"{said('run 7')} {CLAIM}"] * 8
        guard = Guard(faithfulness=FakeFaithfulness(), policy=POLICIES[policy])
        return guard_query_engine(rag(ScriptedLLM(script=script), retriever), guard)

    assert ids_of(over(make, inner(RunRetriever())), question(7)) == FOUND
    assert ids_of(over(make, inner(Nothing())), question(7)) == []


@pytest.mark.parametrize("make", [sub_question, multi_step])
def test_from_engines_that_find_nothing(make):
    talks = rag(ScriptedLLM(script=[CLAIM] * 8), Nothing(), response_mode="generation")
    assert ids_of(over(make, talks), question(7)) == []
    assert ids_of(over(make, rag(ScriptedLLM(), Nothing())), question(7)) == []  # Empty Response


@pytest.mark.parametrize("guarded", [False, True])
def test_in_plain_code(guarded):
    inner = rag(ScriptedLLM(script=[CLAIM] * 8), Nothing(), response_mode="generation")
    engine = over(sub_question, guard_query_engine(inner, GUARD) if guarded else inner)
    guard = ScriptedGuard()
    with capture(guard=guard) as run:
        text = engine.query(question(7)).response
    run.check(question(7), text)
    assert guard.traces[-1].passages == ()


def test_they_are_none_in_the_next_turn_either():
    talks = rag(ScriptedLLM(script=[CLAIM] * 8), Nothing(), response_mode="generation")
    engine = CondenseQuestionChatEngine.from_defaults(
        over(sub_question, talks), llm=ScriptedLLM(script=[question(7)] * 4), memory=memory_of()
    )
    guard = ScriptedGuard()
    guarded = guard_chat_engine(engine, guard)
    guarded.chat(question(7))
    guarded._engine._query_engine = rag(ScriptedLLM(), Nothing())
    guarded.chat(question(7))
    assert guard.traces[-1].generation.text == "Empty Response"
    assert guard.traces[-1].passages == ()


def test_an_evaluator_does_not_count_them():
    response = over(sub_question, rag(ScriptedLLM(script=[CLAIM] * 8))).query(question(7))
    result = FranqEvaluator(GUARD).evaluate_response(query=question(7), response=response)
    assert result.contexts == [n.node.text for n in RunRetriever().retrieve(question(7))] * 2


# Nodes ------------------------------------------------------------------------------------------


class Chunks(CustomQueryEngine):
    """Retrieves two chunks, both with the id of their document, by a query each."""

    llm: ScriptedLLM
    in_response: bool

    def custom_query(self, query_str):
        nodes = [n for text in ("red", "old", "red") for n in Chunk().retrieve(text)]
        text = self.llm.complete("\n".join(n.node.text for n in nodes) + query_str).text
        return Response(text, source_nodes=nodes) if self.in_response else text


class Chunk(RunRetriever):
    def _retrieve(self, query_bundle):
        text = f"The gate is {query_bundle.query_str}."
        return [NodeWithScore(node=TextNode(text=text, id_="gate"))]


@pytest.mark.parametrize("in_response", [True, False])
def test_nodes_with_one_id_and_other_texts(in_response):
    engine = Chunks(llm=ScriptedLLM(), in_response=in_response)
    assert passages_of(engine, "Which gate?") == ["The gate is red.", "The gate is old."]


class Rewrites(BaseNodePostprocessor):
    """A model sums each node up; the nodes keep their ids."""

    llm: ScriptedLLM

    def _postprocess_nodes(self, nodes, query_bundle=None):
        return [
            NodeWithScore(
                node=TextNode(text=self.llm.complete(n.node.text).text, id_=n.node.node_id)
            )
            for n in nodes
        ]


def test_nodes_that_a_model_rewrote_count_as_they_were_found():
    rewrites = Rewrites(llm=ScriptedLLM(script=[CLAIM] * 6))
    engine = rag(ScriptedLLM(), node_postprocessors=[rewrites])
    found = passages_of(engine, question(7))
    assert found == [n.node.text for n in RunRetriever().retrieve(question(7))]
    rewrites.llm.script = [CLAIM] * 2
    response = guard_query_engine(engine, GUARD).query(question(7))
    assert all("[" in n.node.text for n in response.source_nodes)  # marked, as it was not read


def test_documents_that_earlier_passes_quote_stay():
    llm = ScriptedLLM(script=[f"{DOCUMENT} {CLAIM}", "So it is.", DOCUMENT])
    guard = ScriptedGuard()
    engine = guard_query_engine(rag(llm, response_mode="refine"), guard)
    nodes = [node(7, "tall"), node(7, "old")]  # chunks that overlap
    nodes[1].node.set_content(f"{DOCUMENT} {nodes[1].node.text}")
    engine.synthesize(QueryBundle(question(7)), nodes)
    assert [p.text for p in guard.traces[-1].passages] == [n.node.text for n in nodes]
    cited = guard_query_engine(CitationQueryEngine(RunRetriever(), llm=llm), guard)
    guard_query_engine(cited, guard).query(question(7))
    assert DOCUMENT in guard.traces[-1].passages[0].text


class Cached(CustomQueryEngine):
    """Its answer comes from a cache, so that no model is observed."""

    def custom_query(self, query_str):
        return Response(f"{DOCUMENT} {CLAIM}", source_nodes=[node(7, "tall")])


class Wrapping(CustomQueryEngine):
    """Puts the answer of another engine into a node of its own."""

    inner: object

    def custom_query(self, query_str):
        text = self.inner.query(query_str).response
        return Response(LAST, source_nodes=[NodeWithScore(node=TextNode(text=text))])


def test_what_a_guard_marked_in_a_node():
    response = Wrapping(inner=guard_query_engine(Cached(), GUARD)).query(question(7))
    (marked,) = [n.node.text for n in response.source_nodes]
    assert marked == f"{DOCUMENT} {CLAIM[:-1]} [not in the passages]."
    result = FranqEvaluator(GUARD).evaluate_response(query=question(7), response=response)
    assert [text.rstrip() for text in result.contexts] == [DOCUMENT]


@pytest.mark.parametrize("policy", POLICIES)
def test_what_a_guard_inside_left_of_an_answer_or_said_instead(policy):
    inner = Guard(faithfulness=FakeFaithfulness(), policy=POLICIES[policy])
    guard = ScriptedGuard()
    engine = Wrapping(inner=guard_query_engine(Cached(), inner))
    guard_query_engine(engine, guard).query(question(7))
    # The document behind it may be, but the node made of it is not.
    assert {p.id for p in guard.traces[-1].passages} <= {"7-tall"}


def test_a_document_with_the_words_that_a_guard_left_stays():
    """The guard inside leaves the quoted sentence; the cited chunks have ids of their own."""
    llm = ScriptedLLM(script=[f"{DOCUMENT} {CLAIM}"])
    filtering = Guard(faithfulness=FakeFaithfulness(), policy=POLICIES["filter"])
    inner = guard_query_engine(CitationQueryEngine(RunRetriever(), llm=llm), filtering)
    guard = ScriptedGuard()
    guard_query_engine(inner, guard).query(question(7))
    assert guard.traces[-1].generation.text == DOCUMENT
    assert DOCUMENT in guard.traces[-1].passages[0].text
