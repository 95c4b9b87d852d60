"""Asks a language model of any framework for text, and reads JSON from its reply."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from franq_guard.basics.template_marks import after_thoughts

_SCHEMA: dict[str, Any] = {
    "title": "Claims",
    "description": "Facts that the sentences state.",
    "type": "object",
    "properties": {
        "claims": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "sentence": {"type": "integer"},
                    "number": {"type": "integer"},
                    "claim": {"type": "string"},
                    "words": {"type": "string"},
                },
            },
        }
    },
    "required": ["claims"],
}


class NoReplyError(Exception):
    """The model returned nothing usable; ``cause`` is "error", "refusal" or "broken_json"."""

    def __init__(self, cause: str, detail: str = "") -> None:
        super().__init__(f"{cause}: {detail}" if detail else cause)
        self.cause = cause


def as_ask(llm: Any) -> Callable[[str], Any]:
    """A function from a prompt to a reply (text or parsed JSON).

    ``llm`` is a LangChain chat model (``invoke``, with structured output if it supports that), a
    LlamaIndex LLM (``complete``) or any callable ``str -> str`` (or to such a model's message); no
    framework is imported.

    Raises:
        TypeError: ``llm`` is none of these.
    """
    if hasattr(llm, "invoke"):
        return _langchain(llm)
    if hasattr(llm, "complete"):
        return lambda prompt: str(llm.complete(prompt).text)
    if callable(llm):
        return lambda prompt: _content(llm(prompt))
    raise TypeError(
        f"{type(llm).__name__} is no language model: pass a function str -> str, a LangChain chat"
        " model (it has .invoke) or a LlamaIndex LLM (it has .complete)"
    )


def _langchain(llm: Any) -> Callable[[str], Any]:
    try:
        structured = llm.with_structured_output(_SCHEMA)
    except (AttributeError, NotImplementedError, TypeError, ValueError, ImportError):
        return lambda prompt: _content(llm.invoke(prompt))

    def ask(prompt: str) -> Any:
        try:
            reply = structured.invoke(prompt)
        except TimeoutError:
            raise
        except Exception:  # many servers refuse the schema, or the reply does not fit it
            reply = None
        return reply if isinstance(reply, Mapping) else _content(llm.invoke(prompt))

    return ask


def _content(message: Any) -> Any:
    """The text of a message, which is a string or a list of content blocks, or parsed JSON."""
    content = getattr(message, "content", message)
    if isinstance(content, Mapping):
        return content
    if isinstance(content, list):
        return "".join(x if isinstance(x, str) else str(x.get("text", "")) for x in content)
    return str(content)


def entries(reply: Any) -> list[Mapping[str, Any]]:
    """The objects of the "claims" list of a reply.

    Drafts in a model's reasoning do not count. Code fences, words around the JSON, trailing commas
    and a reply that was cut off are tolerated:
    every complete object that has a "claim" or "words" key counts.

    Raises:
        NoReplyError: there is none.
    """
    if isinstance(reply, Mapping):
        listed = reply.get("claims")
        found = [x for x in listed if isinstance(x, Mapping)] if isinstance(listed, list) else []
    else:
        found = list(objects(after_thoughts(str(reply)), ("claim", "words")))
    if not found and not _says_none(reply):
        raise NoReplyError("broken_json", str(reply)[:80])
    return found


def _says_none(reply: Any) -> bool:
    """Whether the reply is well-formed and its list is empty."""
    text = str(reply).replace(" ", "").replace("\n", "").replace("'", '"')
    return '"claims":[]' in text


def objects(text: str, keys: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Innermost ``{...}`` of the text that parse as JSON and have one of ``keys``.

    Braces inside strings do not count; linear time.
    """
    start = -1
    quoted = escaped = False
    for k, char in enumerate(text):
        if escaped or (quoted and char == "\\"):
            escaped = not escaped
        elif char == '"' and start >= 0:
            quoted = not quoted
        elif quoted:
            continue
        elif char == "{":
            start = k
        elif char == "}" and start >= 0:
            parsed = _parse(text[start : k + 1])
            if parsed is not None and any(key in parsed for key in keys):
                yield parsed
            start = -1


def _parse(text: str) -> Mapping[str, Any] | None:
    for candidate in (text, text.rstrip("} \n").rstrip(", \n") + "}"):
        try:
            value = json.loads(candidate, strict=False)
        except (ValueError, RecursionError):  # no JSON, or brackets in brackets without end
            continue
        if isinstance(value, dict):
            return value
    return None
