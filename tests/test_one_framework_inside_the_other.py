"""A LlamaIndex engine inside a LangChain application, and the reverse, with the guards of both.

What the inner framework retrieves is evidence there, and what its model writes is not.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any, ClassVar

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel, BaseLLM
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult, Generation, LLMResult
from langchain_core.prompts import PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.tools import StructuredTool
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.base_retriever import BaseRetriever as NodeRetriever
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LLMMetadata,
)
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import CustomQueryEngine, RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool, QueryEngineTool, ToolSelection

import langchain_franq
import llama_index_franq
from franq_guard.testing import FakeGuard
from langchain_franq._quiet import unobserved as unobserved_by_langchain
from llama_index_franq._events import unobserved as unobserved_by_llama_index

pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")


def text_about(number: int | str) -> str:
    return f"The archive says that the tower of run {number} was built of oak by Ann Ler."


def said(prompt: str) -> str:
    """What the scripted models write: words of their own, with the number in their prompt."""
    found = re.search(r"run (\d+)", prompt)
    return f"Tower {found.group(1) if found else '?'} is made of glass and has a lift."


def question(number: int) -> str:
    return f"What is the tower of run {number} made of?"


def number_in(text: str) -> str:
    found = re.search(r"run (\d+)", text)
    return found.group(1) if found else "?"


# LangChain's parts --------------------------------------------------------------------------------


class Documents(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(text_about(number_in(query)), id=f"document {number_in(query)}")]


class Model(BaseLLM):
    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, prompts: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> Any:
        return LLMResult(generations=[[Generation(text=said(prompt))] for prompt in prompts])


class Caller(BaseChatModel):
    """Calls the tool ``search`` with the question, then repeats what it returned."""

    @property
    def _llm_type(self) -> str:
        return "caller"

    def bind_tools(self, tools: Any, **options: Any) -> Runnable[Any, Any]:
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> Any:
        last = messages[-1]
        if isinstance(last, ToolMessage):
            message = AIMessage(f"I found this: {last.text}")
        else:
            call = {"name": "search", "args": {"input": str(last.text)}, "id": "1"}
            message = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])


TEMPLATE = PromptTemplate.from_template("Use this:\n{context}\n\nQuestion: {question}")


def chain() -> Runnable[str, str]:
    found = Documents() | (lambda documents: documents[0].page_content)
    return {"context": found, "question": RunnablePassthrough()} | TEMPLATE | Model()


# LlamaIndex's parts -------------------------------------------------------------------------------


class Nodes(NodeRetriever):
    def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
        number = number_in(query_bundle.query_str)
        return [NodeWithScore(node=TextNode(text=text_about(number), id_=f"node {number}"))]


class NodeModel(CustomLLM):
    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        return CompletionResponse(text=said(prompt))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        raise NotImplementedError


class NodeCaller(FunctionCallingLLM):
    """Calls the tool ``search`` with the question, then repeats what it returned."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True, is_function_calling_model=True)

    def _prepare_chat_with_tools(self, tools: Any, user_msg=None, chat_history=None, **_: Any):
        return {"messages": list(chat_history or [])}

    def get_tool_calls_from_response(self, response: Any, **_: Any) -> list[ToolSelection]:
        asked = response.message.additional_kwargs.get("input")
        call = ToolSelection(tool_id="1", tool_name="search", tool_kwargs={"input": asked})
        return [call] if asked else []

    @llm_chat_callback()
    async def achat(self, messages: Any, **_: Any) -> ChatResponse:
        last = messages[-1]
        if last.role.value == "tool":
            text, call = f"I found this: {last.content}", {}
        else:
            text, call = "", {"input": last.content}
        message = ChatMessage(role="assistant", content=text, additional_kwargs=call)
        return ChatResponse(message=message)

    @llm_chat_callback()
    def chat(self, messages: Any, **_: Any) -> ChatResponse:
        raise NotImplementedError

    @llm_chat_callback()
    def stream_chat(self, messages: Any, **_: Any) -> Any:
        raise NotImplementedError

    @llm_chat_callback()
    async def astream_chat(self, messages: Any, **_: Any) -> Any:
        async def chunks() -> Any:
            yield await self.achat(messages)

        return chunks()

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        raise NotImplementedError

    stream_complete = acomplete = astream_complete = complete


