"""Scripted parts: a retriever, models and a guard whose outputs name the run they belong to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel, BaseLLM
from langchain_core.messages import AIMessage, AIMessageChunk, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import (
    ChatGeneration,
    ChatGenerationChunk,
    ChatResult,
    Generation,
    GenerationChunk,
    LLMResult,
)
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough
from pydantic import Field

from franq_guard.testing import FakeGuard

ScriptedGuard = FakeGuard

TEMPLATE = "Use this:\n{context}\n\nQuestion: {question}\nAnswer:"


def said(prompt: str) -> str:
    """What the scripted models answer: it names the run that the prompt's documents name."""
    run = re.search(r"run (\d+)", prompt)
    number = run.group(1) if run else "none"
    return f"The tower of run {number} is tall. It has {number} steps."


class RunRetriever(BaseRetriever):
    """Two documents that name the run of the query."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        run = re.search(r"run (\d+)", query)
        number = run.group(1) if run else "none"
        texts = {
            "tall": f"The archive says that the tower of run {number} is tall.",
            "old": f"Old letters tell how masons began the tower of run {number} long ago.",
        }
        return [
            Document(text, metadata={"title": f"Tower {number}", "id": f"{number}-{name}"})
            for name, text in texts.items()
        ]


class ScriptedLLM(BaseLLM):
    """Answers as :func:`said`; ``echo`` repeats the prompt first, as pipelines may."""

    echo: bool = False
    sizes: list[int] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, prompts, stop=None, run_manager=None, **kwargs) -> LLMResult:
        self.sizes.append(len(prompts))
        texts = [(p if self.echo else "") + said(p) for p in prompts]
        return LLMResult(generations=[[Generation(text=text)] for text in texts])

    def _stream(self, prompt, stop=None, run_manager=None, **kwargs) -> Iterator[GenerationChunk]:
        for word in re.findall(r"\s*\S+", said(prompt)):
            chunk = GenerationChunk(text=word)
            if run_manager:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk


class ScriptedChat(BaseChatModel):
    """Answers as :func:`said`, as a message."""

    metadata_of_answer: dict[str, Any] = Field(default_factory=dict)

    @property
    def _llm_type(self) -> str:
        return "scripted-chat"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs) -> ChatResult:
        text = said("\n".join(str(m.text) for m in messages))
        message = AIMessage(text, response_metadata=dict(self.metadata_of_answer))
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self, messages, stop=None, run_manager=None, **kwargs
    ) -> Iterator[ChatGenerationChunk]:
        for word in re.findall(r"\s*\S+", said("\n".join(str(m.text) for m in messages))):
            chunk = ChatGenerationChunk(message=AIMessageChunk(word))
            if run_manager:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk


def format_docs(docs: list[Document]) -> str:
    return "\n\n".join(doc.page_content for doc in docs)


def lcel(model: Runnable, retriever: Runnable | None = None, parse: bool = True) -> Runnable:
    """The chain of every tutorial."""
    chat = isinstance(model, BaseChatModel)
    prompt = (ChatPromptTemplate if chat else PromptTemplate).from_template(TEMPLATE)
    inputs = {
        "context": (retriever or RunRetriever()) | format_docs,
        "question": RunnablePassthrough(),
    }
    chain = inputs | prompt | model
    return chain | StrOutputParser() if parse else chain


def question(run: int) -> str:
    return f"How tall is the tower of run {run}?"


def expected(run: int | str) -> str:
    """The guarded answer of a run: its own text, its own passages."""
    return f"The tower of run {run} is tall. It has {run} steps. [checked: Tower {run},Tower {run}]"


class ScriptedAgent(ScriptedChat):
    """Calls the tool ``search`` with the question first, then answers from what it found."""

    def bind_tools(self, tools, **kwargs) -> Runnable:
        return self.bind(tools=tools)

    def _generate(self, messages, stop=None, run_manager=None, **kwargs) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._turn(messages))])

    def _stream(
        self, messages, stop=None, run_manager=None, **kwargs
    ) -> Iterator[ChatGenerationChunk]:
        turn = self._turn(messages)
        if turn.tool_calls:
            yield ChatGenerationChunk(message=AIMessageChunk(**turn.model_dump(exclude={"type"})))
            return
        for word in re.findall(r"\s*\S+", turn.text):
            chunk = ChatGenerationChunk(message=AIMessageChunk(word))
            if run_manager:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk

    def _turn(self, messages) -> AIMessage:
        if isinstance(messages[-1], ToolMessage):
            return AIMessage(said(str(messages[-1].text)))
        call = {"name": "search", "args": {"query": str(messages[-1].text)}, "id": f"c{uuid4()}"}
        return AIMessage("", tool_calls=[call])
