"""Passages in the values that applications pass around: documents, nodes, strings, dicts, states.

A document is recognised by its attributes (``page_content``, ``get_content()``, ``text``), so that
no framework has to be imported.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from franq_guard.basics.awaited import is_async
from franq_guard.basics.names import name_of
from franq_guard.capture.table_rows import ends_as_sentence, row_and_rest, unnamed_row_of
from franq_guard.records import Passage

_log = logging.getLogger(__name__)

PASSAGE_KEYS = (
    "context",
    "contexts",
    "source_documents",
    "input_documents",
    "documents",
    "docs",
    "passages",
    "source_nodes",
    "nodes",
    "chunks",
    "sources",
    "retrieved",
    "retrieved_docs",
    "retrieved_documents",
    "retrieval",
    "search_results",
    "knowledge",
    "evidence",
)
"""The keys under which applications usually keep what they retrieved, in order of preference."""

EvidenceFrom = str | Callable[..., Any]
"""What every wrapper takes as ``evidence=``: a key, a dotted path, or a function."""
EvidenceOfOne = str | Callable[[Any], Any]
"""The same, with a function of one thing: a state, the messages so far."""
EvidenceOfTwo = str | Callable[[Any, Any], Any]
"""The same, with a function of two: what was asked, and what came of it."""

TEXT_KEYS = ("page_content", "text", "content")
"""The keys under which a document that is a mapping has its text."""
NO_PASSAGES = ("question", "query", "input", "answer", "output", "messages", "chat_history")
"""The keys under which applications usually keep what was asked and answered."""
EMPTY_VALUES = ("", "None", "null", "[]", "{}")
"""How frameworks write the value of a tool that found nothing, as a text."""
_ESCAPED = re.compile(r"(?:(?<!\\)\\u[0-9a-fA-F]{4})+")
_NOTICE = 80  # characters
_NAME = 80  # characters
_DIGIT = re.compile(r"\d")
_DONE = re.compile(
    r"\b(?:added|booked|cancell?ed|changed|confirmed|created|deleted|done|noted|ok|placed|recorded"
    r"|removed|reserved|saved|scheduled|sent|stored|submitted|success\w*|transferred|updated)\b",
    re.IGNORECASE,
)
_LONG_PROMPT = 1500  # characters; a prompt this long hardly holds the question alone


def check_evidence(evidence: object) -> None:
    """Reject what is not a key, path or function.

    Raises:
        TypeError, ValueError: the message says what to pass.
    """
    if isinstance(evidence, str) and not evidence.strip("."):
        raise ValueError("evidence= is an empty key: name the key that holds the passages")
    if is_async(evidence):
        raise TypeError("evidence= takes a key or a plain function, not a coroutine function")
    if not (evidence is None or isinstance(evidence, str) or callable(evidence)):
        raise TypeError(
            "evidence= takes a key ('context'), a dotted path ('retrieval.documents') or a function"
            f" that returns the passages, not {type(evidence).__name__}"
        )


def passages_of(value: Any) -> list[Passage]:
    """The passages that ``value`` is or holds, each once, in order.

    A string is one passage (even if it is several documents joined). A document or node is one
    passage. Each item of a list is examined. A dict is a document if it has a text
    (``page_content``, ``text``, ``content``); otherwise its values under :data:`PASSAGE_KEYS` are
    examined, or, if it has none of them, all values except questions and answers. If these are the
    short values of a row (a name, a price, a date), they are one passage of "key: value" lines,
    also beside lists and long texts; so is a tuple of such values. Blank texts, those of
    :data:`EMPTY_VALUES` and all other values are ignored.
    """
    return _distinct(_passages(value))


def usual_passages(*places: Any) -> list[Passage]:
    """The passages of the first of ``places`` that has any under one of :data:`PASSAGE_KEYS`.

    Args:
        places: inputs, outputs or states: mappings, or objects with attributes. Other values (a
            question as a string, a list of messages) have no passages. Neither have ``sources``
            that are names alone, of files or pages, as applications list them beside an answer.
    """
    for place in places:
        for key in PASSAGE_KEYS:
            found = passages_of(_member(place, key))
            if found and not are_names(key, found):
                return found
    return []


def are_names(key: str, passages: Sequence[Passage]) -> bool:
    """Whether what is under ``key`` are the names, numbers and addresses of documents alone."""
    return key == "sources" and all(_is_name(passage.text) for passage in passages)


def chosen_passages(evidence: EvidenceFrom, *places: Any) -> list[Passage]:
    """The passages that a user's ``evidence=`` names.

    Args:
        evidence: a function is called with all ``places``; a key or dotted path (of keys,
            attributes and list indices) is looked up in the last place that has it.
        places: for example a chain's input and its output.

    Raises:
        KeyError: if no place has the key or path.
        Exception: whatever the function raises.
    """
    if not isinstance(evidence, str):
        return passages_of(evidence(*places))
    for place in reversed(places):
        found = _at(place, evidence)
        if found is not None:
            return passages_of(found)
    known = sorted({str(key) for place in places for key in _keys(place)})
    raise KeyError(f"evidence={evidence!r} leads nowhere; there are {known}")


def as_read(text: str) -> str:
    r"""A JSON text with its letters as a model reads them; any other text unchanged.

    Tools often return what ``json.dumps`` makes, which writes "Jürgen" as ``J\u00fcrgen``.
    """
    if _ESCAPED.search(text) is None or not _is_json(text):
        return str(text)
    return _ESCAPED.sub(lambda found: _letters(found.group()), text)


def is_notice(text: str) -> bool:
    """Whether a tool's text only tells that it did something; then its answer rests on other texts.

    That is a short text without a number ("Successfully transferred to billing"), or with a word
    for what was done ("Ticket 4711 created").
    """
    return len(text) <= _NOTICE and (not _DIGIT.search(text) or says_it_is_done(text))


def says_it_is_done(text: str) -> bool:
    """Whether a text has a word for what a tool did: created, saved, confirmed."""
    return bool(_DONE.search(text))


class NoPassagesNote:
    """Logs a warning, once for each wrapper, if a long prompt comes without any passages."""

    def __init__(self) -> None:
        self.warned = False

    def __call__(self, prompt: str | None, passages: Sequence[Passage]) -> None:
        """Examine what was captured of an answer."""
        if self.warned or passages or len(prompt or "") < _LONG_PROMPT:
            return
        self.warned = True
        _log.warning(
            "no passages were found for a prompt of %d characters: if it contains passages, search "
            "in a step of its own (LangChain: RunnableLambda(search)), return them with the answer "
            "(LlamaIndex: source_nodes), or say where they are with evidence= (a key, a dotted "
            "path or a function); without passages every claim is no_evidence. This warning is "
            "logged once",
            len(prompt or ""),
        )


def _passages(value: Any) -> Iterator[Passage]:
    if isinstance(value, Passage):
        yield value
    elif isinstance(value, str):
        if value.strip() not in EMPTY_VALUES:
            yield Passage(as_read(value))
    elif isinstance(value, Mapping):
        yield from _in_mapping(value)
    elif isinstance(value, tuple) and (row := unnamed_row_of(value)):
        yield Passage(row)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _passages(item)
    elif value is not None and not isinstance(value, (bytes, int, float, type)):
        yield from _document(value)


def _in_mapping(value: Mapping[Any, Any]) -> Iterator[Passage]:
    text = next((value[k] for k in TEXT_KEYS if isinstance(value.get(k), str)), None)
    if text is not None:
        about = value.get("metadata")
        known = {**(about if isinstance(about, Mapping) else {}), **_named(value)}
        yield from _made(text, known)
        return
    under = [value[key] for key in PASSAGE_KEYS if key in value]
    others = {} if under else {key: value[key] for key in value if key not in NO_PASSAGES}
    row, rest = row_and_rest(others, (*TEXT_KEYS, *PASSAGE_KEYS))
    yield from _made(row, _named(value))
    yield from _passages(under or rest)


def _is_name(text: str) -> bool:
    short = all(len(line) <= _NAME or " " not in line for line in text.splitlines())
    return short and not ends_as_sentence(text)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _letters(escaped: str) -> str:
    """The letters that JSON escapes stand for; half a pair is left as it is."""
    letters = str(json.loads(f'"{escaped}"'))
    return letters if letters.isprintable() else escaped


def _named(value: Mapping[Any, Any]) -> dict[str, Any]:
    return {key: value[key] for key in ("id", "title", "source") if value.get(key) is not None}


def _document(value: Any) -> Iterator[Passage]:
    """A LangChain Document, a LlamaIndex node (with its score), or a user's class like them.

    The result of an MCP server, or a CitableBlock, has a list of such as its content.
    """
    node = getattr(value, "node", value)
    text = getattr(node, "page_content", None)
    if text is None and callable(content := getattr(node, "get_content", None)):
        text = content()
    if text is None:
        text = getattr(node, "text", None)
    if not isinstance(text, str):
        parts = getattr(node, "content", None)
        yield from _passages(parts if isinstance(parts, list) else None)
        return
    about = getattr(node, "metadata", None)
    ids = (getattr(node, "id", None), getattr(node, "node_id", None))
    yield from _made(text, about if isinstance(about, Mapping) else {}, *ids)


def _made(text: str, about: Mapping[str, Any], *own: object) -> Iterator[Passage]:
    if text.strip():
        number = name_of(*own, about.get("id"), about.get("source"))
        title = name_of(about.get("title"), about.get("file_name"))
        yield Passage(text, title=title, id=number or None, metadata=about)


def _distinct(passages: Iterator[Passage]) -> list[Passage]:
    seen: dict[str, Passage] = {}
    for passage in passages:
        seen.setdefault(passage.text, passage)
    return list(seen.values())


def _at(place: Any, path: str) -> Any:
    """The value at ``path``; None if there is none. A key may itself contain dots."""
    whole = _member(place, path)
    if whole is not None or "." not in path:
        return whole
    for name in path.split("."):
        place = _member(place, name)
    return place


def _member(place: Any, name: str) -> Any:
    if place is None or isinstance(place, str):
        return None
    if isinstance(place, Mapping):
        return place.get(name)
    if isinstance(place, (list, tuple)):
        return place[int(name)] if name.isdigit() and int(name) < len(place) else None
    found = getattr(place, name, None)
    return None if callable(found) and not isinstance(found, str) else found


def _keys(place: Any) -> list[Any]:
    return [*place] if isinstance(place, Mapping) else [*getattr(place, "__dict__", {})]