def engine() -> RetrieverQueryEngine:
    return RetrieverQueryEngine.from_args(Nodes(), llm=NodeModel())


class ChainEngine(CustomQueryEngine):
    """A chain as an engine."""

    def custom_query(self, query_str: str) -> str:
        return chain().invoke(query_str)


# A LlamaIndex engine in a LangChain application ---------------------------------------------------


def found(guard: FakeGuard) -> list[tuple[str, list[str]]]:
    return [(t.generation.text, [p.text for p in t.passages]) for t in guard.traces]


def tool_of(made: Any) -> StructuredTool:
    """What ``to_langchain_tool`` makes, which would need langchain-community."""
    of_engine = QueryEngineTool.from_defaults(made, name="search", description="Knows towers.")

    def search(input: str) -> str:
        return str(of_engine(input))

    async def asearch(input: str) -> str:
        return str(await of_engine.acall(input))

    return StructuredTool.from_function(search, asearch, "search", "Knows towers.")


WORDS, TEXT = said("run 7"), text_about(7)


@pytest.fixture(params=["sync", "async"])
def ask(request):
    """Invokes a Runnable."""

    def run(runnable: Any, value: Any, config: Any = None) -> Any:
        if request.param == "async":
            return asyncio.run(runnable.ainvoke(value, config))
        return runnable.invoke(value, config)

    return run


STEPS = {
    "the chain": RunnableLambda(lambda asked: str(engine().query(asked))),
    "its last step": RunnablePassthrough() | (lambda asked: str(engine().query(asked))),
}


@pytest.mark.parametrize("kind", STEPS)
def test_an_engine_that_answers_for_a_chain_has_its_own_nodes_and_prompt(kind, ask):
    guard, watching = FakeGuard(), FakeGuard()
    ask(langchain_franq.guard_chain(STEPS[kind], guard), question(7))
    watch = langchain_franq.FranqCallback(watching)
    ask(STEPS[kind], question(7), {"callbacks": [watch]})
    assert watch.flush(20)
    for each in (guard, watching):
        assert found(each) == [(WORDS, [TEXT])]
        assert TEXT in each.traces[0].generation.prompt
        assert [passage.id for passage in each.traces[0].passages] == ["node 7"]


def test_what_an_engine_writes_for_a_prompt_is_no_evidence_and_its_nodes_are(ask):
    inputs = {"context": lambda asked: str(engine().query(asked)), "question": lambda _: "run 7?"}
    guard = FakeGuard()
    ask(langchain_franq.guard_chain(inputs | TEMPLATE | Model(), guard), question(7))
    assert [passage.text for passage in guard.traces[0].passages] == [TEXT]


def test_nodes_that_a_function_retrieves_are_evidence(ask):
    """The function writes the prompt itself, so that no step returns them."""

    def prompt(asked: str) -> str:
        nodes = Nodes().retrieve(asked)
        return f"Use this:\n{nodes[0].get_content()}\n\nQuestion: {asked}"

    guard = FakeGuard()
    ask(langchain_franq.guard_chain(RunnableLambda(prompt) | Model(), guard), question(7))
    assert found(guard) == [(WORDS, [TEXT])]


AGENT_WAYS = ["middleware", "chain", "callback"]


