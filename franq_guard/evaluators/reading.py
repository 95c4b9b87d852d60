"""Extracts question, passages and answer from the free-form inputs and outputs of a traced run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from franq_guard.capture.evidence import (
    PASSAGE_KEYS,
    EvidenceFrom,
    chosen_passages,
    usual_passages,
)
from franq_guard.records import Generation, Trace
from franq_guard.rows.fields import KNOWN


def _keys(ours: str) -> tuple[str, ...]:
    """The usual keys of a field; dotted paths are left out because the values are not nested."""
    return (ours, *(name for name in KNOWN[ours] if "." not in name))


QUESTION_KEYS, ANSWER_KEYS = _keys("question"), (*_keys("answer"), "text", "content")
_CHATS = ("messages", "input", "output")
_WRITERS = {"question": ("user", "human"), "answer": ("assistant", "ai")}


def trace_of_run(
    inputs: Any, outputs: Any, evidence: EvidenceFrom | None = None, *, beside: Any = None
) -> Trace:
    """The question, passages and answer of one run, ready to be checked.

    Args:
        inputs: the question, or a mapping that contains it, or a chat's messages, of which the
            last one of the user counts.
        outputs: the answer, or a mapping that contains it, or messages, of which the last one of
            the assistant counts; also a chat completion of OpenAI's interface. A single message
            may stand for a text.
        evidence: where to find the passages if neither has them under a usual key: a key, a dotted
            path, or a function of inputs and outputs.
        beside: a mapping that was given beside them; its passages come first.

    Raises:
        ValueError: if there is no question or no answer; names the keys that were tried.
        KeyError: if there is nothing at the key or path ``evidence``.
    """
    apart = (evidence,) if isinstance(evidence, str) else ()
    question = _text(inputs, QUESTION_KEYS, "question", "inputs", apart)
    answer = _text(outputs, ANSWER_KEYS, "answer", "outputs", apart)
    found = (
        usual_passages(beside, outputs, inputs)
        if evidence is None
        else chosen_passages(evidence, inputs, outputs)
    )
    return Trace(question, tuple(found), Generation(answer))


def _text(value: Any, keys: Sequence[str], what: str, where: str, apart: Sequence[str]) -> str:
    writers = _WRITERS[what]
    found = _said(value, writers)
    if isinstance(value, Mapping):
        named = [text for key in keys if (text := _said(value.get(key), writers)) is not None]
        guessed = (
            None if any(key in value for key in (*keys, *_CHATS)) else _only_text(value, apart)
        )
        found = named[0] if named else found or guessed
    if found is None or (what == "question" and not found.strip()):
        raise ValueError(
            f"no {what} in the {where}: give a string, a chat's messages, or a mapping with one of "
            f"{', '.join(keys)}"
        )
    return found


def _said(value: Any, writers: Collection[str]) -> str | None:
    """A text, or the text of the last message of one of ``writers`` in a chat."""
    if isinstance(value, str):
        return value
    chats = [value]
    if isinstance(value, Mapping):
        choices = value.get("choices")
        chats += [value.get(key) for key in _CHATS]
        chats += [[_part(c, "message") for c in choices]] if isinstance(choices, list) else []
    messages = [m for chat in chats for m in (chat if isinstance(chat, (list, tuple)) else [chat])]
    for message in reversed(messages):
        writer = _part(message, "role") or _part(message, "type")
        if writer in writers and (text := _text_of_message(message)).strip():
            return text
        if writer in _WRITERS["question"]:
            return None  # an answer to an earlier question is none to this one
    return None


def _text_of_message(message: Any) -> str:
    """The text of a message, which may be in blocks."""
    content = _part(message, "content")
    blocks = content if isinstance(content, (list, tuple)) else [content]
    texts = (block if isinstance(block, str) else _part(block, "text") for block in blocks)
    return "\n".join(text for text in texts if isinstance(text, str))


def _part(whole: Any, name: str) -> Any:
    return whole.get(name) if isinstance(whole, Mapping) else getattr(whole, name, None)


def _only_text(value: Mapping[str, Any], apart: Sequence[str]) -> str | None:
    """If a mapping has only one text, that must be the value, whatever its key.

    Not what is known to be something else: the passages of a run without an answer would be
    checked against themselves, and pass; what an application says of a failure is no answer.
    """
    others = (*PASSAGE_KEYS, "error", *apart)
    texts = [text for key, text in value.items() if isinstance(text, str) and key not in others]
    return texts[0] if len(texts) == 1 else None
