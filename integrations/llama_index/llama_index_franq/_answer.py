"""The answer in what an engine, chat engine or workflow returned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.agent.workflow import AgentOutput, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.schema import NodeWithScore
from llama_index.core.workflow import StopEvent

from franq_guard import Claim
from franq_guard.capture.outlet import REPORT_KEY
from llama_index_franq._structured import Fields
from llama_index_franq._written import text_of


@dataclass(frozen=True)
class Answer:
    """An answer: its ``text`` (None: no answer), nodes, and claims if it is not prose.

    ``guarded``: a guard has checked it already. ``calls``: of an agent's tools; None: it
    is no agent's.
    """

    text: str | None
    nodes: Sequence[NodeWithScore] = ()
    claims: Sequence[Claim] | None = None
    guarded: bool = False
    response: Any = None
    calls: Sequence[ToolCallResult] | None = None

    def says(self, text: str | None) -> bool:
        """Whether it is this text; blanks around it do not count."""
        return self.text is not None and text is not None and self.text.strip() == text.strip()


def result_in(result: Any) -> Any:
    """What a workflow returned: the content of a plain StopEvent, else ``result`` itself."""
    return result.result if type(result) is StopEvent else result


def answer_in(result: Any, pieces: list[Any] | None) -> Answer:
    """The answer in ``result``; ``pieces`` are the chunks of a stream."""
    result = result_in(result)
    if isinstance(result, AgentOutput):
        return _of_agent(result)
    if (text := text_of(result)) is not None:
        return Answer(text, guarded=_is_guarded(result), response=result)
    nodes = list(getattr(result, "source_nodes", None) or ())
    found = _answer_in(result, pieces)
    guarded = REPORT_KEY in (getattr(result, "metadata", None) or {}) or _is_guarded(found)
    if (text := text_of(found)) is not None:
        return Answer(text, nodes, None, guarded, result)
    if isinstance(found, BaseModel) or (isinstance(found, list) and found):
        fields = Fields(found)
        return Answer(fields.text, nodes, fields.claims, guarded, result)
    return Answer(None, nodes, None, guarded, result)


def _answer_in(result: Any, pieces: list[Any] | None) -> Any:
    if pieces is None:
        return getattr(result, "response", None) or getattr(result, "response_txt", None)
    if all(isinstance(piece, (str, ChatResponse)) for piece in pieces):
        return "".join(p if isinstance(p, str) else p.delta or "" for p in pieces)
    return pieces[-1]


def _of_agent(output: AgentOutput) -> Answer:
    calls = [call for call in output.tool_calls if isinstance(call, ToolCallResult)]
    guarded = _is_guarded(output.response)
    return Answer(output.response.content or "", (), None, guarded, output, calls)


def _is_guarded(found: Any) -> bool:
    """Whether a message, or the message of a response, has a guard's report."""
    message = found.message if isinstance(found, ChatResponse) else found
    return isinstance(message, ChatMessage) and REPORT_KEY in message.additional_kwargs
