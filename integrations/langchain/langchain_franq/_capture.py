"""Reads what was recorded of one guarded call: its passages, its models and their texts.

There is one :class:`Capture` for each call, so nothing has to be looked up or cleaned up.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

from franq_guard import Passage
from franq_guard.basics.failures import log_failure
from franq_guard.capture.evidence import passages_of, usual_passages
from franq_guard.capture.marked import without_written
from franq_guard.capture.matching import call_that_wrote, calls_behind, same_text
from langchain_franq._blocks import passages_in_blocks, read_by_model, written_in_blocks
from langchain_franq._documents import documents_in
from langchain_franq._events import Events
from langchain_franq._joined import is_in_one, quoted, that_hold, with_returned, without_joined
from langchain_franq._model_run import (
    ModelRun,
    Writer,
    seen_behind,
    without_echoed,
    without_rewritten,
    without_written_by,
    writer_of,
    written_parts,
)
from langchain_franq._shapes import asked_in
from langchain_franq._texts import given_texts
from langchain_franq._turns import (
    FoundFor,
    artifact_passages,
    is_error,
    messages_in,
    passages_of_turns,
    text_of_tool,
    with_earlier,
)

_log = logging.getLogger(__name__)


class Capture(Events):
    """What was recorded of one call; thread-safe."""

    def __init__(self) -> None:
        _hear_llama_index()
        super().__init__()

    def retrieved(self) -> list[Passage]:
        """Documents of the outermost retriever runs, in the order the runs started, each once.

        Re-ranking and multi-query retrievers call others; the chain uses what the outermost one
        returned. Of an extract that a model wrote, only what it quotes counts, and its original.
        """
        with self._lock:
            outermost = [run for run in self._retrievers if not self._inside_retriever(run)]
            return passages_of([self._found_by(run) for run in outermost])

    def _found_by(self, retriever: UUID) -> list[Passage]:
        inside = [run for run in self._retrievers if retriever in self._ancestors(run)]
        wrote = [run for id, run in self._models.items() if retriever in self._ancestors(id)]
        found = passages_of(self._retrieved.get(retriever, ()))
        originals = passages_of([self._retrieved.get(run, ()) for run in inside])
        return without_rewritten(found, originals, wrote, self._queries)

    def evidence(
        self,
        output: Any = None,
        given: Any = None,
        answer: str = "",
        *,
        known: FoundFor | None = None,
    ) -> list[Passage]:
        """Passages, from the first of these places that has any.

        Retrievers or artifacts of tools, with the texts of tools that do not only join these, and
        the pages by which a step replaced them; the ``output``, then the input (``given``), under a
        usual key; documents that a step returned; texts of tools; tools of the conversation; where
        there was no retriever, what a prompt was filled with under a usual key, else texts that a
        step made, or that are in a dict or list of a tool, and that stand in the prompt of the
        ``answer``; documents anywhere in the input. Texts of tools that only say that something was
        done do not end the search. What a model wrote does not count, unless it repeats what it was
        given; nor does a tool's text that is itself the ``answer`` (of a tool that answers
        directly). ``known`` is for texts of tools of earlier turns.
        """
        by_tools = self._but_itself(self._returned_by_tools(), answer)
        artifacts = [artifact_passages(made) for _, made in self._tool_outputs]
        found = self.retrieved() or passages_of(artifacts)
        with self._lock:
            called = list(self._called_with)
        beside = with_returned(found, [*self._fetched_beside(found), *by_tools], called)
        beside += self._replaced(found, answer, given) if found else []
        return (
            (passages_of([*found, *beside]) if found else [])
            or self.usual(output, given)
            or self._but_written(without_joined(passages_of(self._steps)), asked_in(given))
            or with_earlier(
                by_tools,
                lambda: (
                    self._but_itself(self._of_turns(messages_in(given, output), known), answer)
                    or self._quoted(answer, given)
                    or self._given_to_a_prompt(answer, given)
                ),
            )
        )

    def _fetched_beside(self, found: Sequence[Passage]) -> list[Passage]:
        """Documents that a step put in place of those found: what they are parts of, say."""
        known = {passage.text for passage in found}
        with self._lock:
            steps = [p for p in self._steps if p.text in self._documents and p.text not in known]
            runs = list(self._models.values())
        return without_rewritten(passages_of(steps), [], runs, self._queries)

    def _replaced(self, found: Sequence[Passage], answer: str, given: Any) -> list[Passage]:
        """Texts by which a step replaced those found, in the prompt of the ``answer``: whole pages.

        As a step may return them in a list, or joined for the prompt.
        """
        with self._lock:
            texts = list(dict.fromkeys(self._texts))
        runs, asked = calls_behind(answer, self._answering()), asked_in(given)
        pages = that_hold(found, quoted(texts, runs), asked, runs)
        return self._but_written(without_joined(pages), asked)

    def usual(self, output: Any, given: Any) -> list[Passage]:
        """What is under a usual key of the output, else of the input, and no model wrote."""
        made = self._but_written(usual_passages(output), asked_in(given))
        return made or self._but_written(usual_passages(given))

    def written_in(self, text: str, given: Any = None) -> list[str]:
        """The stretches of ``text`` that a model wrote of its own, not from what it was given.

        What it was asked (the question in ``given``) does not count as given.
        """
        return written_parts(text, self._writers(asked_in(given)))

    def _but_written(self, passages: list[Passage], asked: Sequence[str] = ()) -> list[Passage]:
        """``passages`` without what a model wrote of its own, also as a value in its code.

        Documents stay whole: models write strings, and may copy a document that no prompt shows.
        """
        documents = self._whole_documents()
        writers = [] if {p.text for p in passages} <= documents else self._writers(asked)
        kept = ([p] if p.text in documents else without_written_by([p], writers) for p in passages)
        return [passage for each in kept for passage in each]

    def _whole_documents(self) -> set[str]:
        """The texts of documents but for those that a model inside a retriever wrote."""
        found = {passage.text for passage in self.retrieved()}
        with self._lock:
            returned = passages_of([*self._retrieved.values()])
            return self._documents - {passage.text for passage in returned} | found

    def _writers(self, asked: Sequence[str]) -> list[Writer]:
        with self._lock:
            return [writer_of(run, asked) for run in self._models.values()]

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
        runs = calls_behind(answer, self._answering())
        with self._lock:
            texts, spoken = list(self._texts), [*self._called_with, *self._earlier_turns]
            filled = passages_of(self._filled)
            searched = bool(self._retrievers)
        if not runs or searched:
            return []
        shown = [p for p in filled if any(p.text.strip() in run.seen for run in runs)]
        quotes = without_joined(shown) or without_joined(quoted(texts, runs))
        found = self._but_written(quotes, asked_in(given))
        no_evidence = [*given_texts(given), *spoken] if found else []
        return without_written_by(found, [Writer([text]) for text in no_evidence])

    def _given_to_a_prompt(self, answer: str, given: Any) -> list[Passage]:
        """Documents anywhere in the input, but for those that no prompt of the ``answer`` has."""
        runs = calls_behind(answer, self._answering())
        held = passages_of([*documents_in(given)])
        return [passage for passage in held if not runs or is_in_one(passage.text, runs)]

    def _returned_by_tools(self) -> list[Passage]:
        found: list[Passage] = []
        with self._lock:
            ended = [(id, made, self._called_before[id]) for id, made in self._tool_outputs]
        for id, made, before in ended:
            if not is_error(made) and (text := text_of_tool(made)) is not None:
                inside = self._texts_inside(id)
                blocks = passages_in_blocks(made, inside)
                texts = passages_of([without_written(text, inside), blocks])
                known = [passage.text for passage in found]
                found += without_echoed(texts, self._called_with[:before], known)
        return passages_of(found)

    def _of_turns(self, messages: Sequence[BaseMessage], known: FoundFor | None) -> list[Passage]:
        now, before = passages_of_turns(messages, written=self.texts_of_tools, known=known)
        return with_earlier(now, lambda: before)

    @property
    def texts(self) -> list[str]:
        """What the models wrote."""
        with self._lock:
            return [run.text for run in self._models.values() if run.text]

    @property
    def arguments(self) -> list[str]:
        """The texts that the models called tools with."""
        with self._lock:
            return [text for run in self._models.values() for text in run.arguments]

    @property
    def texts_of_tools(self) -> list[str]:
        """What models wrote inside tools."""
        return self._texts_by(tools=True)

    def wrote(self, text: str) -> bool:
        """Whether a model wrote ``text`` or a part of it."""
        with self._lock:
            by_models = [run.new_text for run in self._models.values()]
        return without_written(text, by_models) != text

    def wrote_in_a_tool(self, text: str) -> bool:
        """Whether a model inside a tool wrote ``text`` or a part of it, which that tool returned.

        Not what the agent's own model, outside of tools, repeats of a tool.
        """
        with self._lock:
            ended = {id for id, output in self._tool_outputs if text_of_tool(output) == text}
        return any(without_written(text, self._texts_inside(id)) != text for id in ended)

    def wrote_inside_tools(self, text: str) -> bool:
        """Whether a model inside any tool wrote ``text`` or a part of it."""
        by_models = [run.new_text for run in self._runs_by(tools=True)]
        return without_written(text, by_models) != text

    def tool_texts_by_models(self) -> list[str]:
        """What tools returned that a model inside them wrote, or a part of it, as it is read."""
        with self._lock:
            outputs = [output for _, output in self._tool_outputs]
        return [
            read_by_model(output) if isinstance(output, ToolMessage) else text
            for output in outputs
            if (text := text_of_tool(output)) is not None
            and (self.wrote_in_a_tool(text) or written_in_blocks(output, self.wrote_inside_tools))
        ]

    def seen_behind(self, answer: str) -> str:
        """What models were given whose words an ``answer`` may rest on.

        These are the models inside tools, those whose texts the answer is made of, and those whose
        text is in the prompt of one of these.
        """
        with self._lock:
            runs = list(self._models.values())
        others = [*self._runs_by(tools=True), *calls_behind(answer, self._answering())]
        return seen_behind(self.answer_run(answer), others, runs)

    def _texts_inside(self, run_id: UUID) -> list[str]:
        with self._lock:
            inside = [run for id, run in self._models.items() if run_id in self._ancestors(id)]
        return [run.new_text for run in inside]

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
        """The run that wrote ``answer``, or most of it; see :func:`call_that_wrote`."""
        return call_that_wrote(answer, self._answering())

    def _answering(self) -> list[ModelRun]:
        """The runs that may have written an answer, and not a query or a choice in a retriever."""
        with self._lock:
            wrote = {id: run for id, run in self._models.items() if run.text is not None}
            runs = [run for id, run in wrote.items() if not self._inside_retriever(id)]
        return runs or list(wrote.values())

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

    def _inside_retriever(self, run_id: UUID) -> bool:
        return any(parent in self._retrievers for parent in self._ancestors(run_id))

    def _ancestors(self, run_id: UUID) -> Iterator[UUID]:
        parent = self._parents.get(run_id)
        while parent is not None:
            yield parent
            parent = self._parents.get(parent)


def _hear_llama_index() -> None:
    """Also listen to LlamaIndex, if the application uses it: its parts may run inside a chain."""
    if "llama_index.core" not in sys.modules:
        return
    try:
        from langchain_franq._llama_index import install

        install()
    except (ImportError, AttributeError) as error:  # of another version, or still being imported
        log_failure(_log, "what LlamaIndex does inside a chain is not captured", error)