@pytest.mark.parametrize("way", AGENT_WAYS)
def test_an_engine_as_a_tool_of_an_agent(way, ask):
    """Its text is a model's and is checked as such; the agent's answer rests on its nodes."""
    guard = FakeGuard()
    given = {"messages": [HumanMessage(question(7))]}
    if way == "middleware":
        middleware = [langchain_franq.FranqMiddleware(guard)]
        made = ask(create_agent(Caller(), [tool_of(engine())], middleware=middleware), given)
        told = next(m for m in made["messages"] if isinstance(m, ToolMessage))
        assert told.response_metadata["franq"]["written_by_a_model"]
        assert found(guard)[0] == (WORDS, [TEXT])
        assert guard.traces[1].generation.text.startswith(f"I found this: {WORDS}")
    else:
        agent = create_agent(Caller(), [tool_of(engine())])
        watch = langchain_franq.FranqCallback(guard)
        if way == "chain":
            ask(langchain_franq.guard_chain(agent, guard), given)
        else:
            ask(agent, given, {"callbacks": [watch]})
        assert watch.flush(20)
        assert guard.traces[0].generation.text == f"I found this: {WORDS}"
    assert {tuple(texts) for _, texts in found(guard)} == {(TEXT,)}


def test_what_runs_in_a_function_under_capture():
    guard = FakeGuard()
    with langchain_franq.capture() as run:
        answer = Model().invoke(f"{Nodes().retrieve(question(7))[0].get_content()} {question(7)}")
    run.check(guard, question(7), answer)
    assert found(guard) == [(WORDS, [TEXT])]


def test_an_engines_response_as_a_chains_output_keeps_its_nodes():
    guarded = langchain_franq.guard_chain(RunnableLambda(engine().query), FakeGuard())
    response = guarded.invoke(question(7))
    assert response.response.startswith(f"{WORDS} [checked")
    assert [node.get_content() for node in response.source_nodes] == [TEXT]


# A LangChain chain in a LlamaIndex application ----------------------------------------------------


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_chain_as_an_engine_has_its_own_documents_and_prompt(asynchronous):
    guard, watching = FakeGuard(), FakeGuard()

    def query(made: Any) -> None:
        if asynchronous:
            asyncio.run(made.aquery(question(7)))
        else:
            made.query(question(7))

    query(llama_index_franq.guard_query_engine(ChainEngine(), guard))
    with llama_index_franq.FranqHandler(watching).attach() as watch:
        query(ChainEngine())
        assert watch.flush(20)
    for each in (guard, watching):
        assert found(each) == [(WORDS, [TEXT])]
        assert TEXT in each.traces[0].generation.prompt
        assert [passage.id for passage in each.traces[0].passages] == ["document 7"]


@pytest.mark.parametrize("way", ["guarded", "watched"])
def test_a_chain_as_a_tool_of_an_agent(way):
    guard = FakeGuard()

    def search(input: str) -> str:
        """Knows towers."""
        return chain().invoke(input)

    async def run() -> None:
        agent: Any = FunctionAgent(tools=[FunctionTool.from_defaults(search)], llm=NodeCaller())
        if way == "guarded":
            agent = llama_index_franq.guard_agent(agent, guard)
        await agent.run(question(7), memory=ChatMemoryBuffer.from_defaults(token_limit=3000))

    with llama_index_franq.FranqHandler(watching := FakeGuard()).attach() as watch:
        asyncio.run(run())
        assert watch.flush(20)
    traces = guard.traces if way == "guarded" else watching.traces
    assert f"I found this: {WORDS}" in {t.generation.text.split(" [checked")[0] for t in traces}
    for trace in traces:
        assert [passage.text for passage in trace.passages] == [TEXT]


def test_what_a_chain_does_under_the_other_frameworks_capture():
    guard = FakeGuard()
    with llama_index_franq.capture(guard=guard) as run:
        answer = chain().invoke(question(7))
    run.check(question(7), answer)
    assert found(guard) == [(WORDS, [TEXT])]


# A real model -------------------------------------------------------------------------------------


