"""Finds the passages and the question in a chat request.

Applications put them in different places. The first of these that has any passages is used:

1. the extension object ``franq`` of the request: ``{"franq": {"passages": [...]}}``;
2. ``documents: [{"title": ..., "text": ...}]``, as vLLM takes them;
3. the messages of tools;
4. ``<context>`` and ``<source>`` blocks, as Open WebUI and many prompts write them, and
   ``<document>`` blocks, as prompts for Claude have them (there ``<source>`` is the
   document's name); if a block contains others, these are the passages. Messages of the assistant
   are left out: what a model wrote is no evidence for what it writes next.

Of the messages those of the newest turn count, and earlier ones only if it has no passages. Tools
that only say that something was done end no search. Blocks of the system's messages, which belong
to no turn, are read with those of any.

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

from franq_guard.capture.evidence import is_notice
from franq_guard.records import Passage
from franq_guard.rows.traces import passages_from

EXTENSION = "franq"
"""The key of our extension object in a request."""

_TAG = re.compile(
    r"<(/?)(context|source|documents?|document_content)(?![\w-])([^<>]{0,500})>", re.IGNORECASE
)
_ATTRIBUTE = re.compile(r"([\w-]{1,50})\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_TOOLS = ("tool", "function")
_OF_TURNS = ("user", "assistant", *_TOOLS)


def passages_in(body: Mapping[str, object]) -> tuple[Passage, ...]:
    """The passages of a chat request; empty if none are found.

    Args:
        body: the JSON of the request; invalid content never raises an error.
    """
    extension, messages = extension_in(body), messages_in(body)
    sources: tuple[Iterator[Passage], ...] = (
        _documents(extension.get("passages")),
        _documents(body.get("documents")),
        _of_messages(messages),
    )
    for source in sources:
        if found := tuple(source):
            return found
    return ()


def extension_in(body: Mapping[str, object]) -> Mapping[str, object]:
    """Our extension object of the request; empty if it has none."""
    given = body.get(EXTENSION)
    return given if isinstance(given, Mapping) else {}


def messages_in(body: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The messages of the request that are objects."""
    given = body.get("messages")
    return [m for m in given if isinstance(m, Mapping)] if isinstance(given, list) else []


def question_of(body: Mapping[str, object]) -> str:
    """The question: ``question`` of our extension, else the user's last message."""
    given = extension_in(body).get("question")
    if isinstance(given, str) and given.strip():
        return given
    return question_in(messages_in(body))


def question_in(messages: Iterable[object]) -> str:
    """The user's last message with text other than passages, without them; "" if there is none."""
    asked = (_asked(m) for m in reversed([*messages]) if isinstance(m, Mapping))
    return next(filter(None, asked), "")


def text_of(content: object, *, joined_by: str = "\n") -> str:
    """The text of a message's content: a string, or a list of parts some of which are text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part.get("text") for part in content if isinstance(part, Mapping))
    return joined_by.join(text for text in texts if isinstance(text, str))


def _documents(given: object) -> Iterator[Passage]:
    for item in given if isinstance(given, list) else ():
        with suppress(ValueError):
            yield from (passage for passage in passages_from([item]) if passage.text.strip())


def _of_messages(messages: Sequence[Mapping[str, object]]) -> Iterator[Passage]:
    """What the newest turn brings; if that is nothing, what the earlier ones brought."""
    *earlier, newest = _turns([m for m in messages if m.get("role") in _OF_TURNS])
    told = [*_of_tools(newest)]
    if _only_notices(told):
        yield from _of_blocks(m for m in messages if m.get("role") not in _OF_TURNS)
        yield from [*_of_blocks(newest)] or [p for turn in earlier for p in _of_turn(turn)]
    yield from told


def _of_turn(messages: Sequence[Mapping[str, object]]) -> Iterator[Passage]:
    told = [*_of_tools(messages)]
    if _only_notices(told):
        yield from _of_blocks(messages)
    yield from told


def _turns(messages: Sequence[Mapping[str, object]]) -> list[list[Mapping[str, object]]]:
    """The turns of a conversation; each begins with what the user asks.

    Messages that the user sends one after the other belong together: the passages may be one of
    their own. A message that asks nothing, a photo for example, begins no turn.
    """
    turns: list[list[Mapping[str, object]]] = [[]]
    for of_user, run in groupby(messages, lambda message: message.get("role") == "user"):
        sent = [*run]
        if of_user and any(map(_asked, sent)):
            turns.append(sent)
        else:
            turns[-1] += sent
    return turns


def _asked(message: Mapping[str, object]) -> str:
    """The text of a user's message without passages; "" of any other message."""
    text = text_of(message.get("content")) if message.get("role") == "user" else ""
    return _without(text, _blocks(text)).strip()


