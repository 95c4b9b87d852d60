"""The evidence that the tools of an agent's run found."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from zlib import crc32

from llama_index.core.agent.workflow import ToolCall, ToolCallResult
from llama_index.core.agent.workflow.codeact_agent import EXECUTE_TOOL_NAME
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.schema import NodeWithScore, TextNode

from franq_guard import Passage
from franq_guard.basics.names import name_of
from franq_guard.capture.evidence import (
    EMPTY_VALUES,
    NO_PASSAGES,
    PASSAGE_KEYS,
    TEXT_KEYS,
    as_read,
    chosen_passages,
    is_notice,
    passages_of,
)
from franq_guard.capture.marked import without_written
from franq_guard.capture.outlet import REPORT_KEY
from llama_index_franq._call import Call
from llama_index_franq._capture import Capture, node_key
from llama_index_franq._evidence import (
    EMPTY,
    nodes_asked,
    nodes_found,
    passage_of,
    unmarked,
    unwritten,
)

FAILED = "The tool failed: "
"""What an error of a tool begins with in an agent's memory, where nothing else tells it apart."""
_HANDOFF = "handoff"
# What that tool returns, with the reason that the model gave.
_HANDED_OFF = re.compile(r"Agent .{1,200}? is now handling the request due to the following reason")
_CALLS = "current_tool_calls"  # where an agent's context keeps the tool calls of a run
_FOUND = "franq_found"  # what was retrieved inside each call
_EARLIER = "franq_earlier"  # the evidence of the last turn that had any
# How a ReActAgent remembers what its tools returned.
_OBSERVED = re.compile(r"^Observation: (.*?)(?=^Thought: |\Z)", re.S | re.M)


async def calls_in(ctx: Any) -> list[ToolCallResult]:
    """The tool calls of this run."""
    calls: list[ToolCallResult] = await ctx.store.get(_CALLS, default=[])
    return calls


async def keep_found(
    ctx: Any, result: ToolCallResult, capture: Capture, *, by_a_model: bool
) -> None:
    """Keep what is evidence instead of the tool's result: what was retrieved inside.

    ``by_a_model``: a model wrote its text, so the text is not evidence, whatever was retrieved.
    """
    # Each call has a key of its own. Tools run at the same time, and editing the whole state would
    # replace every object in it by a copy, the caller's memory included.
    inside = found_inside(result, capture, by_a_model=by_a_model)
    place = f"{_FOUND}.{call_key(result)}"
    if inside is not None:
        await ctx.store.set(place, [_plain(node) for node in inside])
    elif await ctx.store.get(place, default=None) is not None:
        # It was left by a call of an earlier run with the same id.
        await ctx.store.set(place, None)


def found_inside(
    result: ToolCallResult, capture: Capture, *, by_a_model: bool
) -> list[NodeWithScore] | None:
    """What is evidence instead of a tool's result; None if the result itself is."""
    returned = _own_nodes(result)
    if returned:
        left = unwritten(returned, capture)
        asked = nodes_asked(capture, capture.answer_run(result.tool_output.content))
        if left == returned and not asked:
            return None
        return [*left, *capture.behind, *asked] or nodes_found(capture)
    found = nodes_found(capture)
    return found if found or by_a_model else None


def call_key(call: ToolCall | ToolCallResult) -> str:
    """What tells the calls of a run apart.

    Some models give every call of a tool the same id: Ollama's is the name of the tool. Without
    dots, which would mean a path in an agent's state.
    """
    arguments = json.dumps(call.tool_kwargs, sort_keys=True, default=str)
    return f"{call.tool_id.replace('.', '_')}_{crc32(arguments.encode()):08x}"


