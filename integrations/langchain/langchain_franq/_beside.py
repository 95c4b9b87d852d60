"""Finds a model's other texts in an output besides the answer, so that these are checked too."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from langchain_core.messages import AIMessage

from langchain_franq._capture import Capture
from langchain_franq._shapes import Located
from langchain_franq._texts import Path, given_texts, is_named_by, is_passage, mapped, texts_in

_WORD = re.compile(r"\w+")
_STRETCH = 4  # words in a row; fewer (a route, a label) do not show where a text is from

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
        return {t: p for p, t in texts_in(output) if t.strip() and is_named_by(located.fields, p)}
    known, said = given_texts(given), _of_messages(output)
    stretches = _stretches([located.text, *capture.texts])
    whole = {text.strip() for text in capture.texts if len(_WORD.findall(text)) > 1}

    def is_raw(path: Path, text: str) -> bool:
        if not text.strip() or text in known or (path == located.path and text == located.text):
            return False
        all_of_one = text.strip() in whole
        if is_passage(path):
            own = capture.own_in(text, given)
            return any(all_of_one or len(part.split()) >= _STRETCH for part in own)
        repeats = not stretches.isdisjoint(_stretches([text]))
        return all_of_one or text == located.text or text in said or repeats

    found: dict[str, Path] = {}
    for path, text in texts_in(output):
        if is_raw(path, text):
            found.setdefault(text, path)
    return found


def put_beside(output: Any, checked: Mapping[str, str], given: Collection[str]) -> Any:
    """``output`` with the raw texts replaced by the checked ones."""
    return mapped(output, lambda _, text: text if text in given else checked.get(text, text))


def _of_messages(output: Any) -> set[str]:
    held = output.get("messages") if isinstance(output, Mapping) else None
    if not isinstance(held, (list, tuple)):
        return set()
    return {str(message.text) for message in held if isinstance(message, AIMessage)}


def _stretches(texts: Iterable[str]) -> set[tuple[str, ...]]:
    """All sequences of ``_STRETCH`` words; a shorter text has none."""
    found: set[tuple[str, ...]] = set()
    for text in texts:
        words = tuple(word.lower() for word in _WORD.findall(text))
        if len(words) >= _STRETCH:
            found |= {words[i : i + _STRETCH] for i in range(len(words) - _STRETCH + 1)}
    return found
