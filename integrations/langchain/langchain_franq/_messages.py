"""Replaces the text of a message; everything else is kept, except unchecked words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from franq_guard.capture.outlet import REPORT_KEY

Report = Mapping[str, Any]
Block = str | dict[str, Any]

REMOVED_KEY = "removed"
"""The report's entry for what was removed from the message besides its text."""

_REASONING = ("reasoning", "thinking", "reasoning_content")
_UNCHECKED_KEYS = ("reasoning_content", "reasoning", "thinking", "parsed")
_NO_WORDS = ("type", "id", "signature", "data", "encrypted_content", "format", "status")
_PLACES = ("start_index", "end_index")


def with_text(message: BaseMessage, text: str, report: Report | None) -> BaseMessage:
    """``message`` with another text and the report; id, tool calls and other blocks stay.

    Removed, and listed in the report under ``removed``, are token log-probabilities if the text
    changes (they contain the old text), and the text of reasoning (but not its ids and signatures,
    which a provider needs again). Annotations are kept, without positions if the text changes.
    """
    changed = text != str(message.text)
    metadata, extra = dict(message.response_metadata), dict(message.additional_kwargs)
    removed = [key for key in _UNCHECKED_KEYS if extra.pop(key, None)]
    if changed and metadata.pop("logprobs", None):
        removed.append("logprobs")
    content = message.content
    if isinstance(content, list):
        removed += ["reasoning"] if any(map(_is_reasoning, content)) else []
        content = [_wordless(b) if _is_reasoning(b) else b for b in content]
    if changed:
        content = text if isinstance(content, str) else _blocks(content, text)
    if report is not None:
        told = {REMOVED_KEY: sorted(set(removed))} if removed else {}
        metadata[REPORT_KEY] = {**report, **told}
    update = {"content": content, "response_metadata": metadata, "additional_kwargs": extra}
    return message.model_copy(update=update)


def _is_reasoning(block: Block) -> bool:
    return isinstance(block, dict) and block.get("type") in _REASONING


def _wordless(value: Any) -> Any:
    """A reasoning block (or a part of one) without its words."""
    if isinstance(value, str):
        return ""
    if isinstance(value, dict):
        return {key: v if key in _NO_WORDS else _wordless(v) for key, v in value.items()}
    return [] if isinstance(value, list) else value


def _is_text(block: Block) -> bool:
    return isinstance(block, str) or block.get("type") == "text"


def _blocks(content: Sequence[Block], text: str) -> list[Block]:
    """The blocks with ``text`` in place of the first one of text."""
    texts = [block for block in content if _is_text(block)]
    notes = [note for block in texts if isinstance(block, dict) for note in _notes(block)]
    new: Block = {"type": "text", "text": text, **({"annotations": notes} if notes else {})}
    if not texts:
        return [*content, new] if text else [*content]
    first = next(i for i, block in enumerate(content) if _is_text(block))
    rest = [block for block in content[first:] if not _is_text(block)]
    return [*content[:first], new, *rest]


def _notes(block: dict[str, Any]) -> list[Any]:
    """A text block's annotations without positions, which are wrong for the new text."""
    notes = block.get("annotations") or []
    return [
        {key: v for key, v in note.items() if key not in _PLACES}
        if isinstance(note, dict)
        else note
        for note in notes
    ]