def _only_notices(told: Iterable[Passage]) -> bool:
    """Whether tools found nothing, or only said that something was done."""
    return all(is_notice(passage.text) for passage in told)


def _of_tools(messages: Iterable[Mapping[str, object]]) -> Iterator[Passage]:
    for message in messages:
        text = text_of(message.get("content")) if message.get("role") in _TOOLS else ""
        if text.strip():
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


def _of_blocks(messages: Iterable[Mapping[str, object]]) -> Iterator[Passage]:
    for message in messages:
        if message.get("role") != "assistant":
            yield from _in_text(text_of(message.get("content")))


def _in_text(text: str) -> Iterator[Passage]:
    blocks = _blocks(text)
    documents = [block for block in blocks if block.kind == "document"]
    names, others = defaultdict[_Block, list[_Block]](list), list[tuple[_Block, _Block | None]]()
    for block in blocks:
        document = _around(documents, block)
        if document is not None and block.kind == "source":
            names[document].append(block)
        else:
            others.append((block, document))
    # HTML has empty ones for its videos: they are no passages, but parts of one.
    starts = [block.start for block, _ in others if text[slice(*block.inner)].strip()]
    for block, document in others:
        if block.kind != "source" and _any_within(starts, block):
            continue
        whole = document if document is not None and block.kind == "document_content" else block
        words = _without(text, names[whole] if whole is block else (), *block.inner).strip()
        if words:
            named = {a.lower(): b or c for a, b, c in _ATTRIBUTE.findall(whole.attributes)}
            told = next((text[slice(*name.inner)].strip() for name in names[whole]), "")
            title = named.get("title") or named.get("name") or told
            yield Passage(words, title, named.get("id") or named.get("index"))


def _around(documents: Sequence[_Block], block: _Block) -> _Block | None:
    """The document that ``block`` lies in; None if there is none."""
    before = bisect_left(documents, block.start, key=lambda document: document.start)
    found = documents[before - 1] if before else None
    return found if found is not None and block.end <= found.end else None


def _any_within(starts: Sequence[int], block: _Block) -> bool:
    following = bisect_right(starts, block.start)
    return following < len(starts) and starts[following] < block.end


def _blocks(text: str) -> list[_Block]:
    """Pair each closing tag with the last opening tag of its kind before it, in one pass."""
    opened: dict[str, re.Match[str]] = {}
    blocks: list[_Block] = []
    for tag in _TAG.finditer(text):
        kind = tag[2].lower()
        if not tag[1]:
            opened[kind] = tag
        elif kind in opened:
            begun = opened.pop(kind)
            inner = (begun.end(), tag.start())
            blocks.append(_Block(kind, begun[3], begun.start(), tag.end(), inner))
    return sorted(blocks, key=lambda block: block.start)


def _without(text: str, blocks: Iterable[_Block], start: int = 0, end: int | None = None) -> str:
    """``text[start:end]`` without the blocks, which lie in it."""
    kept, at = [], start
    for block in blocks:
        if block.start >= at:
            kept.append(text[at : block.start])
        at = max(at, block.end)
    return "".join([*kept, text[at:end]])
