"""Finds the evidence of a watched agent: what its tools found, not what models in them wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from llama_index.core.agent.workflow import ToolCallResult
from llama_index.core.schema import MetadataMode, NodeWithScore

from franq_guard.capture.watching import FoundForTexts
from llama_index_franq._beside import wrote_in_tool
from llama_index_franq._call import Call
from llama_index_franq._capture import Capture
from llama_index_franq._tools import (
    call_key,
    distinct,
    failed,
    found_inside,
    nodes_in,
    only_notices,
    remembered,
)


class WatchedTools:
    """Finds the evidence of agents' answers; only the thread of the checks uses it.

    It remembers what tools found in the runs it was asked about, for answers of later turns.
    """

    def __init__(self) -> None:
        self._found_for: FoundForTexts[NodeWithScore] = FoundForTexts()

    def evidence(
        self, call: Call, results: Sequence[ToolCallResult], ran: Mapping[str, Capture], answer: str
    ) -> list[NodeWithScore]:
        """What the tools of this turn found; if nothing or notices alone, also of earlier turns.

        Args:
            call: of the agent.
            results: of its tools.
            ran: what ran in each of them, by the key of the tool call.
            answer: of the agent.
        """
        found: dict[str, list[NodeWithScore]] = {}
        for result in results:
            nodes = self._inside(call, result, ran.get(call_key(result)))
            if nodes is not None:
                found[call_key(result)] = nodes
        nodes = nodes_in(results, found)
        if only_notices(nodes):
            nodes = distinct([*nodes, *self._earlier(call, results, answer)])
        return nodes

    def _inside(
        self, call: Call, result: ToolCallResult, capture: Capture | None
    ) -> list[NodeWithScore] | None:
        if failed(result):
            self._found_for.note(result.tool_output.content, ())  # it may repeat the model's words
            return None
        if capture is None:
            return None
        by_a_model = wrote_in_tool(replace(call, capture=capture), result.tool_output)
        nodes = found_inside(result, capture, by_a_model=by_a_model)
        if by_a_model:
            evidence = nodes_in([result]) if nodes is None else nodes
            self._found_for.note(result.tool_output.content, evidence)
        return nodes

    def _earlier(
        self, call: Call, results: Sequence[ToolCallResult], answer: str
    ) -> list[NodeWithScore]:
        """The results of tools of earlier turns, read from the messages to the model."""
        run = call.capture.answer_run(answer)
        now = {result.tool_output.content for result in results}
        nodes: list[NodeWithScore] = []
        for node in remembered((run and run.messages) or (), now):
            behind = self._found_for.found(node.node.get_content(metadata_mode=MetadataMode.NONE))
            nodes += [node] if behind is None else behind
        return nodes
