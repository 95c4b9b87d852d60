"""A reply that is not streamed: its texts are checked, other fields passed on only if known."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from franq_guard.records import GuardedAnswer
from franq_guard.serve.disconnect import together
from franq_guard.serve.errors import ServeError
from franq_guard.serve.passages import text_of
from franq_guard.serve.proxy.judge import Judge
from franq_guard.serve.proxy.reported import OF_PROMPT, reported_by, tokens_of
from franq_guard.serve.proxy.reports import Place, Report
from franq_guard.serve.proxy.request import ChatRequest
from franq_guard.serve.proxy.upstream import UpstreamError
from franq_guard.serve.proxy.wire import MalformedError, read_json
from franq_guard.serve.settings import UpstreamKind

TEXTS = ("content", "refusal")
"""Fields of a message whose text is checked."""
HEAD = ("id", "object", "created", "model", "system_fingerprint", "service_tier", "usage")
"""Fields of a reply that are passed on, besides its choices."""
UNTOUCHED = ("role", "tool_calls", "function_call")
"""Fields of a message that are passed on, besides its texts. All others are left out: they may
contain unchecked text, such as the model's reasoning, or audio."""
REASONING = ("reasoning", "reasoning_content")
"""Fields of a message whose text is left out, although its tokens are among the choice's tokens."""
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
        ServeError: if it is not a completion or a text is too long.
    """
    completion = completion_of(body)
    choices = completion["choices"]
    texts = {
        (choice["index"], name): text
        for choice in choices
        for name in TEXTS
        if (text := text_of(choice["message"].get(name), joined_by="")).strip()
    }
    started = time.perf_counter()
    known = reported_by(kind, completion)
    reported = {choice["index"]: replace(known, tokens=tokens_of(choice)) for choice in choices}
    found = await together(
        judge.whole(chat, text, reported[index] if name == "content" else known)
        for (index, name), text in texts.items()
    )
    judge.checker.generated(time.perf_counter() - started, generation_seconds)
    report = Report(dict(zip(texts, found, strict=True)), judge.checker.policy(closed=chat.closed))
    made = [_choice(chat, choice, report.answers) for choice in choices]
    head = {**only(completion, HEAD), **of_prompt(chat, completion)}
    return {**head, "choices": made}, report


def completion_of(body: bytes) -> dict[str, Any]:
    """Read a completion and number its choices.

    Raises:
        UpstreamError: if it is an error; some gateways send errors of a model with status 200.
        ServeError: if it is no completion.
    """
    try:
        found = read_json(body)
    except MalformedError as error:
        raise _malformed(str(error)) from None
    if isinstance(found, dict) and found.get("error") is not None:
        raise UpstreamError(found["error"])
    choices = found.get("choices") if isinstance(found, dict) else None
    if not isinstance(choices, list) or not all(
        isinstance(choice, dict) and isinstance(choice.get("message"), dict) for choice in choices
    ):
        raise _malformed("no choices with messages")
    return {**found, "choices": [{**choice, "index": i} for i, choice in enumerate(choices)]}


def only(item: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The fields ``names`` of ``item``, as far as it has them."""
    return {name: item[name] for name in names if name in item}


def of_prompt(chat: ChatRequest, reply: Mapping[str, Any]) -> dict[str, Any]:
    """The reply's fields about the prompt (tokens, log-probabilities) that the client asked for."""
    return only(
        reply, tuple(reported for asked, reported in OF_PROMPT.items() if chat.wants(asked))
    )


def unchanged(answers: Mapping[Place, GuardedAnswer], index: int) -> bool:
    """Whether the policy left the texts of a choice unchanged; only then may tokens be sent."""
    found = [answer for (i, _), answer in answers.items() if i == index]
    return all(answer.text == answer.original for answer in found)


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
    """A text without words, as it is; None for a value that is not text."""
    return value if isinstance(value, str) else None
