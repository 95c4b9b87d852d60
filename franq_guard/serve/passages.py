"""Finds the passages and the question in a chat request.

Applications put them in different places. The first of these that has any passages is used:

1. the extension object ``franq`` of the request: ``{"franq": {"passages": [...]}}``;
2. ``documents: [{"title": ..., "text": ...}]``, as vLLM takes them;
3. the messages of tools;
4. ``<context>`` and ``<source>`` blocks, as Open WebUI and many prompts write them, and
   ``<document>`` blocks, as prompts for Claude have them (there ``<source>`` is the
   document's name); if a block contains others, these are the passages. Messages of the assistant
   are left out: what a model wrote is no evidence for what it writes next.

Of the messages those of the newest turn are searched, and earlier ones only if it has no passages.
A tool's message that only says that something was done does not end the search. System messages
belong to no turn; their blocks are read together with those of the newest one.

Parts of an unexpected form are ignored: validating the request is up to the upstream server.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby

from franq_guard.capture.evidence import EMPTY_VALUES, is_notice
from franq_guard.records import Passage, Reason
from franq_guard.rows.traces import passages_from

EXTENSION = "franq"
"""The key of our extension object in a request."""

_TAG = re.compile(
    r"<(/?)(context|source|documents?|document_content)(?![\w-])([^<>]{0,500})>", re.IGNORECASE
)
_ATTRIBUTE = re.compile(r"([\w-]{1,50})\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_TOOL_ROLES = ("tool", "function")
_TURN_ROLES = ("user", "assistant", *_TOOL_ROLES)


def passages_in(body: Mapping[str, object]) -> tuple[Passage, ...]:
    """The passages of a chat request; empty if none are found.

    Args:
        body: the JSON of the request; invalid content never raises an error.
    """
    extension, messages = extension_in(body), messages_in(body)
    sources: tuple[Iterator[Passage], ...] = (
        _from_list(extension.get("passages")),
        _from_list(body.get("documents")),
        _from_messages(messages),
    )
    for source in sources:
        if passages := tuple(source):
            return passages
    return ()


def extension_in(body: Mapping[str, object]) -> Mapping[str, object]:
    """Our extension object of the request; empty if it has none."""
    extension = body.get(EXTENSION)
    return extension if isinstance(extension, Mapping) else {}


def messages_in(body: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The messages of the request that are objects."""
    messages = body.get("messages")
    return [m for m in messages if isinstance(m, Mapping)] if isinstance(messages, list) else []


def question_of(body: Mapping[str, object]) -> str:
    """The question: ``question`` of our extension, else the user's last message."""
    question = extension_in(body).get("question")
    if isinstance(question, str) and question.strip():
        return question
    return question_in(messages_in(body))


def question_in(messages: Iterable[object]) -> str:
    """The user's last message with text other than passages, without them; "" if there is none."""
    questions = (_question_text(m) for m in reversed([*messages]) if isinstance(m, Mapping))
    return next(filter(None, questions), "")


def why_unchecked(question: str, passages: Sequence[Passage]) -> Reason | None:
    """Why the answer to a request cannot be checked; None if it can."""
    if not passages:
        return "no_evidence"
    return None if question else "no_prompt"


def text_of(content: object, *, joined_by: str = "\n") -> str:
    """The text of a message's content: a string, or a list of parts some of which are text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part.get("text") for part in content if isinstance(part, Mapping))
    return joined_by.join(text for text in texts if isinstance(text, str))


def _from_list(documents: object) -> Iterator[Passage]:
    for item in documents if isinstance(documents, list) else ():
        with suppress(ValueError):
            yield from (passage for passage in passages_from([item]) if passage.text.strip())


def _from_messages(messages: Sequence[Mapping[str, object]]) -> Iterator[Passage]:
    """The passages of the newest turn; if it has none, those of the earlier ones."""
    *earlier, newest = _turns([m for m in messages if m.get("role") in _TURN_ROLES])
    tool_passages = [*_from_tools(newest)]
    if _only_notices(tool_passages):
        yield from _from_blocks(m for m in messages if m.get("role") not in _TURN_ROLES)
        yield from [*_from_blocks(newest)] or [p for turn in earlier for p in _from_turn(turn)]
    yield from tool_passages


def _from_turn(messages: Sequence[Mapping[str, object]]) -> Iterator[Passage]:
    tool_passages = [*_from_tools(messages)]
    if _only_notices(tool_passages):
        yield from _from_blocks(messages)
    yield from tool_passages


def _turns(messages: Sequence[Mapping[str, object]]) -> list[list[Mapping[str, object]]]:
    """The turns of a conversation; each begins with what the user asks.

    Messages that the user sends one after the other belong together: the passages may be one of
    their own. A message that asks nothing, a photo for example, begins no turn.
    """
    turns: list[list[Mapping[str, object]]] = [[]]
    for is_user, run in groupby(messages, lambda message: message.get("role") == "user"):
        group = [*run]
        if is_user and any(map(_question_text, group)):
            turns.append(group)
        else:
            turns[-1] += group
    return turns


def _question_text(message: Mapping[str, object]) -> str:
    """The text of a user's message without passages; "" of any other message."""
    text = text_of(message.get("content")) if message.get("role") == "user" else ""
    return _text_without(text, _blocks(text)).strip()


