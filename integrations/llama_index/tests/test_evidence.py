"""Evidence that reaches the guard in other ways than a retriever of this very call."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import Response
from llama_index.core.chat_engine import ContextChatEngine, SimpleChatEngine
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context, StartEvent, StopEvent, Workflow, step
from pydantic import Field

from franq_guard import Policy
from llama_index_franq import (
    FranqEvaluator,
    FranqHandler,
    capture,
    guard_agent,
    guard_chat_engine,
    guard_query_engine,
)

from .agent_fakes import ScriptedCaller, function_agent, look_up, run_of
from .fakes import (
    RunRetriever,
    ScriptedChat,
    ScriptedGuard,
    ScriptedLLM,
    memory_of,
    node,
    question,
    rag,
    said,
)

pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
DOCUMENT = "The archive says that the tower of run 7 is tall."


class Searching(CustomQueryEngine):
    """Finds documents by a call of its own (a vector store's, a search service's)."""

    llm: ScriptedLLM
    metadata: dict = Field(default_factory=dict)
    template: str = ""

    def custom_query(self, query_str):
        if self.template:
            text = self.llm.predict(PromptTemplate(self.template), docs=DOCUMENT, query=query_str)
        else:
            text = self.llm.complete(f"{DOCUMENT}\n{query_str}").text
        return Response(text, metadata=self.metadata or None)


def passages(engine_options, **options):
    guard = ScriptedGuard()
    engine = guard_query_engine(Searching(llm=ScriptedLLM(), **engine_options), guard, **options)
    engine.query(question(7))
    asyncio.run(engine.aquery(question(7)))
    first, second = guard.traces
    assert first.passages == second.passages
    return [passage.text for passage in first.passages]


@pytest.mark.parametrize("key", ["documents", "context", "docs", "passages"])
def test_documents_under_a_usual_name_in_the_metadata(key):
    assert passages({"metadata": {key: [DOCUMENT]}}) == [DOCUMENT]
    assert passages({"metadata": {key: DOCUMENT}}) == [DOCUMENT]
    assert passages({"metadata": {key: [node(7, "tall")]}}) == [DOCUMENT]


def test_documents_in_the_template_of_the_prompt():
    assert passages({"template": "{docs}\n{query}"}) == [DOCUMENT]


def test_evidence_as_a_key_a_path_and_a_function():
    held = {"metadata": {"found": {"hits": [{"text": DOCUMENT, "id": "a"}]}}}
    assert passages(held, evidence="found.hits") == [DOCUMENT]
    assert passages(held, evidence="metadata.found.hits") == [DOCUMENT]
    assert passages(held, evidence=lambda asked, response: response.metadata["found"]["hits"]) == [
        DOCUMENT
    ]
    assert passages({}, evidence=lambda asked, response: [f"told of {asked}"]) == [
        f"told of {question(7)}"
    ]


@pytest.mark.parametrize("streaming", [False, True])
def test_metadata_that_the_model_was_shown_as_evidence(streaming):
    """As the README says: a node's own text counts, unless the user gives what was shown."""
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    (block,) = (b for b in re.findall(r"```python\n(.*?)```", readme, re.S) if "def shown" in b)
    inner = rag(ScriptedLLM(), streaming=streaming)
    for code, first in (
        ("engine = guard_query_engine(index.as_query_engine(), guard)", "The archive says"),
        (block, "title: Tower 4\n"),
    ):
        guard = ScriptedGuard()
        index = SimpleNamespace(as_query_engine=lambda: inner)
        names = {"guard": guard, "guard_query_engine": guard_query_engine, "index": index}
        exec(code, names)
        response = names["engine"].query(question(4))
        assert (list(response.response_gen)[1:] if streaming else []) == []
        (trace,) = guard.traces
        assert trace.passages[0].text.startswith(first)
        assert [p.id for p in trace.passages] == ["4-tall", "4-old"]


def test_evidence_that_is_not_there_leaves_the_answer_unverified():
    guard = ScriptedGuard()
    engine = guard_query_engine(Searching(llm=ScriptedLLM()), guard, evidence="found")
    assert engine.query(question(7)).response.endswith("[unverified]")


