"""Finds a model's other texts in an output besides the answer; puts all checked texts in place.

Such texts stand anywhere in the output, or were written by models inside an agent's tools.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from franq_guard import GuardedAnswer
from franq_guard.capture.fields import is_named
from franq_guard.capture.job import Job
from franq_guard.capture.marked import FEWEST_WORDS
from franq_guard.capture.outlet import REPORT_KEY
from langchain_franq._blocks import written_in_blocks
from langchain_franq._capture import Capture
from langchain_franq._messages import Report, text_of, with_text
from langchain_franq._shapes import Located
from langchain_franq._texts import Path, given_texts, is_passage, mapped, texts_in
from langchain_franq._turns import BY_A_MODEL_KEY

_WORD = re.compile(r"\w+")

Checked = Mapping[str, tuple[str, Report]]
"""The checked text and the report for each raw text."""

ALSO_CHECKED_KEY = "also_checked"
"""The report's entry for the top-level keys of texts that were checked besides the answer."""


def texts_to_check(output: Any, located: Located, given: Any, capture: Capture) -> dict[str, Path]:
    """The texts of an output that must be checked besides the answer, and the first place of each.

    For a structured output these are its named fields. Otherwise they are the texts that repeat
    what models of this run (``capture``) wrote or a part of the answer, and every AI message,
    unless it was in the input (``given``). A passage is checked only if a model wrote it of its
    own. A text of two or three words must be all that a model wrote; a single one (a route, a
    label) is left alone, unless it is a message.
    """
    if located.fields:
        return {t: p for p, t in texts_in(output) if t.strip() and is_named(p, located.fields)}
    known = given_texts(given)
    ai_texts = {text_of(m) for m in _messages_of(output) if isinstance(m, AIMessage)}
    stretches = _stretches([located.text, *capture.texts])
    whole = {text.strip() for text in capture.texts if len(_WORD.findall(text)) > 1}

    def is_raw(path: Path, text: str) -> bool:
        if not text.strip() or text in known or (path == located.path and text == located.text):
            return False
        all_of_one = text.strip() in whole
        if is_passage(path):
            written = capture.written_in(text, given)
            return any(all_of_one or len(part.split()) >= FEWEST_WORDS for part in written)
        repeats = not stretches.isdisjoint(_stretches([text]))
        return all_of_one or text == located.text or text in ai_texts or repeats

    found: dict[str, Path] = {}
    for path, text in texts_in(output):
        if is_raw(path, text):
            found.setdefault(text, path)
    return found


def tool_texts(output: Any, capture: Capture) -> list[str]:
    """The texts of tools among the messages of an output that a model wrote in this run."""
    texts: list[str] = []
    for message in _tools_of(output):
        text = str(message.text)
        texts += [text] if capture.wrote_in_a_tool(text) else []
        texts += written_in_blocks(message, capture.wrote_inside_tools)
    return list(dict.fromkeys(texts))


def with_blocks(message: BaseMessage, checked: Checked, report: Report) -> BaseMessage:
    """A tool's message with the checked texts in its blocks, marked as a model's.

    ``report``: of one of these texts, for a message that has none.
    """
    content = mapped(message.content, lambda _, text: checked.get(text, (text, {}))[0])
    known = message.response_metadata
    marked_report = {**(known.get(REPORT_KEY) or report), BY_A_MODEL_KEY: True}
    update = {"content": content, "response_metadata": {**known, REPORT_KEY: marked_report}}
    return message.model_copy(update=update)


def with_checked(
    output: Any,
    jobs: Sequence[Job],
    answers: Sequence[GuardedAnswer],
    capture: Capture,
    known: Collection[str],
) -> Any:
    """``output`` with the checked texts in place of the raw ones; its tools' messages get reports.

    Args:
        output: what a chain or node returned.
        jobs: one for each text.
        answers: the checked texts, in the same order.
        capture: of the run.
        known: texts of the input, which stay as they are.
    """
    by_raw_text = {
        job.lead + answer.original: (job.lead + answer.text, answer.to_dict())
        for job, answer in zip(jobs, answers, strict=True)
    }
    texts = {raw: new for raw, (new, _) in by_raw_text.items() if raw and raw not in known}
    of_tools = _with_tool_texts(output, by_raw_text, capture)
    return mapped(of_tools, lambda _, text: texts.get(text, text))


def _with_tool_texts(output: Any, checked: Checked, capture: Capture) -> Any:
    def checked_message(message: ToolMessage) -> BaseMessage:
        new: BaseMessage = message
        if (raw := str(message.text)) in checked and capture.wrote_in_a_tool(raw):
            text, report = checked[raw]
            new = with_text(message, text, {**report, BY_A_MODEL_KEY: True})
        in_blocks = written_in_blocks(message, capture.wrote_inside_tools)
        in_blocks = [text for text in in_blocks if text in checked]
        return with_blocks(new, checked, checked[in_blocks[0]][1]) if in_blocks else new

    changed = {id(message): checked_message(message) for message in _tools_of(output)}
    if not changed:
        return output
    return {**output, "messages": [changed.get(id(m), m) for m in output["messages"]]}


def _tools_of(output: Any) -> list[ToolMessage]:
    """The messages of tools in an output, but for those that a guard has checked."""
    tools = (message for message in _messages_of(output) if isinstance(message, ToolMessage))
    return [message for message in tools if REPORT_KEY not in message.response_metadata]


def _messages_of(output: Any) -> Sequence[Any]:
    held = output.get("messages") if isinstance(output, Mapping) else None
    return held if isinstance(held, (list, tuple)) else ()


def _stretches(texts: Iterable[str]) -> set[tuple[str, ...]]:
    """All sequences of ``FEWEST_WORDS``; a shorter text has none."""
    found: set[tuple[str, ...]] = set()
    for text in texts:
        words = tuple(word.lower() for word in _WORD.findall(text))
        found |= {words[i : i + FEWEST_WORDS] for i in range(len(words) - FEWEST_WORDS + 1)}
    return found
