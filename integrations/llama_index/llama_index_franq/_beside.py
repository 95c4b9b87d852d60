"""Checks the text that is returned with an answer: sub-answers, drafts, reasoning, raw tokens.

Engines put a model's intermediate texts into ``metadata``, ``source_nodes`` and ``sources``. A text
that is recognised as an answer is checked like one, against the nodes in its own prompt; other text
of a model is withheld. Documents are not changed.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from operator import is_
from typing import Any

from llama_index.core.base.llms.types import ThinkingBlock
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore
from llama_index.core.tools import ToolOutput

from franq_guard.capture.marked import FEWEST_WORDS
from franq_guard.capture.outlet import REPORT_KEY
from llama_index_franq._call import WITHHELD, Call
from llama_index_franq._capture import ModelRun, node_key
from llama_index_franq._evidence import SUB_ANSWER
from llama_index_franq._messages import QUERY_KEYS, RAW_KEYS

_log = logging.getLogger(__name__)
_SHORTEST = 8  # characters; a shorter answer may just as well be a document's words


class Beside:
    """Checks or withholds what is returned with one answer.

    Args:
        call: has everything that was captured.
        answer: what the model wrote as the answer; empty if it is not known yet (a stream).
        checked: the answer as it is returned.
        nodes: of the response; their metadata was not written by a model.
        by_models: whether a model's output may be in it, so that what has a name of such output is
            withheld. Data of a tool may have the same names: a raw price, a reasoning.
    """

    def __init__(
        self,
        call: Call,
        nodes: Sequence[NodeWithScore],
        answer: str = "",
        checked: str = "",
        *,
        by_models: bool = True,
    ) -> None:
        self._call, self._answer, self._checked = call, answer.strip(), checked
        self._raw_keys = RAW_KEYS if by_models else frozenset[str]()
        self._documents = {node_key(node) for node in call.capture.nodes}
        self._about = {n.node.node_id: n.node.metadata for n in nodes}
        self._done: dict[tuple[str, str], str] = {}
        self._open: set[int] = set()  # what contains the value that is looked at
        self.notes: list[dict[str, str]] = []

    def metadata(self, metadata: Mapping[str, Any] | None) -> dict[str, Any]:
        """``metadata`` with sub-answers checked and raw text withheld; keeps a guard's report."""
        return {key: self._entry(key, value, "metadata") for key, value in (metadata or {}).items()}

    def nodes(self, nodes: Sequence[NodeWithScore]) -> list[NodeWithScore]:
        """``nodes`` with the text of those that a model wrote checked."""
        return [self._node(node, f"source_nodes[{i}]") for i, node in enumerate(nodes)]

    def report(self, report: Mapping[str, Any]) -> dict[str, Any]:
        """``report`` with a list of what was checked or withheld, if anything was."""
        return {**report, "beside": list(self.notes)} if self.notes else dict(report)

    def value(self, value: Any, where: str) -> Any:
        """Any value that is returned, with a model's text checked or withheld.

        Withheld, too, is what cannot be read, and what contains itself.
        """
        if value is None or isinstance(value, (bool, int, float)):
            return value
        if id(value) in self._open:
            return self._withheld(where, None)
        self._open.add(id(value))
        try:
            ways = (settle for kinds, settle in self._ways() if isinstance(value, kinds))
            return next(ways, self._unless_raw)(value, where)
        except Exception as error:  # an engine must not break on a failure of ours
            _log.warning("a %s was withheld: %s", type(value).__name__, type(error).__name__)
            return self._withheld(where, None)
        finally:
            self._open.discard(id(value))

    def _ways(self) -> Sequence[tuple[Any, Callable[[Any, str], Any]]]:
        return (
            (str, self._text),
            (NodeWithScore, self._node),
            (BaseNode, self._bare_node),
            ((Response, PydanticResponse, StreamingResponse, AsyncStreamingResponse), self._reply),
            (Mapping, self._mapping),
            ((list, tuple), self._items),
            (ToolOutput, self._tool_output),
            (BaseModel, self._model),
        )

    # Containers -------------------------------------------------------------------------------

    def _entry(self, key: Any, value: Any, where: str) -> Any:
        if key == REPORT_KEY or key in QUERY_KEYS or self._is_about_node(key, value):
            return value
        place = f"{where}[{key!r}]"
        if key in self._raw_keys and value is not None:
            return self._withheld(place, None)
        return self.value(value, place)

    def _is_about_node(self, key: Any, value: Any) -> bool:
        """Whether a value is the metadata of the node with this id."""
        try:
            return key in self._about and bool(value == self._about[key])
        except Exception:  # arrays in it; then it is read like any other
            return False

    def _mapping(self, value: Mapping[Any, Any], where: str) -> Mapping[Any, Any]:
        settled = {key: self._entry(key, inner, where) for key, inner in value.items()}
        return settled if any(settled[key] is not value[key] for key in settled) else value

    def _items(self, value: Sequence[Any], where: str) -> Any:
        if _is_sub_answer(value):  # MultiStepQueryEngine: (question, response)
            question, response = value
            return question, self._reply(response, f"{where}[1]", question=question)
        settled = []
        for i, inner in enumerate(value):
            if isinstance(inner, ThinkingBlock):
                self._withheld(f"{where}[{i}]", None)
            else:
                settled.append(self.value(inner, f"{where}[{i}]"))
        if len(settled) == len(value) and all(map(is_, settled, value)):
            return value
        return tuple(settled) if isinstance(value, tuple) else settled

    def _tool_output(self, value: ToolOutput, where: str) -> ToolOutput:
        """A tool's input is kept; what it returned is checked or withheld."""
        blocks = self._items(value.blocks, f"{where}.blocks")
        raw = self.value(value.raw_output, f"{where}.raw_output")
        return value.model_copy(update={"blocks": blocks, "raw_output": raw})

    def _model(self, value: BaseModel, where: str) -> BaseModel:
        settled = {}
        for name in type(value).model_fields:
            before = getattr(value, name)
            after = self._entry(name, before, where)
            if after is not before:
                settled[name] = after
        return value.model_copy(update=settled) if settled else value

    # What holds text --------------------------------------------------------------------------

    def _node(self, node: NodeWithScore, where: str) -> NodeWithScore:
        settled = self._bare_node(node.node, where)
        return node if settled is node.node else NodeWithScore(node=settled, score=node.score)

    def _bare_node(self, node: BaseNode, where: str) -> BaseNode:
        text = node.get_content(metadata_mode=MetadataMode.NONE)
        if (node.node_id, text) in self._documents:
            return node
        settled = self._text(text, where)
        if settled == text:
            return node
        copied = node.model_copy(deep=True)
        copied.set_content(settled)
        return copied

    def _reply(self, reply: Any, where: str, question: str = "") -> Any:
        """The response of an inner engine, checked unless it has been."""
        if REPORT_KEY in (reply.metadata or {}):
            return reply
        nodes = self.nodes(reply.source_nodes)
        metadata = self.metadata(reply.metadata)
        text: str | None
        if isinstance(reply, Response):
            text = self._answered(reply.response or "", where, question, reply.source_nodes)
        elif isinstance(reply, PydanticResponse):
            self._withheld(where, None)
            return PydanticResponse(None, source_nodes=nodes, metadata=metadata)
        else:
            read = reply.response_txt
            text = self._answered(read, where, question, reply.source_nodes) if read else None
        return Response(text, source_nodes=nodes, metadata=metadata)

    def _text(self, text: str, where: str) -> str:
        sub = SUB_ANSWER.match(text)
        if sub is not None:
            return sub.group() + self._answered(text[sub.end() :], where, sub.group(1), ())
        released = self._call.capture.released
        wrote = [run.text.strip() for run in self._runs() if not run.was_given(text)]
        known = [re.escape(text) for text in sorted({*wrote, *released}, key=len, reverse=True)]
        if known and (found := re.compile("|".join(known))).search(text):
            return found.sub(lambda part: self._answered(part.group(), where, "", ()), text)
        return self._withheld(where, WITHHELD) if self._is_raw(text) else text

    def _answered(
        self, text: str, where: str, question: str, nodes: Sequence[NodeWithScore]
    ) -> str:
        """The checked form of ``text``; each text is checked once."""
        if not text.strip() or text in self._call.capture.released:
            return text
        self._note(where, "checked")
        if text.strip() == self._answer:
            return self._checked
        key = text, question
        if key not in self._done:
            self._done[key] = self._call.aside(text, question=question, nodes=nodes)
        return self._done[key]

    # What is raw ------------------------------------------------------------------------------

    def _runs(self) -> list[ModelRun]:
        """The model's calls, the longest output first."""
        runs = [run for run in self._call.capture.runs if _tells(run.text)]
        return sorted(runs, key=lambda run: -len(run.text))

    def wrote(self, text: str) -> bool:
        """Whether a model wrote ``text`` or a part of it, and no guard has checked it."""
        if text in self._call.capture.released:
            return False
        held = (run for run in self._runs() if run.text.strip() in text)
        return any(not run.was_given(run.text) for run in held) or self._is_raw(text)

    def _is_raw(self, text: str) -> bool:
        """Whether the text is a part of what a model wrote."""
        wanted = text.strip()
        return len(wanted.split()) >= FEWEST_WORDS and any(
            wanted in run.text and not run.was_given(wanted) for run in self._runs()
        )

    def _unless_raw(self, value: Any, where: str) -> Any:
        """A value of another type, withheld if its text contains what a model wrote."""
        if is_dataclass(value) and not isinstance(value, type):
            pairs = ((f.name, getattr(value, f.name, None)) for f in fields(value))
            text = " ".join(str(inner) for _, inner in pairs)
        else:
            text = str(value)
        raw = any(run.text.strip() in text for run in self._runs())
        return self._withheld(where, WITHHELD) if raw or self._is_raw(text) else value

    def _withheld(self, where: str, instead: str | None) -> Any:
        self._note(where, "withheld")
        return instead

    def _note(self, where: str, how: str) -> None:
        note = {"where": where, "how": how}
        if note not in self.notes:
            self.notes.append(note)


def wrote_in_tool(call: Call, output: ToolOutput) -> bool:
    """Whether a model wrote what a tool returned, or a guard checked it; ``call`` is the tool's."""
    text = output.content
    return Beside(call, ()).wrote(text) or text in call.capture.released


def _is_sub_answer(value: Sequence[Any]) -> bool:
    kinds = (Response, PydanticResponse, StreamingResponse, AsyncStreamingResponse)
    return len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], kinds)


def _tells(text: str) -> bool:
    """Whether a text is long enough to identify its author."""
    text = text.strip()
    return len(text) >= _SHORTEST and len(text.split()) > 1