@pytest.mark.parametrize("wrap", [guard_query_engine, guard_chat_engine, guard_agent])
def test_what_is_no_evidence_and_no_guard_is_refused_at_once(wrap):
    engine = {
        guard_query_engine: lambda: rag(ScriptedLLM()),
        guard_chat_engine: lambda: SimpleChatEngine.from_defaults(
            llm=ScriptedChat(), memory=memory_of()
        ),
        guard_agent: function_agent,
    }[wrap]()
    with pytest.raises(TypeError, match="evidence= takes a key"):
        wrap(engine, ScriptedGuard(), evidence=3)
    with pytest.raises(TypeError, match=r"wants the guard, not its policy: Guard.offline\(policy="):
        wrap(engine, Policy())
    with pytest.raises(TypeError, match="wants a guard, not the class FakeGuard"):
        wrap(engine, ScriptedGuard)
    with pytest.raises(TypeError, match=r"pass Guard.offline\(\)"):
        FranqEvaluator(engine)


def test_a_long_prompt_without_passages_is_told_once(caplog):
    caplog.set_level(logging.WARNING)
    llm = ScriptedLLM()

    class Hidden(CustomQueryEngine):
        def custom_query(self, query_str):
            return llm.complete(f"{DOCUMENT * 40}\n{query_str}").text

    engine = guard_query_engine(Hidden(), ScriptedGuard())
    for _ in range(3):
        engine.query(question(7))
    told = [record for record in caplog.records if "evidence=" in record.getMessage()]
    assert len(told) == 1


# Engines that ask engines ------------------------------------------------------------------------


class Rows(BaseQueryEngine):
    """Answers from a database, whose rows no retriever reports."""

    def __init__(self):
        super().__init__(None)

    def _query(self, query_bundle):
        rows = node(7, "wide")
        text = ScriptedLLM(script=["Wide."]).complete(rows.node.text).text
        return Response(text, source_nodes=[rows])

    async def _aquery(self, query_bundle):
        return self._query(query_bundle)

    def _get_prompt_modules(self):
        return {}


class Asking(CustomQueryEngine):
    """Asks two engines, and a model what to make of their answers."""

    asked: list
    llm: ScriptedLLM
    in_response: bool

    def custom_query(self, query_str):
        answers = [engine.query(query_str) for engine in self.asked]
        text = self.llm.complete("\n".join(map(str, answers))).text
        return Response(text, source_nodes=answers[0].source_nodes) if self.in_response else text


class Whole(BaseNodePostprocessor):
    """Gives the model more of a node's document than was found, as a sentence window does."""

    def _postprocess_nodes(self, nodes, query_bundle=None):
        texts = {n.node.node_id: f"{n.node.text} It was built in 1998." for n in nodes}
        return [NodeWithScore(node=TextNode(text=text, id_=id)) for id, text in texts.items()]


@pytest.mark.parametrize("in_response", [True, False])
def test_what_the_engines_answered_from_whose_answers_the_model_was_given(in_response):
    quoting = f"{node(7, 'tall').text} {node(7, 'old').text}"
    asked = [rag(ScriptedLLM(script=[quoting] * 3)), Rows()]
    engine = Asking(asked=asked, llm=ScriptedLLM(), in_response=in_response)
    guarded, watched = ScriptedGuard(), ScriptedGuard()
    guard_query_engine(engine, guarded).query(question(7))
    with FranqHandler(watched).attach() as watch:
        engine.query(question(7))
        assert watch.flush(30)
    for guard in (guarded, watched):
        assert [p.id for p in guard.traces[-1].passages] == ["7-tall", "7-old", "7-wide"]


