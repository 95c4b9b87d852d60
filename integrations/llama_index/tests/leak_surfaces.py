"""Every guarded surface, each way to ask it, and all that one can look at afterwards."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from llama_index.core.agent.workflow import (
    AgentWorkflow,
    CodeActAgent,
    FunctionAgent,
    ReActAgent,
)
from llama_index.core.base.base_selector import SelectorResult, SingleSelection
from llama_index.core.base.response.schema import Response
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.indices.query.query_transform.base import BaseQueryTransform
from llama_index.core.query_engine import (
    CitationQueryEngine,
    CustomQueryEngine,
    MultiStepQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
)
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import FunctionTool, QueryEngineTool

from llama_index_franq import guard_agent, guard_chat_engine, guard_query_engine

from .agent_fakes import look_up
from .fakes import RunRetriever, ScriptedLLM, memory_of, question, rag
from .secret_parts import (
    SecretCaller,
    SecretChat,
    SecretCoder,
    SecretLLM,
    SecretReasoner,
    made_up,
    told,
)

PLACES = ("answer", "beside it", "memory", "events")


@dataclass(frozen=True)
class Surface:
    """How to ask it: each mode makes what is asked; ``ask`` gives what then stands in each place.

    ``modes`` maps the name of a mode to the options of the wrapper.
    """

    modes: dict[str, dict[str, Any]]
    ask: Callable[[str, Any, int], Awaitable[dict[str, Any]]]


# Query engines -------------------------------------------------------------------------------


class Same(BaseQueryTransform):
    """Asks each step the same: what a real one does with a model matters nothing here."""

    def _get_prompts(self):
        return {}

    def _update_prompts(self, prompts):
        pass

    def _run(self, query_bundle, metadata):
        return query_bundle


class OneQuestion(BaseQuestionGenerator):
    """The question itself, twice."""

    def generate(self, tools, query):
        return [SubQuestion(sub_question=query.query_str, tool_name="towers")] * 2

    async def agenerate(self, tools, query):
        return self.generate(tools, query)

    def _get_prompts(self):
        return {}

    def _update_prompts(self, prompts):
        pass


def tool_of(engine, **options):
    return QueryEngineTool.from_defaults(engine, name="towers", description="towers", **options)


def streamed(engine, streaming):
    engine._response_synthesizer._streaming = streaming
    return engine


def multi_step(streaming):
    last = rag(SecretLLM(), streaming=streaming)._response_synthesizer
    return MultiStepQueryEngine(rag(SecretLLM()), Same(), response_synthesizer=last, num_steps=2)


def sub_question(streaming, inner=None):
    engine = SubQuestionQueryEngine.from_defaults(
        [tool_of(inner or rag(SecretLLM()))],
        llm=SecretLLM(),
        question_gen=OneQuestion(),
        verbose=False,
        use_async=False,
    )
    return streamed(engine, streaming)


def router(streaming):
    choice = '[{"choice": 1, "reason": "Purple unicorns told me to take this one at noon."}]'
    selector = LLMSingleSelector.from_defaults(llm=ScriptedLLM(script=[choice]))
    tool = tool_of(rag(SecretLLM(), streaming=streaming))
    return RouterQueryEngine(selector, [tool], llm=SecretLLM())


class Talkative(CustomQueryEngine):
    """Puts all it has into the metadata of its response."""

    chat_model: SecretChat
    streaming: bool = False

    def custom_query(self, query_str):
        nodes = RunRetriever().retrieve(query_str)
        asked = [m for m in _messages(query_str, nodes)]
        response = self.chat_model.chat(asked)
        text = response.message.content
        beside = {
            "draft": text,
            "steps": [{"said": text, "cost": 3}],
            "message": response.message,
            "response": response,
            "logprobs": [{"token": word} for word in text.split()],
            "thinking": text,
            "first_words": text[:150],
            "chosen": SelectorResult(selections=[SingleSelection(index=0, reason=text)]),
            "model": "scripted",
        }
        return Response(text, source_nodes=nodes, metadata=beside)


def _messages(query_str, nodes):
    from llama_index.core.base.llms.types import ChatMessage

    context = "\n".join(node.node.get_content() for node in nodes)
    return [ChatMessage(role="user", content=f"{context}\n{query_str}")]


ENGINES = {
    "retriever": lambda streaming: rag(SecretLLM(), streaming=streaming),
    "chat model": lambda streaming: rag(SecretChat(), streaming=streaming),
    "refine": lambda streaming: rag(SecretLLM(), streaming=streaming, response_mode="refine"),
    "tree_summarize": lambda s: rag(SecretLLM(), streaming=s, response_mode="tree_summarize"),
    "citation": lambda s: streamed(CitationQueryEngine(RunRetriever(), llm=SecretLLM()), s),
    "router": router,
    "multi-step": multi_step,
    "sub-question": sub_question,
}
QUERY_MODES = {
    "query": {},
    "aquery": {},
    "stream": {},
    "async stream": {},
    "claims": {"stream": "claims"},
    "async claims": {"stream": "claims"},
}


async def ask_engine(engine, mode, run):
    asked = question(run)
    if mode == "query":
        response = engine.query(asked)
        shown = response.response
    elif mode == "aquery":
        response = await engine.aquery(asked)
        shown = response.response
    elif mode in ("stream", "claims"):
        response = engine.query(asked)
        shown = "".join(response.response_gen)
    else:
        response = await engine.aquery(asked)
        shown = "".join([piece async for piece in response.async_response_gen()])
    return {"answer": shown, "beside it": (response.metadata, response.source_nodes)}


def engine_surface(make) -> Surface:
    async def ask(mode, guard, run):
        streaming = "stream" in mode or "claims" in mode
        engine = guard_query_engine(make(streaming), guard, **QUERY_MODES[mode])
        return await ask_engine(engine, mode, run)

    return Surface(QUERY_MODES, ask)


def talkative() -> Surface:
    async def ask(mode, guard, run):
        engine = guard_query_engine(Talkative(chat_model=SecretChat()), guard)
        return await ask_engine(engine, mode, run)

    return Surface({mode: {} for mode in ("query", "aquery")}, ask)


# Chat engines --------------------------------------------------------------------------------


CHATS = {
    "context chat": lambda: ContextChatEngine.from_defaults(
        RunRetriever(), llm=SecretChat(), memory=memory_of()
    ),
    "condense plus context": lambda: CondensePlusContextChatEngine.from_defaults(
        RunRetriever(), llm=SecretChat(), memory=memory_of()
    ),
    "condense question": lambda: CondenseQuestionChatEngine.from_defaults(
        rag(SecretLLM()), llm=SecretLLM(), memory=memory_of()
    ),
    "condense over sub-question": lambda: CondenseQuestionChatEngine.from_defaults(
        sub_question(False), llm=SecretLLM(), memory=memory_of()
    ),
    "simple chat": lambda: SimpleChatEngine.from_defaults(llm=SecretChat(), memory=memory_of()),
}
CHAT_MODES = {
    "chat": {},
    "achat": {},
    "stream": {},
    "async stream": {},
    "claims": {"stream": "claims"},
    "async claims": {"stream": "claims"},
}


async def ask_chat(engine, mode, run):
    asked = question(run)
    if mode in ("chat", "achat"):
        response = engine.chat(asked) if mode == "chat" else await engine.achat(asked)
        shown = response.response
    elif mode in ("stream", "claims"):
        response = engine.stream_chat(asked)
        shown = "".join(response.response_gen)
    else:
        response = await engine.astream_chat(asked)
        shown = "".join([piece async for piece in response.async_response_gen()])
    # A plain engine's stream has no metadata.
    beside = getattr(response, "metadata", None), response.sources, response.source_nodes
    return {"answer": shown, "beside it": beside, "memory": engine.chat_history}


def chat_surface(make, modes) -> Surface:
    async def ask(mode, guard, run):
        return await ask_chat(guard_chat_engine(make(), guard, **CHAT_MODES[mode]), mode, run)

    return Surface({mode: CHAT_MODES[mode] for mode in modes}, ask)


# Agents --------------------------------------------------------------------------------------


def chatty(input: str) -> str:
    """Looks a tower up, and adds what a model says."""
    return SecretLLM().complete(f"{look_up(input)} {input}").text


def function_agent(tools, **options):
    return FunctionAgent(tools=tools, llm=SecretCaller(), **options)


def code_agent(**options):
    return CodeActAgent(
        code_execute_fn=lambda code: look_up(code),
        llm=SecretCoder(),
        tools=[FunctionTool.from_defaults(look_up, name="towers")],
        **options,
    )


def team(**options):
    member = function_agent([tool_of(rag(SecretLLM()))], name="one", description="knows", **options)
    return AgentWorkflow(agents=[member], root_agent="one")


AGENTS = {
    "FunctionAgent, engine as a tool": lambda **o: function_agent([tool_of(rag(SecretLLM()))], **o),
    "FunctionAgent, tool with a model": lambda **o: function_agent(
        [FunctionTool.from_defaults(chatty, name="towers")], **o
    ),
    "FunctionAgent, tool returns directly": lambda **o: function_agent(
        [tool_of(rag(SecretLLM()), return_direct=True)], **o
    ),
    "FunctionAgent, tool with a model returns directly": lambda **o: function_agent(
        [FunctionTool.from_defaults(chatty, name="towers", return_direct=True)], **o
    ),
    "ReActAgent": lambda **o: ReActAgent(
        tools=[tool_of(rag(SecretLLM()))], llm=SecretReasoner(), **o
    ),
    "CodeActAgent": code_agent,
    "AgentWorkflow": team,
}
AGENT_MODES = {"run": {}, "stream": {}, "claims": {"stream": "claims"}}


async def ask_agent(agent, run):
    memory = memory_of()
    handler = agent.run(user_msg=question(run), memory=memory)
    events = [event async for event in handler.stream_events()]
    result = await handler
    return {
        "answer": (result.response.content, result.response.blocks),
        "beside it": (result.tool_calls, result.raw, result.response.additional_kwargs),
        "memory": memory.get_all(),
        "events": [(event, getattr(event, "raw", None)) for event in events],
    }


def agent_surface(make) -> Surface:
    async def ask(mode, guard, run):
        agent = make(streaming=mode == "stream")
        return await ask_agent(guard_agent(agent, guard, **AGENT_MODES[mode]), run)

    return Surface(AGENT_MODES, ask)


def agent_of_guarded_tools() -> Surface:
    """A plain agent: what its guarded tool says is checked; the agent itself is another matter."""

    async def ask(mode, guard, run):
        tool = tool_of(guard_query_engine(rag(SecretLLM()), guard), return_direct=True)
        agent = FunctionAgent(tools=[tool], llm=Silent(), streaming=mode == "stream")
        memory = memory_of()
        handler = agent.run(user_msg=question(run), memory=memory)
        events = [event async for event in handler.stream_events()]
        result = await handler
        return {
            "answer": result.response.content,
            "beside it": (result.tool_calls, result.raw),
            "memory": memory.get_all(),
            "events": events,
        }

    return Surface({"run": {}, "stream": {}}, ask)


class Silent(SecretCaller):
    """Calls the tool without a word."""

    def _calling(self, asked):
        message = super()._calling(asked)
        call = {"call": message.additional_kwargs["call"]}
        return type(message)(role="assistant", content="", additional_kwargs=call)


async def answer_of(name, mode, run) -> str:
    """What the application of that name answers without any guard."""
    streaming = "stream" in mode
    if name in ENGINES:
        return (await ask_engine(ENGINES[name](streaming), mode, run))["answer"]
    if name in CHATS:
        return (await ask_chat(CHATS[name](), mode, run))["answer"]
    return (await ask_agent(AGENTS[name](streaming=streaming), run))["answer"][0]


UNGUARDED = [
    *((name, mode) for name in ENGINES for mode in ("query", "async stream")),
    *((name, mode) for name in CHATS for mode in ("achat", "stream")),
    *((name, mode) for name in AGENTS for mode in ("run", "stream")),
]
UNGUARDED.remove(("condense over sub-question", "stream"))  # its engine cannot stream

CHATS_IN = {name: tuple(CHAT_MODES) for name in CHATS}
CHATS_IN["condense over sub-question"] = ("chat", "achat")

SURFACES: dict[str, Surface] = {
    **{name: engine_surface(make) for name, make in ENGINES.items()},
    "custom, all in metadata": talkative(),
    **{name: chat_surface(make, CHATS_IN[name]) for name, make in CHATS.items()},
    **{name: agent_surface(make) for name, make in AGENTS.items()},
    "agent with a guarded tool": agent_of_guarded_tools(),
}

__all__ = ["PLACES", "SURFACES", "UNGUARDED", "Surface", "answer_of", "made_up", "told"]
