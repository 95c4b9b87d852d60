"""FranqMiddleware: checks the answers of a LangChain agent before any of their text is shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import (
    AgentMiddleware,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, SystemMessage, ToolMessage

from franq_guard import GuardedAnswer, Passage
from franq_guard.capture.evidence import (
    EvidenceOfOne,
    NoPassagesNote,
    check_evidence,
    chosen_passages,
    passages_of,
    usual_passages,
)
from franq_guard.capture.fields import is_named
from franq_guard.capture.job import Job, acheck_together, check_together, gathered
from franq_guard.capture.local import LocalModel
from franq_guard.capture.outlet import Labels, StreamMode, check_guard, only_buffered
from franq_guard.streaming.release import OnReport, Release
from langchain_franq._capture import Capture
from langchain_franq._construction import NoFieldsNote
from langchain_franq._direct import ToolResult, quiet
from langchain_franq._find import models_of
from langchain_franq._job import job_from, job_of
from langchain_franq._messages import text_of, with_text
from langchain_franq._model_run import ModelRun
from langchain_franq._quiet import running_out_of_sight, unobserved, words_out_of_sight
from langchain_franq._rewritten import is_json, rewritten
from langchain_franq._shapes import STREAM_A_CHAIN, question_of
from langchain_franq._texts import mapped, texts_in
from langchain_franq._turns import messages_in, passages_of_turns, seen_in_tools, with_earlier
from langchain_franq._written import written

if TYPE_CHECKING:
    from franq_guard import Guard

_LONG_ADDITION = 80  # characters; a dynamic prompt that adds this much may contain passages


class FranqMiddleware(AgentMiddleware[Any, Any, Any]):
    """Checks what the model of ``create_agent`` writes, before it enters the state or any stream.

    Put it first: the first middleware is the outermost and sees the final text, and what prompts
    and other middleware inside it do. It keeps nothing of a call, so one may serve any number of
    agents. Each AI message with text is checked (its tool calls are left alone), replaced under its
    own id, and carries the report in ``response_metadata["franq"]``. So is what a tool with
    ``return_direct`` says, which is the agent's answer, and what a model inside a tool wrote, also
    into the state by a ``Command``: that is no evidence for the agent's answer, but the documents
    are that the tool found (its message's ``artifact`` where it has none). Whatever model is called
    inside (also by ``ModelFallbackMiddleware``, or in a tool) is hidden from ``stream`` in every
    mode and from ``astream_events``; tracers observe the model itself and see its raw text.
    Middleware that calls a model in a step of its own (``SummarizationMiddleware``) is not inside:
    see the README.

    Args:
        guard: the guard.
        evidence: a key or dotted path of the agent's state, or a function from the messages so far
            to the passages an answer rests on. Default, the first with any: what the current turn's
            tools found together with what was retrieved for the prompt; a usual key of the state
            (``context``, ``documents`` ...); what tools of earlier turns found; what a dynamic
            prompt added to the system message. Where tools only said that something was done (short
            texts without a number, as of a handoff, or with a word such as "created"), what comes
            next in this order counts, too.
        fields: of an agent with a ``response_format``: the text fields of its structured answer to
            check separately: dotted paths (which include all items of lists), or ``("*",)``.
        stream: only ``buffer``, because an answer enters the agent's state as a whole.
        on_report: called with each checked answer.
        raise_on: labels that raise :class:`~langchain_franq.FactualityError`.

    Raises:
        TypeError: if ``guard`` is not a guard.
        ValueError: for another ``stream`` mode.

    Raises (in a run, before the model is called):
        ValueError: for an agent with a ``response_format`` and no ``fields``.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        evidence: EvidenceOfOne | None = None,
        fields: Collection[str] = (),
        stream: StreamMode = "buffer",
        on_report: OnReport | None = None,
        raise_on: Labels = (),
    ) -> None:
        check_guard("FranqMiddleware", guard)
        check_evidence(evidence)
        only_buffered("FranqMiddleware", stream, instead=STREAM_A_CHAIN)
        super().__init__()
        self._guard, self._evidence, self._fields = guard, evidence, tuple(fields)
        self._release = Release(on_report, raise_on)
        self._note = NoPassagesNote()
        self._no_fields = NoFieldsNote()

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Call the model hidden from streams, and check what it wrote."""
        call = self._call(request)
        with running_out_of_sight(call.capture):
            response = handler(request)
        result = _ModelResult(self, call, response)
        return result.delivered(check_together(result.jobs))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """:meth:`wrap_model_call` with the check in a thread."""
        call = self._call(request)
        with running_out_of_sight(call.capture):
            response = await handler(request)
        result = _ModelResult(self, call, response)
        return result.delivered(await acheck_together(result.jobs))

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]
    ) -> Any:
        """Call a tool, hidden from streams; check its result if a model wrote it or it answers."""
        result = ToolResult(request, self.tool_job, self._release)
        with running_out_of_sight(result.capture, words_out_of_sight):
            returned = handler(quiet(request, result.capture))
        return result.delivered(returned, check_together(result.jobs(returned)))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        """:meth:`wrap_tool_call` with the check in a thread."""
        result = ToolResult(request, self.tool_job, self._release)
        with running_out_of_sight(result.capture, words_out_of_sight):
            returned = await handler(quiet(request, result.capture))
        jobs = result.jobs(returned)
        return result.delivered(returned, await acheck_together(jobs) if jobs else [])

    def _call(self, request: ModelRequest[Any]) -> _Call:
        """Prepare a call of the model: attach a recorder if it is a local model."""
        if request.response_format is not None and not self._fields:
            raise ValueError(
                "FranqMiddleware checks text: name the text fields of the structured answer, "
                "FranqMiddleware(guard, fields=('summary',)), or remove response_format from the "
                "agent: guard the text before a parser makes an object of it"
            )
        return _Call(request, Capture(), models_of(request.model, self._guard))

    def job(self, call: _Call, text: str, message: BaseMessage) -> Job:
        """What was captured about a text of the model's message."""
        return gathered(
            lambda: self._gather(call, text, message),
            self._guard,
            text,
            id=message.id,
            unobserved=unobserved,
        )

    def _gather(self, call: _Call, text: str, message: BaseMessage) -> Job:
        run = call.capture.answer_run(text) or _as_asked(call.request, message)
        found = written(self._guard, call.models, run, text)
        passages = self._passages(call.request, run, call.capture)
        self._note(found.generation.prompt, passages)
        messages = call.request.messages
        seen = seen_in_tools(messages)
        asked = question_of(messages)
        return job_from(found, asked, passages, call.capture, id=message.id, also_seen=seen)

    def _passages(
        self, request: ModelRequest[Any], run: ModelRun, capture: Capture
    ) -> list[Passage]:
        if callable(self._evidence):
            return passages_of(self._evidence(request.messages))
        if self._evidence is not None:
            return chosen_passages(self._evidence, request.state)
        but_tools = [
            message for message in request.messages if not isinstance(message, ToolMessage)
        ]
        now, before = passages_of_turns(request.messages)
        return with_earlier(
            passages_of([now, capture.evidence(given=but_tools)]),
            lambda: (
                usual_passages(request.state)
                or before
                or passages_of(_added_to_the_prompt(request, run))
            ),
        )

    def tool_job(self, result: ToolResult, text: str, id: str | None) -> Job:
        """What is known of a text that a tool returned; ``id`` is that of its message."""
        request, messages = result.request, messages_in(result.request.state)

        def gather() -> Job:
            return job_of(
                self._guard,
                models_of(request.tool, self._guard),
                result.capture,
                question=question_of(messages),
                answer=text,
                passages=self._passages_of_tool(result, text),
                note=self._note,
                id=id,
            )

        return gathered(gather, self._guard, text, id=id, unobserved=unobserved)

    def _passages_of_tool(self, result: ToolResult, text: str) -> list[Passage]:
        request = result.request
        if callable(self._evidence):
            return passages_of(self._evidence(messages_in(request.state)))
        if self._evidence is not None:
            return chosen_passages(self._evidence, request.state)
        return result.capture.evidence(result.stored, request.state, text)

    def named_texts(self, structured: Any) -> list[str]:
        """The texts of a structured answer that are to be checked."""
        found = [(path, text) for path, text in texts_in(structured) if text.strip()]
        named = [text for path, text in found if is_named(path, self._fields)]
        if not named:
            self._no_fields(self._fields)
        return named

    @property
    def release(self) -> Release:
        """What happens to a checked answer."""
        return self._release