def test_what_an_engine_in_a_tool_answered_from_counts_as_it_was_given_to_the_model():
    inner = [rag(ScriptedLLM(), node_postprocessors=[Whole()]), Rows()]

    def towers(input: str) -> str:
        """Asks both engines."""
        return "\n".join(str(engine.query(input)) for engine in inner)

    guard = ScriptedGuard()
    agent = guard_agent(function_agent(tools=[FunctionTool.from_defaults(towers)]), guard)
    asyncio.run(run_of(agent, question(7)))
    texts = [f"{node(7, part).text} It was built in 1998." for part in ("tall", "old")]
    assert [p.text for p in guard.traces[-1].passages] == [*texts, node(7, "wide").text]


# Conversations ----------------------------------------------------------------------------------


class Once(RunRetriever):
    """Finds nothing for a message that is no question."""

    def _retrieve(self, query_bundle):
        return super()._retrieve(query_bundle) if "?" in query_bundle.query_str else []


def talk(guard, **options):
    memory = memory_of()
    inner = SimpleChatEngine.from_defaults(llm=ScriptedChat(), memory=memory)
    context = ContextChatEngine.from_defaults(Once(), llm=ScriptedChat(), memory=memory)

    class Turns(type(context)):
        """Retrieves for a question; otherwise goes on from the conversation."""

        def chat(self, message, chat_history=None):
            if "?" in message:
                return super().chat(message, chat_history)
            inner._memory = self._memory
            return inner.chat(message)

    context.__class__ = Turns
    return guard_chat_engine(context, guard, **options)


def test_a_follow_up_turn_is_checked_against_the_evidence_of_the_turn_before():
    guard = ScriptedGuard()
    engine = talk(guard)
    engine.chat(question(7))
    engine.chat("And in feet, please, for run 7.")
    engine.reset()
    engine.chat("Thanks for run 7.")
    ids = [[p.id for p in trace.passages] for trace in guard.traces]
    assert ids == [["7-tall", "7-old"], ["7-tall", "7-old"], []]


def test_another_conversation_has_no_earlier_turns():
    guard = ScriptedGuard()
    engine = talk(guard)
    engine.chat(question(7))
    engine.chat("Thanks for run 7.", chat_history=[])
    assert guard.traces[-1].passages == ()


def follow_up_agent(script):
    return function_agent(ScriptedCaller(script=script))


CALL = ("towers", {"input": "run 4"})


@pytest.mark.filterwarnings("ignore:Skipping serialization of known unserializable key")
@pytest.mark.parametrize("kept", ["context", "memory"])
def test_an_agents_follow_up_without_a_tool_call(kept):
    guard = ScriptedGuard()
    agent = guard_agent(follow_up_agent([CALL, said("run 4"), "It is tall indeed."]), guard)

    async def two_turns():
        same = {"memory": memory_of()}
        if kept == "context":
            same["ctx"] = Context(agent)
        await run_of(agent, question(4), **same)
        await run_of(agent, "Are you sure?", **same)

    asyncio.run(two_turns())
    first, second = guard.traces
    assert [p.text for p in first.passages] == [look_up("run 4")]
    assert [p.text for p in second.passages] == [look_up("run 4")]
    assert second.question == "Are you sure?"


NOTICE = "Ticket 4711 created"


@pytest.mark.filterwarnings("ignore:Skipping serialization of known unserializable key")
def test_a_notice_hides_nothing_that_earlier_turns_found_and_stays():
    """The second turn's tool says that it did something; the third turn calls none."""

    def book(input: str) -> str:
        """Books a visit."""
        return NOTICE

    script = [CALL, said("run 4"), ("book", {"input": "x"}), "It is tall.", "It is 4711."]
    tools = [FunctionTool.from_defaults(look_up, name="towers"), FunctionTool.from_defaults(book)]
    guard = ScriptedGuard()
    agent = guard_agent(function_agent(ScriptedCaller(script=script), tools), guard)

    async def three_turns():
        same = {"memory": memory_of(), "ctx": Context(agent)}
        for asked in (question(4), "Book it. Is it tall?", "Which ticket?"):
            await run_of(agent, asked, **same)

    asyncio.run(three_turns())
    told = [[p.text for p in trace.passages] for trace in guard.traces]
    assert told == [[look_up("run 4")], [NOTICE, look_up("run 4")], [NOTICE, look_up("run 4")]]


