"""The answer in each kind of LlamaIndex response, checked and put back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
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
from llama_index_franq._beside import Beside
from llama_index_franq._call import Call, Checked
from llama_index_franq._objects import areleased_text_or_object, released_text_or_object
from llama_index_franq._structured import Fields, keeps


def guarded(call: Call, response: RESPONSE_TYPE) -> RESPONSE_TYPE:
    """``response`` with its answer checked; a stream's is checked when it is read.

    Sub-answers and the like in ``metadata`` and ``source_nodes`` are settled by
    :class:`~llama_index_franq._beside.Beside`.

    Raises:
        TypeError: for a response of another kind: what cannot be read is not let through.
    """
    call.response = response
    if isinstance(response, Response):
        checked = call.check(response.response or "", response.source_nodes)
        return _answered(call, response, checked)
    if isinstance(response, PydanticResponse):
        fields = Fields(response.response)
        checked = call.check(fields.text, response.source_nodes, fields.claims)
        return _structured(call, response, checked)
    return _stream(call, response)


async def aguarded(call: Call, response: RESPONSE_TYPE) -> RESPONSE_TYPE:
    """:func:`guarded`, with the check in a thread."""
    call.response = response
    if isinstance(response, Response):
        checked = await call.acheck(response.response or "", response.source_nodes)
        return await asyncio.to_thread(_answered, call, response, checked)
    if isinstance(response, PydanticResponse):
        fields = Fields(response.response)
        checked = await call.acheck(fields.text, response.source_nodes, fields.claims)
        return await asyncio.to_thread(_structured, call, response, checked)
    return await asyncio.to_thread(_stream, call, response)


def _answered(call: Call, response: Response, checked: Checked) -> Response:
    nodes = response.source_nodes
    beside = Beside(call, nodes, response.response or "", checked.text)
    return replace(
        response,
        response=checked.text,
        source_nodes=beside.nodes(nodes),
        metadata=_metadata(beside, response, checked.report),
    )


def _structured(call: Call, response: PydanticResponse, checked: Checked) -> PydanticResponse:
    """The object stays, or goes as a whole."""
    keep = keeps(call.watch.guard.policy, checked.answer)
    beside = Beside(call, response.source_nodes)
    return PydanticResponse(
        response.response if keep else None,
        source_nodes=beside.nodes(response.source_nodes),
        metadata=_metadata(beside, response, checked.report),
    )


def _metadata(beside: Beside, response: Any, report: Mapping[str, Any]) -> dict[str, Any]:
    settled = beside.metadata(response.metadata)
    return {**settled, REPORT_KEY: beside.report(report)}


def _stream(call: Call, response: Any) -> StreamingResponse | AsyncStreamingResponse:
    """A stream of what may leave; its report is filled when it ends."""
    if not isinstance(response, (StreamingResponse, AsyncStreamingResponse)):
        raise TypeError(
            f"the engine returned {type(response).__name__}: a guarded engine must return a "
            "Response, StreamingResponse, AsyncStreamingResponse or PydanticResponse"
        )
    report: dict[str, Any] = {}
    nodes = response.source_nodes
    beside = Beside(call, nodes)
    settled = beside.nodes(nodes)
    metadata = {**beside.metadata(response.metadata), REPORT_KEY: report}

    def done(checked: Checked) -> None:
        report.update(beside.report(checked.report))

    async def adone(checked: Checked) -> None:
        done(checked)

    if isinstance(response, StreamingResponse):
        left = released_text_or_object(call, _chunks(response), nodes, done)
        return StreamingResponse(left, source_nodes=settled, metadata=metadata)
    # Its own async_response_gen() adds the chunks up as text, which objects are not.
    unread = response.response_txt is None
    chunks = response.response_gen if unread else response.async_response_gen()
    aleft = areleased_text_or_object(call, chunks, nodes, adone)
    return AsyncStreamingResponse(aleft, source_nodes=settled, metadata=metadata)


def _chunks(response: StreamingResponse) -> Iterable[Any]:
    """What is left to read; the text of a stream that the engine has read itself."""
    return response.response_gen if response.response_txt is None else [response.response_txt]
