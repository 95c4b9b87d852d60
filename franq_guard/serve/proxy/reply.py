"""A reply that comes as a whole: its texts checked, all else of it known or left out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from franq_guard.records import GuardedAnswer
from franq_guard.serve.errors import ServeError
from franq_guard.serve.proxy.judge import Judge
from franq_guard.serve.proxy.reports import Place, Report
from franq_guard.serve.proxy.request import ChatRequest
from franq_guard.serve.proxy.told import OF_PROMPT, tokens_of, told_by
from franq_guard.serve.proxy.wire import MalformedError, read_json
from franq_guard.serve.settings import UpstreamKind

TEXTS = ("content", "refusal")
"""Fields of a message whose text is checked."""
HEAD = ("id", "object", "created", "model", "system_fingerprint", "service_tier", "usage")
"""What passes of a reply besides its choices."""
UNTOUCHED = ("role", "tool_calls", "function_call")
"""What passes of a message besides its texts. All else may hold text that nobody checked, such as
the model's reasoning or audio, and is left out."""
REASONING = ("reasoning", "reasoning_content")
"""Fields of a message whose text is left out; its tokens are among those of the choice."""
OF_CHOICE = ("index", "finish_reason", "stop_reason")


async def guarded_reply(
    judge: Judge,
    chat: ChatRequest,
    body: bytes,
    generation_seconds: float,
    *,
    kind: UpstreamKind,
) -> tuple[dict[str, Any], Report]:
    """The upstream's completion with checked texts, and the report on them.

    Raises:
        ServeError: if it is no completion, a text is too long, or too many answers wait.
    """
    completion = _completion(body)
    choices = completion["choices"]
    texts = {
        (choice["index"], name): text
        for choice in choices
        for name in TEXTS
        if (text := text_of(choice["message"].get(name))).strip()
    }
    started = time.perf_counter()
    known = told_by(kind, completion)
    told = {choice["index"]: replace(known, tokens=tokens_of(choice)) for choice in choices}
    found = await asyncio.gather(
        *(
            judge.whole(chat, text, told[index] if name == "content" else known)
            for (index, name), text in texts.items()
        )
    )
    judge.checker.generated(time.perf_counter() - started, generation_seconds)
    report = Report(dict(zip(texts, found, strict=True)), judge.checker.policy(closed=chat.closed))
    made = [_choice(chat, choice, report.answers) for choice in choices]
    head = {**only(completion, HEAD), **of_prompt(chat, completion)}
    return {**head, "choices": made}, report


def only(item: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """What ``item`` has of ``names``."""
    return {name: item[name] for name in names if name in item}


def text_of(value: Any) -> str:
    """A text, or the texts of a list of parts; empty for anything else."""
    if isinstance(value, list):
        parts = [part.get("text") for part in value if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return value if isinstance(value, str) else ""


def of_prompt(chat: ChatRequest, reply: Mapping[str, Any]) -> dict[str, Any]:
    """What a reply tells of the client's own prompt, where the client itself asked for it."""
    return only(reply, tuple(told for asked, told in OF_PROMPT.items() if chat.wants(asked)))


def unchanged(answers: Mapping[Place, GuardedAnswer], index: int) -> bool:
    """Whether the texts of a choice leave as the model wrote them: only then may its tokens."""
    found = [answer for (i, _), answer in answers.items() if i == index]
    return all(answer.text == answer.original for answer in found)


def _completion(body: bytes) -> dict[str, Any]:
    """A completion whose choices have messages, and numbers of their own."""
    try:
        found = read_json(body)
    except MalformedError as error:
        raise _malformed(str(error)) from None
    choices = found.get("choices") if isinstance(found, dict) else None
    if not isinstance(choices, list) or not all(
        isinstance(choice, dict) and isinstance(choice.get("message"), dict) for choice in choices
    ):
        raise _malformed("no choices with messages")
    return {**found, "choices": [{**choice, "index": i} for i, choice in enumerate(choices)]}


def _malformed(what: str) -> ServeError:
    return ServeError(502, "upstream_malformed", f"the upstream's reply cannot be read: {what}")


def _choice(
    chat: ChatRequest, choice: Mapping[str, Any], answers: Mapping[Place, GuardedAnswer]
) -> dict[str, Any]:
    index, message = choice["index"], choice["message"]
    made = only(message, UNTOUCHED)
    for name in TEXTS:
        if name in message:
            answer = answers.get((index, name))
            made[name] = answer.text if answer is not None else _blank(message[name])
    as_written = unchanged(answers, index) and not any(map(message.get, REASONING))
    kept = as_written and chat.wants_logprobs
    found = {**only(choice, OF_CHOICE), "message": made}
    found["logprobs"] = choice.get("logprobs") if kept else None
    asked = as_written and chat.wants("return_token_ids")
    return {**found, **only(choice, ("token_ids",))} if asked else found


def _blank(value: Any) -> str | None:
    """A text without words, as one; None for what is no text."""
    return value if isinstance(value, str) else None