@pytest.mark.filterwarnings("ignore:Skipping serialization of known unserializable key")
def test_a_context_keeps_what_the_tools_of_one_run_found():
    def towers(input: str) -> str:
        """Looks a tower up and sums it up."""
        return f"{len(RunRetriever().retrieve(QueryBundle(input)))} documents"

    script = [step for n in range(3) for step in (("towers", {"input": f"run {n}"}), said("run"))]
    llm = ScriptedCaller(script=script)
    guard = ScriptedGuard()
    agent = guard_agent(function_agent(llm, [FunctionTool.from_defaults(towers)]), guard)

    async def runs():
        context = Context(agent)
        sizes = []
        for n in range(3):
            await run_of(agent, question(n), ctx=context, memory=memory_of())
            state = await context.store.get_state()
            sizes.append(len(json.dumps([v for k, v in state.items() if "franq" in k])))
        return sizes

    sizes = asyncio.run(runs())
    assert sizes[0] == sizes[1] == sizes[2]
    assert [trace.passages[0].id for trace in guard.traces] == ["0-tall", "1-tall", "2-tall"]


def test_what_was_retrieved_inside_a_tool_that_returns_text():
    def towers(input: str) -> str:
        """Looks a tower up and sums it up."""
        found = RunRetriever().retrieve(QueryBundle(input))
        return f"{len(found)} documents of run 4"

    guard = ScriptedGuard()
    tool = FunctionTool.from_defaults(towers)
    memory = memory_of()
    agent = guard_agent(function_agent(tools=[tool]), guard)
    result, _, _ = asyncio.run(run_of(agent, question(4), memory=memory))
    (trace,) = guard.traces
    assert [p.id for p in trace.passages] == ["4-tall", "4-old"]
    assert memory.get_all()[-1].content == result.response.content  # the caller's own memory


def test_documents_that_a_tool_returns_and_evidence_of_an_agent():
    def towers(input: str) -> dict:
        """Looks a tower up."""
        return {"documents": [{"text": look_up(input), "id": "a"}], "hits": 1}

    def passages_of_run(**options):
        guard = ScriptedGuard()
        agent = function_agent(tools=[FunctionTool.from_defaults(towers)])
        asyncio.run(run_of(guard_agent(agent, guard, **options), question(4)))
        (trace,) = guard.traces
        return [p.text for p in trace.passages]

    assert passages_of_run() == [look_up("run 4"), "hits: 1"]
    assert passages_of_run(evidence="documents") == [look_up("run 4")]
    told = passages_of_run(evidence=lambda asked, calls: [f"{asked} {len(calls)}"])
    assert told == [f"{question(4)} 1"]


def test_a_path_that_no_tool_of_an_agent_has_is_told_once(caplog):
    """It may be mistyped, or other tools may have it: then what was returned counts."""
    caplog.set_level(logging.WARNING)
    guard = ScriptedGuard()
    agent = guard_agent(function_agent(), guard, evidence="documnts")
    for run in (4, 5):
        asyncio.run(run_of(agent, question(run)))
    found = [trace.passages[0].text for trace in guard.traces]
    assert found == [look_up("run 4"), look_up("run 5")]
    (told,) = [r.getMessage() for r in caplog.records if "leads nowhere" in r.getMessage()]
    assert told.startswith("evidence='documnts' leads nowhere")
    assert "['towers']" in told


def test_evidence_of_an_agent_that_fails_leaves_its_answer_unverified():
    def broken(asked, calls):
        raise ConnectionError("the database is down")

    guard = ScriptedGuard()
    agent = guard_agent(function_agent(), guard, evidence=broken)
    result, _, _ = asyncio.run(run_of(agent, question(4)))
    assert result.response.content == f"{said('run 4')} [unverified]"
    assert result.response.additional_kwargs["franq"]["status"] == "unverified"


# Plain code and workflows -----------------------------------------------------------------------


