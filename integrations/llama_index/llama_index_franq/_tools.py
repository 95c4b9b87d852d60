"""What the tools of an agent's run brought to light."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from llama_index.core.agent.workflow import ToolCallResult
from llama_index.core.schema import NodeWithScore, TextNode

from franq_guard.capture.outlet import REPORT_KEY

_HANDOFF = "handoff"


def nodes_in(calls: Iterable[ToolCallResult]) -> list[NodeWithScore]:
    """The evidence in tool results, each node once: nodes where there are any, else the text."""
    found: dict[str, NodeWithScore] = {}
    for call in calls:
        if call.tool_name != _HANDOFF and not call.tool_output.is_error:
            for node in _nodes_of(call):
                found.setdefault(node.node.node_id, node)
    return list(found.values())


def _nodes_of(call: ToolCallResult) -> list[NodeWithScore]:
    raw = call.tool_output.raw_output
    nodes = getattr(raw, "source_nodes", None) or (raw if isinstance(raw, (list, tuple)) else ())
    kept = [node for node in nodes if isinstance(node, NodeWithScore)]
    if kept:
        return kept
    text = call.tool_output.content
    name = {"title": call.tool_name}
    return [NodeWithScore(node=TextNode(text=text, id_=call.tool_id, metadata=name))]


def is_handoff(text: str, calls: Sequence[ToolCallResult]) -> bool:
    """Whether ``text`` only says that another agent goes on."""
    return any(call.tool_name == _HANDOFF and call.tool_output.content == text for call in calls)


def report_in(raw: Any) -> Any:
    """The report of a guarded engine's response, None where there is none."""
    return (getattr(raw, "metadata", None) or {}).get(REPORT_KEY)