def test_the_bundled_model_in_either(smollm):
    from langchain_franq.local import pipeline_of
    from llama_index_franq.local import llm_of

    made = RetrieverQueryEngine.from_args(Nodes(), llm=llm_of(smollm, max_new_tokens=6))
    guard = FakeGuard()
    langchain_franq.guard_chain(RunnableLambda(lambda q: str(made.query(q))), guard).invoke(
        question(7)
    )

    class Own(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            filled = {"context": Documents().invoke(query_str), "question": query_str}
            return str((TEMPLATE | pipeline_of(smollm, max_new_tokens=6)).invoke(filled))

    llama_index_franq.guard_query_engine(Own(), guard).query(question(7))
    in_chain, in_engine = guard.traces
    for trace in (in_chain, in_engine):
        assert [passage.text for passage in trace.passages] == [TEXT]
        assert TEXT in trace.generation.prompt


# Both at once -------------------------------------------------------------------------------------


def test_runs_at_the_same_time_are_not_mixed():
    """Engines in chains and chains in engines, guarded, and watched by the handlers of both."""
    inner, outer, chains, engines = (FakeGuard() for _ in range(4))
    in_chain = langchain_franq.guard_chain(STEPS["the chain"], inner)
    in_engine = llama_index_franq.guard_query_engine(ChainEngine(), outer)
    watch = langchain_franq.FranqCallback(chains)

    async def all_of_them() -> None:
        config = {"callbacks": [watch]}
        jobs = [in_chain.ainvoke(question(i)) for i in range(10)]
        jobs += [in_engine.aquery(question(i)) for i in range(10, 20)]
        jobs += [STEPS["the chain"].ainvoke(question(i), config) for i in range(20, 30)]
        jobs += [ChainEngine().aquery(question(i)) for i in range(30, 40)]
        await asyncio.gather(*jobs)

    with llama_index_franq.FranqHandler(engines).attach() as handler:
        asyncio.run(all_of_them())
        assert watch.flush(20)
        assert handler.flush(20)
    assert (watch.failed, handler.failed) == (0, 0)
    numbers = {}
    for name, guard in {"a": inner, "b": outer, "c": chains, "d": engines}.items():
        for trace in guard.traces:
            number = number_in(trace.question)
            assert trace.generation.text == said(f"run {number}")
            assert [passage.text for passage in trace.passages] == [text_about(number)]
        numbers[name] = sorted(int(number_in(trace.question)) for trace in guard.traces)
    # The handler also sees the engines that run inside chains; the guarded ones are known to it.
    assert numbers["a"] == [*range(10)]
    assert numbers["b"] == [*range(10, 20)]
    assert numbers["c"] == [*range(20, 30)]
    assert set(numbers["d"]) == {*range(10), *range(20, 40)}


def test_the_applications_own_handlers_are_told_of_their_own_framework_alone():
    class Tracer(BaseCallbackHandler):
        models = 0

        def on_llm_end(self, response: Any, **_: Any) -> None:
            self.models += 1

    class Listener(BaseEventHandler):
        names: ClassVar[list[str]] = []

        def handle(self, event: Any, **_: Any) -> None:
            self.names.append(type(event).__name__)

    tracer, listener, root = Tracer(), Listener(), get_dispatcher()
    before = list(root.event_handlers)
    root.event_handlers = [*before, listener]
    try:
        guarded = langchain_franq.guard_chain(STEPS["the chain"], FakeGuard())
        guarded.invoke(question(7), {"callbacks": [tracer]})
        assert (tracer.models, listener.names.count("LLMCompletionEndEvent")) == (0, 1)
        listener.names.clear()
        llama_index_franq.guard_query_engine(ChainEngine(), FakeGuard()).query(question(7))
        assert "LLMCompletionEndEvent" not in listener.names
    finally:
        root.event_handlers = before


@pytest.mark.parametrize("by", [unobserved_by_langchain, unobserved_by_llama_index])
def test_models_that_a_guard_calls_are_not_the_applications(by):
    """Such as one that splits claims, inside a guard of the other framework."""

    def answer(asked: str) -> str:
        text = chain().invoke(asked)
        with by():
            Model().invoke(f"Which claims are in this?\n{text}")
            NodeModel().complete(f"Which claims are in this?\n{text}")
        return text

    class Own(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            return answer(query_str)

    for make in (
        lambda guard: langchain_franq.guard_chain(RunnableLambda(answer), guard).invoke,
        lambda guard: llama_index_franq.guard_query_engine(Own(), guard).query,
    ):
        make(guard := FakeGuard())(question(7))
        assert "Which claims" not in guard.traces[0].generation.prompt
