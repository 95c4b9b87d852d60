"""The texts in a tool's blocks of content that are no plain text: search results, documents, JSON.

LangChain's ``message.text`` leaves them out, but the model reads them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage

from franq_guard import Passage
from franq_guard.capture.evidence import passages_of
from franq_guard.capture.marked import FEWEST_WORDS, without_written
from langchain_franq._messages import is_text
from langchain_franq._texts import mapped, texts_in


def passages_in_blocks(message: object, written: Collection[str] = ()) -> list[Passage]:
    """What the blocks of a tool's message say; what models in the tool wrote is taken out."""
    content = message.content if isinstance(message, ToolMessage) else ""
    blocks = [] if isinstance(content, str) else [b for b in content if isinstance(b, dict)]

    def clean(text: str) -> str:
        return without_written(text, written) if written else text

    return passages_of([found for block in blocks for found in _contents(block, clean)])


def written_in_blocks(message: object, wrote: Callable[[str], bool]) -> list[str]:
    """The texts in a tool's blocks that a model ``wrote``.

    If it wrote no more than values of a few words, they are all that such a block says.
    """
    block_texts = [passage.text for passage in passages_in_blocks(message)]
    if not block_texts or not isinstance(message, ToolMessage):
        return []
    blocks = [block for block in message.content if not is_text(block)]
    long = [text for _, text in texts_in(blocks) if len(text.split()) >= FEWEST_WORDS]
    by_models = [text for text in long if wrote(text)]
    return list(dict.fromkeys(by_models or [text for text in block_texts if wrote(text)]))


def read_by_model(message: BaseMessage) -> str:
    """The text of a message as its model reads it, also of a tool's blocks."""
    return "\n".join([str(message.text), *(found.text for found in passages_in_blocks(message))])


def _contents(block: dict[str, Any], clean: Callable[[str], str]) -> Iterator[Any]:
    """What a block says: documents, as mappings, or texts. ``clean`` is applied to its texts."""
    kind = block.get("type")
    if kind == "json" and block.get("json"):  # its own spelling keeps what belongs to what
        held = mapped(block.get("json"), lambda _, text: clean(text))
        yield json.dumps(held, default=str, ensure_ascii=False)
    elif kind in ("search_result", "document"):
        source = block.get("source")
        held = source if isinstance(source, dict) else {"content": block.get("content")}
        name = source if isinstance(source, str) else None
        yield {"content": clean(_text_of(held)), "title": block.get("title"), "source": name}
    elif kind in ("text-plain", "custom_tool_call_output"):
        yield clean(str(block.get("text") or block.get("output") or ""))


def _text_of(held: dict[str, Any]) -> str:
    """The text of a document: its data if these are text, else its own blocks."""
    if held.get("type") == "text":
        return str(held.get("data") or "")
    content = held.get("content") or ()
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
