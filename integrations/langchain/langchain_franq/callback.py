"""FranqCallback: checks the answers of an unchanged application in the background and reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

from franq_guard import Passage
from franq_guard.capture.evidence import EvidenceOfTwo, NoPassagesNote, chosen_passages
from franq_guard.capture.fields import ALL
from franq_guard.capture.job import Job, gathered
from franq_guard.capture.local import LocalModel, check_recorded
from franq_guard.capture.watching import FoundForTexts, Watching
from franq_guard.streaming.release import OnReport
from langchain_franq._beside import texts_to_check
from langchain_franq._events import text_in
from langchain_franq._find import models_of
from langchain_franq._job import job_of
from langchain_franq._quiet import unobserved
from langchain_franq._roots import Root, Roots
from langchain_franq._shapes import NO_ANSWER, has_stopped, locate, question_of
from langchain_franq._texts import given_texts, is_passage, is_prose, texts_in
from langchain_franq._turns import messages_in, seen_in_tools

if TYPE_CHECKING:
    from franq_guard import Guard


_STRUCTURED = "structured_response"  # create_agent's key for a structured answer


class FranqCallback(Watching, BaseCallbackHandler):
    """Watches chains, agents and models as they are, and reports on their answers.

        watch = FranqCallback(guard, on_report=print, sample=0.1)
        chain.invoke(question, {"callbacks": [watch]})

    For ``config={"callbacks": [...]}`` and for the ``callbacks=`` of a chain, agent or model. It
    sees what was retrieved, the prompt and the final answer of each root run (of each item of a
    batch), and checks the answer in a thread of its own. It never changes or delays an answer, and
    its exceptions do not reach the application. Answers beyond ``queue_size`` are dropped and
    counted. A run that fails, is cancelled, or is interrupted to ask somebody is not checked, and
    nothing of it is kept. In
    OpenTelemetry a check is a child of the span in which the run ended; for LangSmith use
    ``on_report=feedback_to(client)``.

    Token probabilities are captured if a server sent them, or if a local transformers model was
    named in ``models`` (a callback does not get the model itself; a llama.cpp model cannot be used,
    since it may be writing the next answer). Otherwise the passages alone decide; with a calibrator
    of yours, or methods by name, the guard's own language model reads the answer. Callbacks are not
    told of a plain LLM's cached answer; a callback of a single model sees no retriever; in a thread
    without the caller's context it sees nothing.

    What a model inside a tool wrote is no evidence, what that tool found is. In a follow-up turn
    this holds for the tools of earlier turns that the same callback has checked.

    Args:
        guard: the guard; any number of callbacks may share it.
        on_report: called with each checked answer (its ``id`` is that of the root run), in the
            checking thread.
        sample: the share of root runs to check, between 0 and 1; their ids determine which ones.
        queue_size: how many answers may wait for their check.
        models: the application's chains or models, so that the tokens of the local ones are
            captured as they write.
        input_key: the key of the question in a dict input; default: see ``guard_chain``.
        output_key: the key of the answer in a dict output; default: see ``guard_chain``.
        evidence: where the passages are; see ``guard_chain``.

    Raises:
        TypeError, ValueError: for arguments that cannot work.
    """

    run_inline = True  # keeps the order of events and avoids a thread per event under asyncio
    raise_error = False

    def __init__(
        self,
        guard: Guard,
        on_report: OnReport | None = None,
        *,
        sample: float = 1.0,
        queue_size: int = 1000,
        models: Sequence[Any] = (),
        input_key: str | None = None,
        output_key: str | None = None,
        evidence: EvidenceOfTwo | None = None,
    ) -> None:
        super().__init__(guard, on_report, sample=sample, queue_size=queue_size, evidence=evidence)
        self._models: list[LocalModel] = models_of(list(models), guard)
        check_recorded(
            self._models,
            "FranqCallback",
            "leave it out of models= (its answers then come without log-probabilities), or use "
            "guard_chain",
        )
        self._input_key, self._output_key = input_key, output_key
        self._note = NoPassagesNote()
        self._found_for: FoundForTexts[Passage] = FoundForTexts()
        self._roots = Roots(lambda run: self.watches(str(run)))

    @property
    def open_runs(self) -> int:
        """How many root runs have not ended yet."""
        return len(self._roots)

    # Events -----------------------------------------------------------------------------------

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **about: Any,
    ) -> None:
        """A run begins; the first run of a tree is the root."""
        self._begin("on_chain_start", serialized, inputs, run_id, parent_run_id, about)

    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **about: Any,
    ) -> None:
        """A tool is called; what a model inside it writes is kept apart."""
        self._begin("on_tool_start", serialized, input_str, run_id, parent_run_id, about)

    def on_retriever_start(
        self,
        serialized: Any,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **about: Any,
    ) -> None:
        """A search begins."""
        self._begin("on_retriever_start", serialized, query, run_id, parent_run_id, about)

    def on_llm_start(
        self,
        serialized: dict[str, Any] | None,
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **about: Any,
    ) -> None:
        """A model is about to write; its prompts are kept."""
        self._begin("on_llm_start", serialized, prompts, run_id, parent_run_id, about)

    def on_chat_model_start(
        self,
        serialized: dict[str, Any] | None,
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **about: Any,
    ) -> None:
        """A chat model is about to write; its messages are kept."""
        self._begin("on_chat_model_start", serialized, messages, run_id, parent_run_id, about)

    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **_: Any) -> None:
        """Keep the documents."""
        self._end("on_retriever_end", documents, run_id)

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        """Keep what the tool returned."""
        self._end("on_tool_end", output, run_id)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """Keep the text; if the model itself is the root run, it is the answer."""
        self._end("on_llm_end", response, run_id)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, inputs: Any = None, **_: Any) -> None:
        """Keep a step's output; the root's output has the answer."""
        self._end("on_chain_end", outputs, run_id, inputs)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """A failed run is not checked."""
        self._roots.failed(run_id, error)

    on_llm_error = on_chain_error
    on_tool_error = on_chain_error
    on_retriever_error = on_chain_error

    def _begin(
        self,
        event: str,
        serialized: Any,
        given: Any,
        run_id: UUID,
        parent: UUID | None,
        about: dict[str, Any],
    ) -> None:
        root = self._roots.begun(run_id, parent, given)
        if root is not None:
            tell: Callable[..., None] = getattr(root.capture, event)
            tell(serialized, given, run_id=run_id, parent_run_id=parent, **about)

    def _end(self, event: str, outcome: Any, run_id: UUID, inputs: Any = None) -> None:
        root = self._roots.ended(run_id)
        if root is None:
            return
        getattr(root.capture, event)(outcome, run_id=run_id)
        if root.run_id == run_id and event in ("on_chain_end", "on_llm_end") and outcome:
            if inputs is not None:  # a stream's input is not known when its start is reported
                root.given = inputs
            if not self._has_stopped(root, outcome):
                self.offer(lambda: self._job(root, outcome))

    def _has_stopped(self, root: Root, outcome: Any) -> bool:
        """Whether a run ended before its answer: it was interrupted, or its model calls a tool."""
        if isinstance(outcome, LLMResult):
            said: Any = getattr(outcome.generations[0][0], "message", None)
            return bool(getattr(said, "tool_calls", ())) and not said.text.strip()
        # A graph whose last message is the user's may have answered under a key of its own.
        silent = root.capture.answer_run("") is None
        return root.interrupted or (silent and self._is_unanswered(root, outcome))

    def _is_unanswered(self, root: Root, output: Any) -> bool:
        return has_stopped(output, root.given, self._output_key, root.capture.wrote)

    # In the thread of the checks --------------------------------------------------------------

    def _job(self, root: Root, outcome: Any) -> Job | None:
        output = text_in(outcome) if isinstance(outcome, LLMResult) else outcome
        jobs = [self._gathered(root, output, text) for text in self._answers(root, output)]
        if len(jobs) < 2:
            return jobs[0] if jobs else None
        traces = tuple(trace for job in jobs for trace in job.traces)
        glue = ("", *["\n"] * (len(jobs) - 1))
        failure = next((job.failure for job in jobs if job.failure), "")
        return Job(jobs[0].guard, traces, glue, failure=failure, unobserved=unobserved)

    def _answers(self, root: Root, output: Any) -> list[str]:
        """The answer; if it is structured or not in its usual place, all of a model's texts.

        There is none where a graph has stopped before its answer.
        """
        made = output.get(_STRUCTURED) if isinstance(output, Mapping) else None
        if made is not None and self._output_key in (None, _STRUCTURED):
            return _texts_of_models(root, made)
        if self._is_unanswered(root, output):
            return _texts_beside_messages(root, output)
        try:
            found = locate(output, self._output_key)
        except KeyError:
            found = locate(output, fields=(ALL,))
        return _texts_of_models(root, output) if found.fields else [found.text]

    def _gathered(self, root: Root, output: Any, answer: str) -> Job:
        return gathered(
            lambda: self._gather(root, output, answer),
            self._guard,
            answer,
            id=str(root.run_id),
            unobserved=unobserved,
        )

    def _gather(self, root: Root, output: Any, answer: str) -> Job:
        capture, given = root.capture, root.given
        passages = (
            capture.evidence(output, given, answer, known=self._found_for.found)
            if self._evidence is None
            else chosen_passages(self._evidence, given, output)
        )
        for text in capture.tool_texts_by_models():
            self._found_for.note(text, passages)
        return job_of(
            self._guard,
            self._models,
            capture,
            question=question_of(given, self._input_key) or capture.asked(answer),
            answer=answer,
            passages=passages,
            note=self._note,
            id=str(root.run_id),
            also_seen=seen_in_tools(messages_in(given, output), self._found_for.found),
        )


def _texts_of_models(root: Root, output: Any) -> list[str]:
    """The texts in an output that models of the run wrote, or that were made from these."""
    wrote = {text.strip() for text in root.capture.texts}
    found = [(path, text) for path, text in texts_in(output) if text.strip()]
    texts = [text for _, text in found if text.strip() in wrote]
    if not texts and root.capture.answer_run("") is not None:  # in the JSON of a tool call, say
        known = given_texts(root.given)
        made = [text for path, text in found if text not in known and not is_passage(path)]
        texts = [text for text in made if is_prose(text)]
    if not texts:
        raise LookupError("the run ended without an answer: name its key with output_key=")
    return list(dict.fromkeys(texts))


def _texts_beside_messages(root: Root, output: Mapping[str, Any]) -> list[str]:
    """The texts that models of the run wrote under keys of the graph's own.

    Its messages hold no new text, but those of earlier turns.
    """
    others = {key: value for key, value in output.items() if key != "messages"}
    known, called = given_texts(root.given), {text.strip() for text in root.capture.arguments}
    found = [*texts_to_check(others, NO_ANSWER, root.given, root.capture)]
    for path, text in texts_in(others):  # in the JSON of a tool call
        made = text.strip() in called and text not in known and not is_passage(path)
        if made and is_prose(text):
            found.append(text)
    return list(dict.fromkeys(found))
