"""FranqMiddleware: the answers of a LangChain agent, checked before anyone sees a token of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage
from langchain_core.runnables import RunnableBinding

from franq_guard.capture.job import Job, gathered
from franq_guard.capture.local import LocalModel
from franq_guard.capture.outlet import StreamMode, only_buffered
from franq_guard.records import Label
from franq_guard.streaming.release import OnReport, Release
from langchain_franq._capture import ModelRun
from langchain_franq._evidence import documents_of_turn
from langchain_franq._job import job_from
from langchain_franq._models import models_of
from langchain_franq._quiet import NO_STREAM, unobserved
from langchain_franq._shapes import STREAM_A_CHAIN, question_of, with_text
from langchain_franq._written import written

if TYPE_CHECKING:
    from franq_guard import Guard


class FranqMiddleware(AgentMiddleware[Any, Any, Any]):
    """Checks what the model of ``create_agent`` says, before it enters the state or any stream.

    Put it first: the first middleware is the outermost and sees the final text. It keeps nothing
    between calls, so one may serve any number of agents. Each AI message with text is checked (its
    tool calls are left alone), replaced under its own id, and carries the report in
    ``response_metadata["franq"]``. Tokens are hidden from ``stream`` in every mode; tracers and
    ``astream_events`` observe the model itself and still see the raw text at its end.

    Args:
        guard: the guard.
        evidence: from the messages so far to the documents an answer rests on; default: the
            Documents in the artifacts of the current turn's tool messages, or the tools' text.
        stream: ``buffer`` alone: an answer enters the agent's state as a whole.
        on_report: called with each checked answer.
        raise_on: labels that raise :class:`~langchain_franq.FactualityError` instead of passing.

    Raises:
        ValueError: for another ``stream`` mode.

    Raises (in a run):
        TypeError: for a model whose tokens cannot be hidden.
        ValueError: for an agent with a ``response_format``: a structured answer has no text in
            which claims could be marked, and does not pass unchecked.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        evidence: Callable[[Sequence[BaseMessage]], Sequence[Document]] = documents_of_turn,
        stream: StreamMode = "buffer",
        on_report: OnReport | None = None,
        raise_on: Collection[Label] = (),
    ) -> None:
        only_buffered("FranqMiddleware", stream, instead=STREAM_A_CHAIN)
        super().__init__()
        self._guard = guard
        self._evidence = evidence
        self._release = Release(on_report, raise_on)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Call the model out of sight, check what it said."""
        hidden, models = self._hidden(request)
        response = handler(hidden)
        result = [
            self._replaced(message, job, job.check()) if job is not None else message
            for message, job in self._jobs(request, response, models)
        ]
        return replace(response, result=result)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """:meth:`wrap_model_call` with the check in a thread."""
        hidden, models = self._hidden(request)
        response = await handler(hidden)
        result = [
            self._replaced(message, job, await job.acheck()) if job is not None else message
            for message, job in self._jobs(request, response, models)
        ]
        return replace(response, result=result)

    def _hidden(self, request: ModelRequest[Any]) -> tuple[ModelRequest[Any], list[LocalModel]]:
        if request.response_format is not None:
            raise ValueError(
                "FranqMiddleware checks text; remove response_format from the agent, or check the "
                "structured answer yourself with Guard.check"
            )
        return request.override(model=out_of_sight(request.model)), models_of(
            request.model, self._guard
        )

    def _jobs(
        self, request: ModelRequest[Any], response: ModelResponse[Any], models: list[LocalModel]
    ) -> list[tuple[BaseMessage, Job | None]]:
        return [
            (m, self._job(request, m, models) if isinstance(m, AIMessage) and m.text else None)
            for m in response.result
        ]

    def _job(self, request: ModelRequest[Any], message: AIMessage, models: list[LocalModel]) -> Job:
        return gathered(
            lambda: self._gather(request, message, models),
            self._guard,
            str(message.text),
            id=message.id,
            unobserved=unobserved,
        )

    def _gather(
        self, request: ModelRequest[Any], message: AIMessage, models: list[LocalModel]
    ) -> Job:
        answer = str(message.text)
        system = [request.system_message] if request.system_message else []
        asked: list[AnyMessage] = [*system, *request.messages]
        kind = type(request.model).__name__
        run = ModelRun(kind, messages=asked, text=answer, info=message.response_metadata)
        found = written(self._guard, models, run, answer)
        documents = self._evidence(request.messages)
        return job_from(found, question_of(request.messages), documents, id=message.id)

    def _replaced(self, message: BaseMessage, job: Job, checked: Any) -> BaseMessage:
        answer = self._release(checked)
        return with_text(message, job.lead + answer.text, answer.to_dict())


def out_of_sight(model: Any) -> Any:
    """A copy of a chat model whose tokens enter no stream.

    A copy, because tags given by ``with_config`` are lost when the agent binds its tools.

    Raises:
        TypeError: for anything but a chat model or a binding of one.
    """
    if isinstance(model, BaseChatModel):
        tags = [*(model.tags or []), NO_STREAM]
        return model.model_copy(update={"tags": tags, "disable_streaming": True})
    if isinstance(model, RunnableBinding):
        return model.model_copy(update={"bound": out_of_sight(model.bound)})
    raise TypeError(
        f"FranqMiddleware cannot hide the tokens of a {type(model).__name__}: give create_agent a "
        "chat model itself"
    )
