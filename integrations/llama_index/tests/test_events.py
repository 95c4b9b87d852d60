"""What events tell: each call once, whose it is, and what a server sent along in chats."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.llms.callbacks import llm_chat_callback
from llama_index.core.postprocessor import LLMRerank
from llama_index.core.query_engine import CitationQueryEngine, SubQuestionQueryEngine
from llama_index.core.schema import QueryBundle
from llama_index.core.tools import QueryEngineTool

from llama_index_franq import guard_agent, guard_chat_engine, guard_query_engine
from llama_index_franq._capture import Capture
from llama_index_franq._events import observed

from .agent_fakes import ScriptedCaller, function_agent, run_of
from .fakes import (
    RunRetriever,
    ScriptedChat,
    ScriptedGuard,
    ScriptedLLM,
    memory_of,
    question,
    rag,
    said,
)
from .test_prompts import ANSWER, PIECES, SPANS, chat_raw
from .test_query_engines import TwoQuestions
from .test_statuses import _read


async def _asked(engine, asked, streaming):
    response = await engine.aquery(asked)
    return await _read(response) if streaming else response.response


def ask(engine, asked, streaming, asynchronous):
    """The text of one answer of a query engine."""
    if asynchronous:
        return asyncio.run(_asked(engine, asked, streaming))
    response = engine.query(asked)
    return "".join(response.response_gen) if streaming else response.response


EACH_WAY = [
    pytest.mark.parametrize("asynchronous", [False, True]),
    pytest.mark.parametrize("streaming", [False, True]),
]


def each_way(test):
    for mark in EACH_WAY:
        test = mark(test)
    return test


@each_way
@pytest.mark.parametrize("llm", [ScriptedLLM, ScriptedChat])
def test_a_call_that_is_told_twice_counts_once(llm, streaming, asynchronous):
    """The dispatcher reports async calls of a CustomLLM twice: the call and the inner one."""
    capture, model = Capture(), llm()
    engine = rag(model, streaming=streaming)
    with observed(capture):
        text = ask(engine, question(7), streaming, asynchronous)
    assert text == said("run 7")
    assert [run.text for run in capture.runs] == [said("run 7")]
    assert len(model.prompts) == 1
    assert [n.node.node_id for n in capture.nodes] == ["7-tall", "7-old"]


@each_way
def test_a_model_that_re_ranks_does_not_write_the_answer(streaming, asynchronous):
    guard = ScriptedGuard()
    rerank = LLMRerank(llm=ScriptedLLM(script=["Doc: 2, Relevance: 9"]), top_n=1)
    inner = rag(ScriptedLLM(), node_postprocessors=[rerank], streaming=streaming)
    text = ask(guard_query_engine(inner, guard), question(7), streaming, asynchronous)
    assert text == f"{said('run 7')} [checked: Tower 7]"
    (trace,) = guard.traces
    assert [p.id for p in trace.passages] == ["7-old"]
    assert "Relevance" not in trace.generation.prompt
    assert "cellar" not in trace.contrast_prompt


@each_way
def test_a_citation_engine_cites_the_passages_it_was_shown(streaming, asynchronous):
    guard = ScriptedGuard()
    inner = CitationQueryEngine(RunRetriever(), llm=ScriptedLLM())
    inner._response_synthesizer._streaming = streaming
    text = ask(guard_query_engine(inner, guard), question(7), streaming, asynchronous)
    assert text.startswith(said("run 7"))
    (trace,) = guard.traces
    assert [p.text.split(":")[0] for p in trace.passages] == ["Source 1", "Source 2"]
    assert "Source 1" in trace.generation.prompt
    assert "The archive says" not in trace.contrast_prompt


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_streamed_sub_question_engine(asynchronous):
    guard = ScriptedGuard()
    tool = QueryEngineTool.from_defaults(rag(ScriptedLLM()), name="towers", description="towers")
    inner = SubQuestionQueryEngine.from_defaults(
        [tool], llm=ScriptedLLM(), question_gen=TwoQuestions(), verbose=False, use_async=False
    )
    inner._response_synthesizer._streaming = True
    ask(guard_query_engine(inner, guard), "Which is taller?", True, asynchronous)
    (trace,) = [trace for trace in guard.traces if trace.question == "Which is taller?"]
    assert {p.id for p in trace.passages} == {"1-tall", "1-old", "2-tall", "2-old"}
    assert "Which is taller?" in trace.generation.prompt


# Servers in chats -----------------------------------------------------------------------------


def chunks_of_server():
    text = ""
    for part in (PIECES[:3], PIECES[3:6], PIECES[6:]):
        delta = b"".join(part).decode()
        text += delta
        message = ChatMessage(role="assistant", content=text)
        yield ChatResponse(message=message, delta=delta, raw=chat_raw(part))


class ServerChat(ScriptedChat):
    """An OpenAI-like chat server: log-probabilities stand in ``raw`` of each answer or chunk."""

    @llm_chat_callback()
    def chat(self, messages, **kwargs):
        message = ChatMessage(role="assistant", content=ANSWER)
        return ChatResponse(message=message, raw=chat_raw(PIECES))

    @llm_chat_callback()
    def stream_chat(self, messages, **kwargs):
        return chunks_of_server()


class ServerCaller(ScriptedCaller):
    """The same for agents, which need function calls."""

    def _chunks(self, messages):
        return chunks_of_server()

    @llm_chat_callback()
    async def achat(self, messages, **kwargs):
        message = ChatMessage(role="assistant", content=ANSWER)
        return ChatResponse(message=message, raw=chat_raw(PIECES))


def assert_from_server(trace):
    assert trace.generation.source == "server"
    assert trace.generation.text == ANSWER
    assert [(t.start, t.end) for t in trace.generation.tokens] == SPANS


@pytest.mark.parametrize("way", ["chat", "achat", "stream_chat", "astream_chat"])
def test_log_probabilities_of_a_server_in_a_chat_engine(way):
    guard = ScriptedGuard()
    memory = memory_of()
    inner = ContextChatEngine.from_defaults(RunRetriever(), llm=ServerChat(), memory=memory)
    engine = guard_chat_engine(inner, guard)

    async def run():
        response = await getattr(engine, way)(question(7))
        return await _read(response) if "stream" in way else response

    if way.startswith("a"):
        asyncio.run(run())
    elif way == "stream_chat":
        "".join(engine.stream_chat(question(7)).response_gen)
    else:
        engine.chat(question(7))
    assert_from_server(guard.traces[0])


@each_way
def test_log_probabilities_of_a_chat_server_in_a_query_engine(streaming, asynchronous):
    guard = ScriptedGuard()
    engine = guard_query_engine(rag(ServerChat(), streaming=streaming), guard)
    ask(engine, question(7), streaming, asynchronous)
    assert_from_server(guard.traces[0])


@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
@pytest.mark.parametrize("streaming", [False, True])
def test_log_probabilities_of_a_server_in_an_agent(streaming):
    guard = ScriptedGuard()
    agent = guard_agent(function_agent(ServerCaller(), streaming=streaming), guard)
    asyncio.run(run_of(agent, question(7)))
    assert_from_server(guard.traces[0])


@pytest.mark.parametrize("mode", ["compact", "refine", "tree_summarize", "accumulate"])
def test_synthesis_alone_is_observed_too(mode):
    guard = ScriptedGuard()
    engine = guard_query_engine(rag(ScriptedLLM(), response_mode=mode), guard)
    asked = QueryBundle(question(7))
    response = asyncio.run(engine.asynthesize(asked, engine.retrieve(asked)))
    assert "[checked: Tower 7,Tower 7]" in response.response
    assert all(said("run 7") == trace.generation.text for trace in guard.traces)
