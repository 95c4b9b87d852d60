"""The answer in each kind of LlamaIndex response, checked and put back."""

from __future__ import annotations

import asyncio
import json
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
from llama_index_franq._fields import json_in
from llama_index_franq._objects import areleased_text_or_object, released_text_or_object


def guarded(call: Call, response: RESPONSE_TYPE) -> RESPONSE_TYPE:
    """``response`` with its answer checked; a stream's answer is checked when it is read.

    Sub-answers and similar text in ``metadata`` and ``source_nodes`` are handled by
    :class:`~llama_index_franq._beside.Beside`.

    Raises:
        TypeError: for a response of another type, because nothing may be returned unchecked.
    """
    call.response = response
    found = _object(call, response)
    nodes = getattr(response, "source_nodes", [])
    if found is not None:
        return _structured(call, response, *call.check_object(found, nodes))
    if isinstance(response, Response):
        return _answered(call, response, call.check(response.response or "", nodes))
    return _stream(call, response)


async def aguarded(call: Call, response: RESPONSE_TYPE) -> RESPONSE_TYPE:
    """:func:`guarded`, with the check in a thread."""
    call.response = response
    found = _object(call, response)
    nodes = getattr(response, "source_nodes", [])
    if found is not None:
        checked, left = await call.acheck_object(found, nodes)
        return await asyncio.to_thread(_structured, call, response, checked, left)
    if isinstance(response, Response):
        checked = await call.acheck(response.response or "", nodes)
        return await asyncio.to_thread(_answered, call, response, checked)
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


def _object(call: Call, response: Any) -> Any:
    """A structured answer: from a PydanticResponse, or from JSON text if ``fields=`` is given."""
    if isinstance(response, PydanticResponse):
        return {} if response.response is None else response.response
    answer: Any = response.response if isinstance(response, Response) else None
    if isinstance(answer, str) or answer is None:
        return json_in(answer) if answer and call.watch.fields else None
    return answer  # the engine of a StructuredLLM has the object in place of the text


def _structured(call: Call, response: Any, checked: Checked, left: Any) -> RESPONSE_TYPE:
    """The response with the checked object."""
    beside = Beside(call, response.source_nodes)
    nodes = beside.nodes(response.source_nodes)
    metadata = _metadata(beside, response, checked.report)
    if isinstance(response, Response):
        was_text = isinstance(response.response, str)
        text: Any = json.dumps(left, ensure_ascii=False) if left and was_text else left
        return replace(response, response=text, source_nodes=nodes, metadata=metadata)
    kept = None if response.response is None else left
    return PydanticResponse(kept, source_nodes=nodes, metadata=metadata)


def _metadata(beside: Beside, response: Any, report: Mapping[str, Any]) -> dict[str, Any]:
    settled = beside.metadata(response.metadata)
    return {**settled, REPORT_KEY: beside.report(report)}


def _stream(call: Call, response: Any) -> StreamingResponse | AsyncStreamingResponse:
    """A stream of what can be released; its report is filled when it ends."""
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
    # Not by its own async_response_gen(), which joins the chunks as text; they may be objects.
    unread = response.response_txt is None
    chunks = response.response_gen if unread else response.async_response_gen()
    aleft = areleased_text_or_object(call, chunks, nodes, adone)
    return AsyncStreamingResponse(aleft, source_nodes=settled, metadata=metadata)


def _chunks(response: StreamingResponse) -> Iterable[Any]:
    """The chunks left to read, or the text if the engine has read its stream itself."""
    return response.response_gen if response.response_txt is None else [response.response_txt]
