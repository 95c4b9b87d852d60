"""Scripted LlamaIndex parts and a scripted guard: each answer names the run it belongs to."""

from __future__ import annotations

import re

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LLMMetadata,
)
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode
from pydantic import Field

from franq_guard.testing import FakeGuard

ScriptedGuard = FakeGuard


def said(prompt: str) -> str:
    """What the scripted models answer: it names the run that the prompt's nodes name."""
    run = re.search(r"run (\d+)", prompt)
    number = run.group(1) if run else "none"
    return f"The tower of run {number} is tall. It has {number} steps."


class ScriptedLLM(CustomLLM):
    """Answers as :func:`said`, or with the next of ``script``; a completion model."""

    context_window: int = 4096
    script: list[str] = Field(default_factory=list)
    prompts: list[str] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=self.context_window, num_output=64)

    def answer(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return self.script.pop(0) if self.script else said(prompt)

    @llm_completion_callback()
    def complete(self, prompt, formatted=False, **kwargs):
        return CompletionResponse(text=self.answer(prompt))

    @llm_completion_callback()
    def stream_complete(self, prompt, formatted=False, **kwargs):
        def chunks():
            text = ""
            for word in re.findall(r"\s*\S+", self.answer(prompt)):
                text += word
                yield CompletionResponse(text=text, delta=word)

        return chunks()


class ScriptedChat(ScriptedLLM):
    """The same as a chat model."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=self.context_window, num_output=64, is_chat_model=True)

    @llm_chat_callback()
    def chat(self, messages, **kwargs):
        text = self.answer("\n".join(m.content or "" for m in messages))
        return ChatResponse(message=ChatMessage(role="assistant", content=text))

    @llm_chat_callback()
    def stream_chat(self, messages, **kwargs):
        def chunks():
            text = ""
            for word in re.findall(r"\s*\S+", self.answer("\n".join(m.content for m in messages))):
                text += word
                message = ChatMessage(role="assistant", content=text)
                yield ChatResponse(message=message, delta=word)

        return chunks()


class RunRetriever(BaseRetriever):
    """Two nodes that name the run of the query."""

    def _retrieve(self, query_bundle):
        run = re.search(r"run (\d+)", query_bundle.query_str)
        number = run.group(1) if run else "none"
        return [node(number, part) for part in ("tall", "old")]


TEXTS = {
    "tall": "The archive says that the tower",
    "old": "Nobody knows who built it, but surely the cellar",
    "wide": "A drawing in the town hall shows that the gate",
}


def node(number: int | str, part: str) -> NodeWithScore:
    text = f"{TEXTS[part]} of run {number} is {part}."
    about = {"title": f"Tower {number}", "file_name": f"{part}.txt"}
    return NodeWithScore(node=TextNode(text=text, id_=f"{number}-{part}", metadata=about), score=1)


def rag(llm, retriever=None, **options) -> RetrieverQueryEngine:
    """The query engine of every tutorial."""
    return RetrieverQueryEngine.from_args(retriever or RunRetriever(), llm=llm, **options)


def memory_of() -> ChatMemoryBuffer:
    """LlamaIndex's default memory opens a database that it never closes; this one does not."""
    return ChatMemoryBuffer.from_defaults(token_limit=3000)


def question(run: int) -> str:
    return f"How tall is the tower of run {run}?"


def marked(run: int | str) -> str:
    """The guarded answer of a run: its own text, its own passages."""
    return f"{said(f'run {run}')} [checked: Tower {run},Tower {run}]"