async def evidence_in(ctx: Any, asked: Sequence[ChatMessage] = ()) -> list[NodeWithScore]:
    """The evidence of this turn; if that is nothing or notices alone, also of earlier turns.

    Args:
        ctx: of the agent.
        asked: the model's input, which has the texts of tools of earlier turns.
    """
    calls = await calls_in(ctx)
    keys = set(map(call_key, calls))
    kept = await ctx.store.get(_FOUND, default={})
    if not keys.issuperset(kept):  # without those of earlier runs
        kept = {key: found for key, found in kept.items() if key in keys}
        await ctx.store.set(_FOUND, kept)
    inside = {key: list(map(_node, found)) for key, found in kept.items() if found is not None}
    nodes = nodes_in(calls, inside)
    if only_notices(nodes):
        earlier = await ctx.store.get(_EARLIER, default=[])
        # What the tools of this turn returned is no evidence of an earlier one.
        now = {call.tool_output.content for call in calls}
        before = [_node(plain) for plain in earlier] or remembered(asked, now)
        if not nodes:
            return before
        nodes = distinct([*nodes, *before])
    await ctx.store.set(_EARLIER, [_plain(node) for node in nodes])
    return nodes


def only_notices(nodes: Iterable[NodeWithScore]) -> bool:
    """Whether tools found nothing, or only told that something was done."""
    return all(is_notice(node_key(node)[1]) for node in nodes)


def distinct(nodes: Iterable[NodeWithScore]) -> list[NodeWithScore]:
    """The nodes, each once."""
    kept: dict[tuple[str, str], NodeWithScore] = {}
    for node in nodes:
        kept.setdefault(node_key(node), node)
    return list(kept.values())


def nodes_in(
    calls: Iterable[ToolCallResult], found: Mapping[str, Sequence[NodeWithScore]] | None = None
) -> list[NodeWithScore]:
    """The evidence in tool results, each node once.

    Those ``found`` inside a tool (by :func:`call_key`), else the nodes it returned, else the text;
    without the sentences that a guard has marked, because a model's unverified text is no evidence.
    """
    nodes: list[NodeWithScore] = []
    for call in calls:
        if call.tool_name != _HANDOFF and not failed(call):
            inside = (found or {}).get(call_key(call))
            if inside is None:
                inside = _own_nodes(call) or _text_of(call)
            nodes += inside
    return unmarked(distinct(nodes))


async def find_named(call: Call, ctx: Any) -> None:
    """Give ``call`` the passages that the user's ``evidence=`` names in this run.

    If that fails, the answer is unverified, as that of an engine.
    """
    try:
        await _find_named(call, ctx)
    except Exception as error:
        call.failure = error


async def _find_named(call: Call, ctx: Any) -> None:
    named = call.watch.evidence
    if named is None:
        return
    results = await calls_in(ctx)
    if not isinstance(named, str):
        found = named(call.question, results)
        call.given = passages_of(await found if inspect.isawaitable(found) else found)
        return
    state = await ctx.store.get("state", default=None)
    places = [state, *(result.tool_output.raw_output for result in results)]
    found = [passages for place in places if (passages := _at(named, place)) is not None]
    tools = {result.tool_name for result in results if not failed(result)} - {_HANDOFF}
    if tools and not found:
        call.watch.no_path(named, tools)
    call.given = [passage for passages in found for passage in passages]


def _at(path: str, place: Any) -> list[Passage] | None:
    with suppress(KeyError):  # a tool may return no documents
        return chosen_passages(path, place)
    return None


def _own_nodes(call: ToolCallResult) -> list[NodeWithScore]:
    """The nodes or documents that a tool returned as such, and the values beside them."""
    raw = call.tool_output.raw_output
    nodes = getattr(raw, "source_nodes", None) or raw
    if isinstance(parts := getattr(raw, "content", None), list):
        nodes = parts
    kept: list[NodeWithScore] = []
    if isinstance(nodes, (list, tuple)):
        kept = [node for node in nodes if isinstance(node, NodeWithScore)]
        nodes = [node for node in nodes if not isinstance(node, NodeWithScore)]
    found = enumerate(_documents_in(nodes))
    return [*kept, *(_document(p, f"{call.tool_id}-{i}", call.tool_name) for i, p in found)]


