"""Keeps what happens in one guarded call, as LangChain's callbacks tell it.

It only records; a callback can neither change an answer nor hold it back.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextvars import ContextVar
from time import monotonic
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

from franq_guard import Passage
from franq_guard.capture.evidence import usual_passages
from franq_guard.capture.matching import same_text
from franq_guard.language_model.server.tokens import from_logprobs
from langchain_franq._documents import documents_in, step_passages
from langchain_franq._messages import text_of
from langchain_franq._model_run import ModelRun, class_name
from langchain_franq._texts import argument_texts, earlier_turns_in, texts_in


class Events(BaseCallbackHandler):
    """A callback handler that keeps the runs of one call; thread-safe."""

    run_inline = True  # keeps the order of events and avoids a thread per event under asyncio

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parents: dict[UUID, UUID | None] = {}
        self._retrieved: dict[UUID, Sequence[Document]] = {}
        self._retrievers: list[UUID] = []
        self._queries: list[str] = []
        self._models: dict[UUID, ModelRun] = {}
        self._tools: set[UUID] = set()
        self._tool_outputs: list[tuple[UUID, Any]] = []
        self._steps: list[Passage] = []
        self._filled: list[Passage] = []
        self._documents: set[str] = set()
        self._texts: list[str] = []
        self._earlier_turns: set[str] = set()
        self._called_with: list[str] = []
        self._called_before: dict[UUID, int] = {}

    # Events -----------------------------------------------------------------------------------

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **_: Any,
    ) -> None:
        """Keep the run tree, which texts are those of documents, and what a prompt is filled with.

        A function may search by itself, and hand what it found to a prompt or a chain inside it.
        """
        self._enter(run_id, parent_run_id)
        filled = usual_passages(inputs) if isinstance(inputs, dict) else []
        with self._lock:
            self._documents |= {document.page_content for document in documents_in(inputs)}
            self._filled += filled

    def on_chain_end(self, outputs: Any, **_: Any) -> None:
        """Keep the documents or texts that a step returned, since functions may search, too.

        And what was said in earlier turns, which is no evidence.
        """
        found = step_passages(outputs)
        texts = [text for _, text in texts_in(outputs)]
        earlier = earlier_turns_in(outputs)
        with self._lock:
            written = [run.text for run in self._models.values() if run.text]
            self._earlier_turns |= {
                t for t in earlier if not any(same_text(t, by_model) for by_model in written)
            }
            self._steps += found
            self._documents |= {document.page_content for document in documents_in(outputs)}
            self._texts += texts

    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        inputs: Any = None,
        **_: Any,
    ) -> None:
        """Keep the run tree, which runs are tools, and what a model called them with."""
        self._enter(run_id, parent_run_id)
        with self._lock:
            self._tools.add(run_id)
            self._called_with += [input_str, *argument_texts(inputs)]

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        """Keep what a tool returned: evidence where tools search without a retriever."""
        inside = [] if isinstance(output, str) else [text for _, text in texts_in(output)]
        with self._lock:
            self._tool_outputs.append((run_id, output))
            self._called_before[run_id] = len(self._called_with)
            self._texts += inside

    def on_retriever_start(
        self,
        serialized: Any,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **_: Any,
    ) -> None:
        """Keep the run tree and the order in which retrievers started."""
        with self._lock:
            self._parents[run_id] = parent_run_id
            self._retrievers.append(run_id)
            self._queries.append(query)

    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **_: Any) -> None:
        """Keep the documents."""
        with self._lock:
            self._retrieved[run_id] = tuple(documents)

    def on_llm_start(
        self,
        serialized: dict[str, Any] | None,
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **_: Any,
    ) -> None:
        """Keep the exact prompt string (LangChain makes one run per prompt)."""
        run = ModelRun(class_name(serialized), prompt=prompts[0])
        self._enter(run_id, parent_run_id, run)

    def on_chat_model_start(
        self,
        serialized: dict[str, Any] | None,
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **_: Any,
    ) -> None:
        """Keep the messages."""
        run = ModelRun(class_name(serialized), messages=tuple(messages[0]))
        self._enter(run_id, parent_run_id, run)

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **_: Any) -> None:
        """Keep what is streamed, because a stream of claims is checked before the run ends."""
        run = self._models.get(run_id)
        if run is None:
            return
        run.growing.add(
            from_logprobs((getattr(chunk, "generation_info", None) or {}).get("logprobs"))
        )
        # Set last, so that a check in another thread has the probabilities of all text it reads.
        run.text = (run.text or "") + (chunk.text if chunk is not None else str(token))

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """Keep the text; ignore a run without a generation or whose start was not reported."""
        run = self._models.get(run_id)
        if run is None or not response.generations or not response.generations[0]:
            return
        first = response.generations[0][0]
        message = getattr(first, "message", None)
        metadata = message.response_metadata if isinstance(message, BaseMessage) else {}
        run.info = {**(first.generation_info or {}), **metadata}
        calls = [call["args"] for call in getattr(message, "tool_calls", ())]
        run.arguments = [text for _, text in texts_in(calls)]
        run.text, run.ended_at, run.ended = text_in(response), monotonic(), True

    def _enter(
        self, run_id: UUID, parent_run_id: UUID | None, model_run: ModelRun | None = None
    ) -> None:
        with self._lock:
            self._parents[run_id] = parent_run_id
            if model_run is not None:
                self._models[run_id] = model_run


def text_in(response: LLMResult) -> str:
    """What a model wrote; where that is no text, a refusal or the words of its audio."""
    first = response.generations[0][0]
    message = getattr(first, "message", None)
    return first.text or (text_of(message) if isinstance(message, BaseMessage) else "")


captures: list[ContextVar[Events | None]] = []
"""What keeps the events of this context, where an application has no chain to be wrapped.

There is a variable for each level of nested ``capture()`` blocks.
"""