def test_capture_in_plain_code():
    guard, llm = ScriptedGuard(), ScriptedLLM()
    with capture(llm, guard=guard) as run:
        nodes = RunRetriever().retrieve(question(7))
        text = llm.complete(f"{nodes[0].node.text}\n{nodes[1].node.text}\n{question(7)}").text
    result = run.check(question(7), text)
    assert result.text == f"{said('run 7')} [checked: Tower 7,Tower 7]"
    (trace,) = guard.traces
    assert [p.id for p in trace.passages] == ["7-tall", "7-old"]
    assert trace.generation.prompt.endswith(question(7))


def test_capture_with_evidence_of_ones_own():
    guard, llm = ScriptedGuard(), ScriptedLLM()
    with capture() as run:
        text = llm.complete(f"{DOCUMENT}\n{question(7)}").text
    result = asyncio.run(run.acheck(question(7), text, guard=guard, evidence=[DOCUMENT]))
    assert result.original == said("run 7")
    assert [p.text for p in guard.traces[0].passages] == [DOCUMENT]
    with pytest.raises(TypeError, match="wants a guard"):
        run.check(question(7), text)
    with pytest.raises(TypeError, match="wants the guard, not its policy"), capture(guard=Policy()):
        pass


class Steps(Workflow):
    """A workflow whose last step is guarded."""

    guard: object = None

    @step
    async def answer(self, ev: StartEvent) -> StopEvent:
        with capture(guard=self.guard) as run:
            nodes = await RunRetriever().aretrieve(ev.query)
            texts = "\n".join(found.node.text for found in nodes)
            written = await ScriptedLLM().acomplete(f"{texts}\n{ev.query}")
        return StopEvent(result=(await run.acheck(ev.query, written.text)).text)


def test_capture_in_many_runs_of_a_workflow():
    guard = ScriptedGuard()
    workflow = Steps()
    workflow.guard = guard

    async def all_of_them():
        return await asyncio.gather(*(workflow.run(query=question(i)) for i in range(20)))

    texts = asyncio.run(all_of_them())
    assert texts == [f"{said(f'run {i}')} [checked: Tower {i},Tower {i}]" for i in range(20)]


# Matching -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("asynchronous", [False, True])
def test_equal_texts_from_two_nodes_are_matched_in_order(asynchronous):
    guard = ScriptedGuard()
    llm = ScriptedLLM(script=["It is so."] * 2)
    engine = guard_query_engine(rag(llm, response_mode="accumulate"), guard)
    asked = question(3)
    text = (asyncio.run(engine.aquery(asked)) if asynchronous else engine.query(asked)).response
    assert text.count("It is so. [checked") == 2
    one, two = (trace.generation.prompt for trace in guard.traces)
    assert "run 3 is tall" in one
    assert "run 3 is old" in two


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_a_model_that_says_nothing_makes_no_claim(text):
    guard = ScriptedGuard()
    engine = guard_query_engine(rag(ScriptedLLM(script=[text])), guard)
    engine.query(question(3))
    (trace,) = guard.traces
    assert all(claim.not_a_claim for claim in trace.claims)


def test_empty_response_of_a_model_that_was_asked_is_no_claim_either():
    guard = ScriptedGuard()
    llm = ScriptedLLM(script=["", "It is old."])
    engine = guard_query_engine(rag(llm, response_mode="accumulate"), guard)
    assert "Empty Response" in engine.query(question(3)).response
    first, second = guard.traces
    assert [claim.not_a_claim for claim in first.claims] == ["the model said nothing"]
    assert second.claims is None


class Storing(CustomQueryEngine):
    """Returns a node as a vector store made it."""

    def custom_query(self, query_str):
        about = {"id": np.array([1, 2]), "title": np.array([3, 4]), "deep": {"of": [np.nan]}}
        node = TextNode(text=DOCUMENT, metadata=about)
        return Response("It is tall [1].", source_nodes=[NodeWithScore(node=node, score=0.5)])


def test_a_node_whose_title_is_an_array_is_evidence():
    answer = guard_query_engine(Storing(), ScriptedGuard()).query("How tall?")
    [verdict] = answer.metadata["franq"]["verdicts"]
    assert verdict["label"] == "supported"