def _documents_in(raw: Any) -> list[Passage]:
    """The documents in a list, or under a usual key of a mapping, then the mapping's other values.

    Not under a further usual key: ``context`` often joins what ``documents`` has one by one.
    """
    if isinstance(raw, list):
        return passages_of(raw) if _has_texts(raw) else []
    if not isinstance(raw, Mapping):
        return []
    usual = [key for key in PASSAGE_KEYS if key in raw and _has_texts(raw[key])]
    found = next((found for key in usual if (found := passages_of(raw[key]))), [])
    others = {key: value for key, value in raw.items() if key not in (*usual, *NO_PASSAGES)}
    beside = "\n".join(f"{key}: {value}" for key, value in others.items() if value is not None)
    return [*found, *passages_of(beside)] if found else []


def _has_texts(value: Any) -> bool:
    """Whether a value is a text or document, or a list of such; not rows of names and numbers.

    As documents these would lose their numbers and the names of their columns.
    """
    if isinstance(value, str):
        return len(value.split()) > 1  # not the address or name of a source
    if isinstance(value, Mapping):
        return any(isinstance(value.get(k), str) for k in TEXT_KEYS) or bool(_documents_in(value))
    if isinstance(value, (list, tuple)):
        return all(map(_has_texts, value))
    return value is None or bool(passages_of(value))


def _document(passage: Passage, number: str, tool: str) -> NodeWithScore:
    """A document as a node; its source names a file, which may have many, and is no id."""
    source = name_of(passage.metadata.get("source"))
    name = passage.id if passage.id and passage.id != source else number
    return _noted(passage.text, name, passage.title or source or tool)


def _text_of(call: ToolCallResult) -> list[NodeWithScore]:
    """A tool's text, unless it says nothing; of code, without what is in the code itself."""
    text = call.tool_output.content
    if call.tool_name == EXECUTE_TOOL_NAME:
        text = without_written(text, [str(call.tool_kwargs.get("code", ""))])
    says_something = text.strip() not in (*EMPTY_VALUES, EMPTY)
    return [_noted(as_read(text), call.tool_id, call.tool_name)] if says_something else []


def remembered(asked: Sequence[ChatMessage], but: Collection[str]) -> list[NodeWithScore]:
    """What tools returned in earlier turns, read from the messages, except the texts ``but``."""
    found: list[NodeWithScore] = []
    for i, message in enumerate(asked):
        text = message.content or ""
        if message.role == MessageRole.TOOL:
            found.append(_noted(text, f"message-{i}", "an earlier tool call"))
        elif message.role == MessageRole.ASSISTANT:
            seen = (part.strip() for part in _OBSERVED.findall(text))
            found += [_noted(part, f"message-{i}-{part}", "an earlier tool call") for part in seen]
    return [node for node in unmarked(found) if _is_found(node.node.get_content(), but)]


def _is_found(text: str, but: Collection[str]) -> bool:
    """Whether a tool's earlier text is something it found: no error, handoff or empty response."""
    says_something = text.strip() not in (*EMPTY_VALUES, EMPTY) and text not in but
    return says_something and not text.startswith(FAILED) and _HANDED_OFF.match(text) is None


def _plain(node: NodeWithScore) -> dict[str, str]:
    """The parts of a node to keep in the agent's state, which is stored as JSON."""
    passage = passage_of(node)
    return {"text": passage.text, "name": passage.id or "", "title": passage.title}


def _node(plain: Mapping[str, str]) -> NodeWithScore:
    return _noted(plain["text"], plain["name"], plain["title"])


def _noted(text: str, name: str, title: str) -> NodeWithScore:
    return NodeWithScore(node=TextNode(text=text, id_=name, metadata={"title": title}))


def failed(call: ToolCallResult) -> bool:
    """Whether a tool failed; an MCP server says so in its result."""
    output = call.tool_output
    return output.is_error or getattr(output.raw_output, "isError", None) is True


def errors_in(calls: Iterable[ToolCallResult]) -> list[str]:
    """What the tools that failed returned; it may repeat the model's own arguments."""
    return [call.tool_output.content for call in calls if failed(call)]


def is_handoff(text: str, calls: Sequence[ToolCallResult]) -> bool:
    """Whether ``text`` only says that another agent continues."""
    return any(call.tool_name == _HANDOFF and call.tool_output.content == text for call in calls)


def report_in(raw: Any) -> Any:
    """The report in a guarded engine's response; None if there is none."""
    return (getattr(raw, "metadata", None) or {}).get(REPORT_KEY)