@dataclass(frozen=True)
class _Call:
    """One call of the model: the request, what is captured, and its local models."""

    request: ModelRequest[Any]
    capture: Capture
    models: Sequence[LocalModel]


@dataclass(frozen=True)
class _Text:
    """A text to check, in the message at ``index`` of a response or in the structured answer."""

    index: int | None
    text: str
    job: Job


class _ModelResult:
    """What one call of the model returned: its texts, their jobs, and the checked response."""

    def __init__(
        self,
        middleware: FranqMiddleware,
        call: _Call,
        response: ModelResponse[Any],
    ) -> None:
        self._middleware, self._response = middleware, response
        structured = response.structured_response
        last = next((m for m in reversed(response.result) if isinstance(m, AIMessage)), None)
        self._texts = [
            _Text(i, text_of(m), middleware.job(call, text_of(m), m))
            for i, m in enumerate(response.result)
            if isinstance(m, AIMessage)
            and text_of(m).strip()
            and not (structured is not None and is_json(str(m.text)))
        ]
        if structured is not None and last is not None:
            named = middleware.named_texts(structured)
            self._texts += [_Text(None, text, middleware.job(call, text, last)) for text in named]

    @property
    def jobs(self) -> list[Job]:
        """The jobs of all texts."""
        return [text.job for text in self._texts]

    def delivered(self, answers: Sequence[GuardedAnswer]) -> ModelResponse[Any]:
        """The response with the checked texts; raises what the release does."""
        passed = [self._middleware.release(answer) for answer in answers]
        result = list(self._response.result)
        fields: dict[str, GuardedAnswer] = {}
        for text, answer in zip(self._texts, passed, strict=True):
            if text.index is None:
                fields[text.text] = answer
            else:
                checked_text = text.job.lead + answer.text
                result[text.index] = with_text(result[text.index], checked_text, answer.to_dict())
        silent = {i for i, m in enumerate(result) if isinstance(m, AIMessage)}
        for i in silent - {text.index for text in self._texts}:
            result[i] = with_text(result[i], text_of(result[i]), None)
        response = replace(self._response, result=result)
        return _structured(response, fields) if fields else response


