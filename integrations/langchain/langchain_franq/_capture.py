"""Records one guarded call: its retriever, tool and language model runs, by LangChain callbacks.

There is one handler for each call, so nothing has to be looked up or cleaned up. It only records; a
callback can neither change an answer nor hold it back.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import LLMResult

from franq_guard import Passage
from franq_guard.capture.evidence import passages_of, usual_passages
from franq_guard.capture.marked import without_written
from franq_guard.capture.matching import call_that_wrote, same_text
from franq_guard.capture.server_logprobs import GrowingServerText
from franq_guard.language_model.server.tokens import from_logprobs
from langchain_franq._evidence import (
    FoundFor,
    artifact_passages,
    is_error,
    messages_in,
    passages_of_turns,
    quoted,
    step_passages,
    without_joined,
)

_CODE = re.compile(r"```.*?```", re.DOTALL)


@dataclass
class ModelRun:
    """One language model run: the ``prompt`` string or the ``messages`` it was given, its ``text``.

    ``model`` is the class name of the LangChain model; ``info`` is its generation info and
    response metadata, where servers put log-probabilities, once the run has ``ended``. Until then
    ``text`` is what it has streamed so far. ``told`` has the log-probabilities of a stream.
    """

    model: str
    prompt: str | None = None
    messages: Sequence[BaseMessage] | None = None
    text: str | None = None
    info: Mapping[str, Any] | None = None
    ended: bool = False
    told: GrowingServerText = field(default_factory=GrowingServerText)

    @property
    def seen(self) -> str:
        """Everything that the model was given, as one text."""
        if self.messages is None:
            return self.prompt or ""
        return "\n\n".join(str(message.text) for message in self.messages)

    @property
    def own_text(self) -> str:
        """Its text; empty where it only repeats a stretch of what it was given, as documents."""
        text = (self.text or "").strip()
        return "" if text in self.seen else text


class Capture(BaseCallbackHandler):
    """A callback handler that records the runs of one call; thread-safe."""

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
        self._texts: list[str] = []

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
        """Keep the run tree."""
        self._enter(run_id, parent_run_id)

    def on_chain_end(self, outputs: Any, **_: Any) -> None:
        """Keep the documents or texts that a step returned, since functions may search, too."""
        found = step_passages(outputs)
        values = outputs.values() if isinstance(outputs, dict) else [outputs]
        texts = [str(value) for value in values if isinstance(value, str)]
        with self._lock:
            self._steps += found
            self._texts += texts

    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **_: Any,
    ) -> None:
        """Keep the run tree, and which runs are tools."""
        self._enter(run_id, parent_run_id)
        with self._lock:
            self._tools.add(run_id)

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        """Keep what a tool returned: evidence where tools search without a retriever."""
        with self._lock:
            self._tool_outputs.append((run_id, output))

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
        run = ModelRun(_class_name(serialized), prompt=prompts[0])
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
        run = ModelRun(_class_name(serialized), messages=tuple(messages[0]))
        self._enter(run_id, parent_run_id, run)

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **_: Any) -> None:
        """Keep what is streamed, because a stream of claims is checked before the run ends."""
        run = self._models.get(run_id)
        if run is None:
            return
        run.told.add(from_logprobs((getattr(chunk, "generation_info", None) or {}).get("logprobs")))
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
        run.text, run.ended = first.text, True

    # What happened ----------------------------------------------------------------------------

    def retrieved(self) -> list[Passage]:
        """Documents of the outermost retriever runs, in the order the runs started, each once.

        Re-ranking, compressing and multi-query retrievers call other retrievers; the chain uses
        what the outermost one returned.
        """
        with self._lock:
            outermost = [run for run in self._retrievers if not self._inside_retriever(run)]
            return passages_of([self._retrieved.get(run, ()) for run in outermost])

    def evidence(
        self,
        output: Any = None,
        given: Any = None,
        answer: str = "",
        *,
        known: FoundFor | None = None,
    ) -> list[Passage]:
        """Passages, from the first of these places that has any.

        Retrievers; artifacts of tools; the ``output``, then the input (``given``), under a usual
        key; documents that a step returned; texts of tools; tools of the conversation; texts that a
        step returned and that stand in the prompt of the ``answer``. What a model inside a tool
        wrote does not count, nor does a tool's text that is itself the ``answer`` (of a tool that
        answers directly). ``known`` is for the texts of tools of earlier turns.
        """
        return (
            self.retrieved()
            or passages_of([artifact_passages(made) for _, made in self._tool_outputs])
            or self.but_written(usual_passages(output, given))
            or self.but_written(without_joined(passages_of(self._steps)))
            or self._but_itself(passages_of(list(self._tool_texts())), answer)
            or self._but_itself(self._of_turns(messages_in(output, given), known), answer)
            or self._quoted(answer, given)
        )

    def but_written(self, passages: list[Passage]) -> list[Passage]:
        """``passages`` without those that a model wrote itself, as a value in its code."""
        code = [part for text in self.texts for part in _CODE.findall(text)]
        return [p for p in passages if not any(p.text.strip() in part for part in code)]

    def _but_itself(self, passages: list[Passage], answer: str) -> list[Passage]:
        """``passages`` of tools without those that are the answer itself, so no evidence for it.

        That is the case if no model outside the tools wrote the answer: a tool's text was returned.
        """
        if not answer.strip() or any(
            same_text(text, answer) for text in self._texts_by(tools=False)
        ):
            return passages
        return [passage for passage in passages if not same_text(passage.text, answer)]

    def _quoted(self, answer: str, given: Any) -> list[Passage]:
        run = self.answer_run(answer)
        if run is None:
            return []
        asked = {given} if isinstance(given, str) else set()
        with self._lock:
            texts, written = list(self._texts), [r.text or "" for r in self._models.values()]
        return quoted(
            texts, run.seen, lambda text: text in asked or text in map(str.strip, written)
        )

    def _tool_texts(self) -> Iterator[str]:
        with self._lock:
            ended = tuple(self._tool_outputs)
        for run_id, output in ended:
            if not is_error(output) and (text := _text_of_tool(output)) is not None:
                yield without_written(text, self._texts_inside(run_id))

    def _of_turns(self, messages: Sequence[BaseMessage], known: FoundFor | None) -> list[Passage]:
        return passages_of_turns(messages, written=self.texts_of_tools, known=known)

    @property
    def texts(self) -> list[str]:
        """What the models wrote."""
        with self._lock:
            return [run.text for run in self._models.values() if run.text]

    @property
    def texts_of_tools(self) -> list[str]:
        """What models wrote inside tools."""
        return self._texts_by(tools=True)

    def wrote(self, text: str) -> bool:
        """Whether a model wrote ``text`` or a part of it."""
        with self._lock:
            own = [run.own_text for run in self._models.values()]
        return without_written(text, own) != text

    def wrote_in_a_tool(self, text: str) -> bool:
        """Whether a model inside a tool wrote ``text`` or a part of it, which that tool returned.

        Not what the agent's own model, outside of tools, repeats of a tool.
        """
        with self._lock:
            ended = {id for id, output in self._tool_outputs if _text_of_tool(output) == text}
        return any(without_written(text, self._texts_inside(id)) != text for id in ended)

    def told_by_models(self) -> list[str]:
        """What tools returned that a model inside them wrote, or a part of it."""
        with self._lock:
            told = [_text_of_tool(output) for _, output in self._tool_outputs]
        return [text for text in told if text is not None and self.wrote_in_a_tool(text)]

    def seen_in_tools(self) -> str:
        """All that models inside tools were given."""
        return "\n".join(run.seen for run in self._runs_by(tools=True))

    def _texts_inside(self, run_id: UUID) -> list[str]:
        with self._lock:
            inside = [run for id, run in self._models.items() if run_id in self._ancestors(id)]
        return [run.own_text for run in inside]

    def _texts_by(self, *, tools: bool) -> list[str]:
        return [run.text for run in self._runs_by(tools=tools) if run.text]

    def _runs_by(self, *, tools: bool) -> list[ModelRun]:
        with self._lock:
            return [
                run
                for id, run in self._models.items()
                if any(above in self._tools for above in self._ancestors(id)) == tools
            ]

    def answer_run(self, answer: str) -> ModelRun | None:
        """The run that wrote ``answer``: with equal text, else one in the other, else the last.

        Runs inside a retriever (query rewriting, re-ranking) do not count.
        """
        with self._lock:
            wrote = {id: run for id, run in self._models.items() if run.text is not None}
            runs = [run for id, run in wrote.items() if not self._inside_retriever(id)]
        return call_that_wrote(answer, runs or list(wrote.values()))

    def asked(self, answer: str) -> str:
        """The question if it is not in the input: from the model's messages or a search query."""
        run = self.answer_run(answer)
        messages = () if run is None else run.messages or ()
        human = [str(m.text) for m in messages if isinstance(m, HumanMessage)]
        return next(iter([*human[-1:], *self._queries[:1]]), "")

    @property
    def prompts(self) -> list[str]:
        """The prompt strings of the runs so far."""
        with self._lock:
            return [run.prompt for run in self._models.values() if run.prompt is not None]

    def _enter(
        self, run_id: UUID, parent_run_id: UUID | None, model_run: ModelRun | None = None
    ) -> None:
        with self._lock:
            self._parents[run_id] = parent_run_id
            if model_run is not None:
                self._models[run_id] = model_run

    def _inside_retriever(self, run_id: UUID) -> bool:
        return any(parent in self._retrievers for parent in self._ancestors(run_id))

    def _ancestors(self, run_id: UUID) -> Iterator[UUID]:
        parent = self._parents.get(run_id)
        while parent is not None:
            yield parent
            parent = self._parents.get(parent)


def _text_of_tool(output: Any) -> str | None:
    text = output.text if isinstance(output, ToolMessage) else output
    return str(text) if isinstance(text, str) else None


def _class_name(serialized: dict[str, Any] | None) -> str:
    path = (serialized or {}).get("id") or [(serialized or {}).get("name") or ""]
    return str(path[-1])
