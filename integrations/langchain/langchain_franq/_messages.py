"""Reads and replaces what a message says; the rest is kept, except unchecked words."""

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


def text_of(message: BaseMessage) -> str:
    """What a message says: its text, or if it has none its refusal or the words of its audio."""
    text = str(message.text)
    return text if text.strip() else next(filter(str.strip, _texts_elsewhere(message)), text)


def with_text(message: BaseMessage, text: str, report: Report | None) -> BaseMessage:
    """``message`` with another text and the report; id, tool calls and other blocks stay.

    The text is put where :func:`text_of` found it. Removed, and listed in the report under
    ``removed``, are token log-probabilities and audio if the text changes (they contain the old
    text), a refusal and words of audio that are not the text, and the text of reasoning (but not
    its ids and signatures, which a provider needs again). Annotations are kept, without positions
    if the text changes.
    """
    spoken = text_of(message)
    changed = text != spoken
    metadata = dict(message.response_metadata)
    extra, removed = _with_kwargs(message.additional_kwargs, spoken, text)
    if changed and metadata.pop("logprobs", None):
        removed.append("logprobs")
    content = message.content
    if isinstance(content, list):
        removed += ["reasoning"] if any(map(_is_reasoning, content)) else []
        content = [_wordless(b) if _is_reasoning(b) else b for b in content]
        content, refused = _with_refusals(content, spoken, text)
        removed += refused
    if changed and spoken == str(message.text):
        content = text if isinstance(content, str) else _blocks(content, text)
    if report is not None:
        listed = {REMOVED_KEY: sorted(set(removed))} if removed else {}
        metadata[REPORT_KEY] = {**report, **listed}
    update = {"content": content, "response_metadata": metadata, "additional_kwargs": extra}
    return message.model_copy(update=update)


def _texts_elsewhere(message: BaseMessage) -> list[str]:
    """A model's words outside of the text, each in the form in which it is one text."""
    extra, content = message.additional_kwargs, message.content
    blocks = content if isinstance(content, list) else []
    refused = "".join(_refusal_in(block) or "" for block in blocks)
    return [str(extra.get("refusal") or ""), refused, _words_of(extra.get("audio"))]


def _words_of(audio: Any) -> str:
    return str(audio.get("transcript") or "") if isinstance(audio, dict) else ""


def _with_kwargs(
    known: Mapping[str, Any], spoken: str, text: str
) -> tuple[dict[str, Any], list[str]]:
    """A provider's own entries with ``text`` for what was ``spoken``, and the names of those gone.

    Words that are neither were not checked.
    """
    extra = dict(known)
    removed = [key for key in _UNCHECKED_KEYS if extra.pop(key, None)]
    if refusal := extra.get("refusal"):
        extra["refusal"] = text if refusal == spoken else None
        removed += [] if refusal == spoken else ["refusal"]
    words = _words_of(extra.get("audio"))
    if words and (words != spoken or text != spoken):
        audio = {key: v for key, v in extra["audio"].items() if key != "data"}
        extra["audio"] = {**audio, "transcript": text if words == spoken else ""}
        removed.append("audio")
    return extra, removed


def _refusal_in(block: Block) -> str | None:
    """The words of a block of refusal, also as LangChain's standard blocks have it."""
    if isinstance(block, dict) and block.get("type") == "non_standard":
        block = block.get("value") or {}
    if not isinstance(block, dict) or block.get("type") != "refusal":
        return None
    return str(block.get("refusal") or "")


def _with_refusals(
    content: Sequence[Block], spoken: str, text: str
) -> tuple[list[Block], list[str]]:
    """The blocks with ``text`` for a refusal that was ``spoken``, without any other refusal."""
    words = "".join(_refusal_in(block) or "" for block in content)
    if not words or words == spoken == text:
        return [*content], []
    rest = [block for block in content if _refusal_in(block) is None]
    if words != spoken:
        return rest, ["refusal"]
    first = next(i for i, block in enumerate(content) if _refusal_in(block) is not None)
    return [*rest[:first], _refused(content[first], text), *rest[first:]], []


def _refused(block: Any, text: str) -> dict[str, Any]:
    """A block of refusal with another text."""
    if block["type"] == "refusal":
        return {**block, "refusal": text}
    return {**block, "value": {**block["value"], "refusal": text}}


def _is_reasoning(block: Block) -> bool:
    return isinstance(block, dict) and block.get("type") in _REASONING


def _wordless(value: Any) -> Any:
    """A reasoning block (or a part of one) without its words."""
    if isinstance(value, str):
        return ""
    if isinstance(value, dict):
        return {key: v if key in _NO_WORDS else _wordless(v) for key, v in value.items()}
    return [] if isinstance(value, list) else value


def is_text(block: Block) -> bool:
    """Whether a block of a message's content is plain text."""
    return isinstance(block, str) or block.get("type") == "text"


def _blocks(content: Sequence[Block], text: str) -> list[Block]:
    """The blocks with ``text`` in place of the first one of text."""
    texts = [block for block in content if is_text(block)]
    dicts = [block for block in texts if isinstance(block, dict)]
    notes = {
        "annotations": [note for block in dicts for note in _notes(block)],
        # Their positions are those of the cited document, which stays as it is.
        "citations": [note for block in dicts for note in block.get("citations") or ()],
    }
    kept = {key: found for key, found in notes.items() if found}
    new: Block = {"type": "text", "text": text, **kept}
    if not texts:
        return [*content, new] if text else [*content]
    first = next(i for i, block in enumerate(content) if is_text(block))
    rest = [block for block in content[first:] if not is_text(block)]
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