def _structured(
    response: ModelResponse[Any], fields: dict[str, GuardedAnswer]
) -> ModelResponse[Any]:
    """``response`` with the checked fields in every place that has the structured answer."""
    texts = {raw: answer.text for raw, answer in fields.items()}
    report = {raw: answer.to_dict() for raw, answer in fields.items()}
    return replace(
        response,
        result=[rewritten(message, texts, report) for message in response.result],
        structured_response=mapped(
            response.structured_response, lambda _, text: texts.get(text, text)
        ),
    )


def _as_asked(request: ModelRequest[Any], message: BaseMessage) -> ModelRun:
    """The model's run, made from the request, if no run was observed."""
    system = [request.system_message] if request.system_message else []
    asked: list[AnyMessage] = [*system, *request.messages]
    kind = type(request.model).__name__
    info = message.response_metadata
    return ModelRun(kind, messages=asked, text=text_of(message), info=info, ended=True)


def _added_to_the_prompt(request: ModelRequest[Any], run: ModelRun) -> str:
    """The text that prompts inside this middleware added to the system message."""
    system = "\n".join(str(m.text) for m in run.messages or () if isinstance(m, SystemMessage))
    known = str(request.system_message.text) if request.system_message else ""
    added = system.replace(known, "", 1).strip() if known else system.strip()
    return added if len(added) >= _LONG_ADDITION else ""
