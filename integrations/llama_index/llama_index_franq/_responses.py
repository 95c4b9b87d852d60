"""The answer in each kind of LlamaIndex response, checked and put back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)

from franq_guard.capture.outlet import REPORT_KEY
from llama_index_franq._call import Call, Checked
from llama_index_franq._objects import areleased_text_or_object, released_text_or_object
from llama_index_franq._structured import Fields, keeps


def guarded(call: Call, response: RESPONSE_TYPE) -> RESPONSE_TYPE:
    """``response`` with its answer checked; a stream's is checked when it is read.

    Raises:
        TypeError: for a response of another kind: what cannot be read is not let through.
    """
    if isinstance(response, Response):
        return _answered(response, call.check(response.response or "", response.source_nodes))
    if isinstance(response, PydanticResponse):
        fields = Fields(response.response)
        checked = call.check(fields.text, response.source_nodes, fields.claims)
        return _structured(call, response, checked)
    return _stream(call, response)


async def aguarded(call: Call, response: RESPONSE_TYPE) -> RESPONSE_TYPE:
    """:func:`guarded`, with the check in a thread."""
    if isinstance(response, Response):
        text = response.response or ""
        return _answered(response, await call.acheck(text, response.source_nodes))
    if isinstance(response, PydanticResponse):
        fields = Fields(response.response)
        checked = await call.acheck(fields.text, response.source_nodes, fields.claims)
        return _structured(call, response, checked)
    return _stream(call, response)


def _answered(response: Response, checked: Checked) -> Response:
    metadata = {**(response.metadata or {}), REPORT_KEY: checked.report}
    return replace(response, response=checked.text, metadata=metadata)


def _structured(call: Call, response: PydanticResponse, checked: Checked) -> PydanticResponse:
    """The object stays, or goes as a whole."""
    keep = keeps(call.watch.guard.policy, checked.answer)
    metadata = {**(response.metadata or {}), REPORT_KEY: checked.report}
    return PydanticResponse(
        response.response if keep else None, source_nodes=response.source_nodes, metadata=metadata
    )


def _stream(call: Call, response: Any) -> StreamingResponse | AsyncStreamingResponse:
    """A stream of what may leave; its report is filled when it ends."""
    report: dict[str, Any] = {}
    metadata = {**(getattr(response, "metadata", None) or {}), REPORT_KEY: report}
    if isinstance(response, StreamingResponse):
        nodes = response.source_nodes
        left = released_text_or_object(
            call, _chunks(response), nodes, lambda c: report.update(c.report)
        )
        return StreamingResponse(left, source_nodes=nodes, metadata=metadata)
    if isinstance(response, AsyncStreamingResponse):

        async def done(checked: Checked) -> None:
            report.update(checked.report)

        nodes = response.source_nodes
        # Its own async_response_gen() adds the chunks up as text, which objects are not.
        unread = response.response_txt is None
        chunks = response.response_gen if unread else response.async_response_gen()
        aleft = areleased_text_or_object(call, chunks, nodes, done)
        return AsyncStreamingResponse(aleft, source_nodes=nodes, metadata=metadata)
    raise TypeError(
        f"the engine returned {type(response).__name__}: a guarded engine must return a Response, "
        "StreamingResponse, AsyncStreamingResponse or PydanticResponse"
    )


def _chunks(response: StreamingResponse) -> Iterable[Any]:
    """What is left to read; the text of a stream that the engine has read itself."""
    return response.response_gen if response.response_txt is None else [response.response_txt]