def _only_notices(tool_passages: Iterable[Passage]) -> bool:
    """Whether tools found nothing, or only said that something was done."""
    return all(is_notice(passage.text) for passage in tool_passages)


def _from_tools(messages: Iterable[Mapping[str, object]]) -> Iterator[Passage]:
    for message in messages:
        text = text_of(message.get("content")) if message.get("role") in _TOOL_ROLES else ""
        if text.strip() not in EMPTY_VALUES:
            name, identifier = message.get("name"), message.get("tool_call_id")
            yield Passage(
                text,
                name if isinstance(name, str) else "",
                identifier if isinstance(identifier, str) else None,
            )


@dataclass(frozen=True, slots=True)
class _Block:
    """A tagged stretch of a text: ``start:end`` with its tags, ``inner`` without."""

    kind: str
    attributes: str
    start: int
    end: int
    inner: tuple[int, int]


def _from_blocks(messages: Iterable[Mapping[str, object]]) -> Iterator[Passage]:
    for message in messages:
        if message.get("role") != "assistant":
            yield from _from_text(text_of(message.get("content")))


def _from_text(text: str) -> Iterator[Passage]:
    blocks = _blocks(text)
    documents = [block for block in blocks if block.kind == "document"]
    names = defaultdict[_Block, list[_Block]](list)
    candidates: list[tuple[_Block, _Block | None]] = []
    for block in blocks:
        document = _document_around(documents, block)
        if document is not None and block.kind == "source":
            names[document].append(block)
        else:
            candidates.append((block, document))
    # HTML has empty ones for its videos: they are no passages, but parts of one.
    starts = [block.start for block, _ in candidates if text[slice(*block.inner)].strip()]
    for block, document in candidates:
        if block.kind != "source" and _any_within(starts, block):
            continue
        # The content of a document has the document's attributes and name.
        owner = document if document is not None and block.kind == "document_content" else block
        content = _text_without(text, names[owner] if owner is block else (), *block.inner).strip()
        if content:
            attributes = {a.lower(): b or c for a, b, c in _ATTRIBUTE.findall(owner.attributes)}
            name = next((text[slice(*name.inner)].strip() for name in names[owner]), "")
            title = attributes.get("title") or attributes.get("name") or name
            yield Passage(content, title, attributes.get("id") or attributes.get("index"))


def _document_around(documents: Sequence[_Block], block: _Block) -> _Block | None:
    """The document that ``block`` lies in; None if there is none."""
    position = bisect_left(documents, block.start, key=lambda document: document.start)
    last = documents[position - 1] if position else None
    return last if last is not None and block.end <= last.end else None


def _any_within(starts: Sequence[int], block: _Block) -> bool:
    position = bisect_right(starts, block.start)
    return position < len(starts) and starts[position] < block.end


def _blocks(text: str) -> list[_Block]:
    """Pair each closing tag with the last opening tag of its kind before it, in one pass."""
    openings: dict[str, re.Match[str]] = {}
    blocks: list[_Block] = []
    for tag in _TAG.finditer(text):
        kind = tag[2].lower()
        if not tag[1]:
            openings[kind] = tag
        elif kind in openings:
            opening = openings.pop(kind)
            inner = (opening.end(), tag.start())
            blocks.append(_Block(kind, opening[3], opening.start(), tag.end(), inner))
    return sorted(blocks, key=lambda block: block.start)


def _text_without(
    text: str, blocks: Iterable[_Block], start: int = 0, end: int | None = None
) -> str:
    """``text[start:end]`` without the blocks, which lie in it."""
    kept, position = [], start
    for block in blocks:
        if block.start >= position:
            kept.append(text[position : block.start])
        position = max(position, block.end)
    return "".join([*kept, text[position:end]])
