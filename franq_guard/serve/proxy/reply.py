"""A reply that is not streamed: its texts are checked, other fields passed on only if known."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from franq_guard.records import GuardedAnswer
from franq_guard.serve.disconnect import together
from franq_guard.serve.errors import ServeError
from franq_guard.serve.passages import text_of
from franq_guard.serve.proxy.judge import Judge
from franq_guard.serve.proxy.reported import PROMPT_FIELDS, reported_by, tokens_of
from franq_guard.serve.proxy.reports import Report, TextKey
from franq_guard.serve.proxy.request import ChatRequest
from franq_guard.serve.proxy.upstream import UpstreamError
from franq_guard.serve.proxy.wire import MalformedError, read_json
from franq_guard.serve.settings import UpstreamKind

TEXT_FIELDS = ("content", "refusal")
"""Fields of a message whose text is checked."""
REPLY_FIELDS = ("id", "object", "created", "model", "system_fingerprint", "service_tier", "usage")
"""Fields of a reply that are passed on, besides its choices."""
PASSED_ON = ("role", "tool_calls", "function_call")
"""Fields of a message that are passed on, besides its texts. All others are left out: they may
contain unchecked text, such as the model's reasoning, or audio."""
REASONING_FIELDS = ("reasoning", "reasoning_content")
"""Fields of a message whose text is left out, although its tokens are among the choice's tokens."""
CHOICE_FIELDS = ("index", "finish_reason", "stop_reason")


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
        for name in TEXT_FIELDS
        if (text := text_of(choice["message"].get(name), joined_by="")).strip()
    }
    started = time.perf_counter()
    shared = reported_by(kind, completion)
    reported = {choice["index"]: shared.of_text(tokens_of(choice)) for choice in choices}
    checked = await together(
        judge.whole(chat, text, reported[index] if name == "content" else shared)
        for (index, name), text in texts.items()
    )
    judge.checker.generated(time.perf_counter() - started, generation_seconds)
    policy = judge.checker.policy(closed=chat.closed)
    report = Report(dict(zip(texts, checked, strict=True)), policy)
    checked_choices = [_choice(chat, choice, report.answers) for choice in choices]
    fields = {**pick(completion, REPLY_FIELDS), **prompt_fields(chat, completion)}
    return {**fields, "choices": checked_choices}, report


def completion_of(body: bytes) -> dict[str, Any]:
    """Read a completion and number its choices.

    Raises:
        UpstreamError: if it is an error; some gateways send errors of a model with status 200.
        ServeError: if it is no completion.
    """
    try:
        completion = read_json(body)
    except MalformedError as error:
        raise _malformed(str(error)) from None
    if isinstance(completion, dict) and completion.get("error") is not None:
        raise UpstreamError(completion["error"])
    choices = completion.get("choices") if isinstance(completion, dict) else None
    if not isinstance(choices, list) or not all(
        isinstance(choice, dict) and isinstance(choice.get("message"), dict) for choice in choices
    ):
        raise _malformed("no choices with messages")
    numbered = [{**choice, "index": index} for index, choice in enumerate(choices)]
    return {**completion, "choices": numbered}


def pick(item: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The fields ``names`` of ``item``, as far as it has them."""
    return {name: item[name] for name in names if name in item}


def prompt_fields(chat: ChatRequest, reply: Mapping[str, Any]) -> dict[str, Any]:
    """The reply's fields about the prompt (tokens, log-probabilities) that the client asked for."""
    names = [reported for requested, reported in PROMPT_FIELDS.items() if chat.wants(requested)]
    return pick(reply, names)


def is_unchanged(answers: Mapping[TextKey, GuardedAnswer], index: int) -> bool:
    """Whether the policy left the texts of a choice unchanged; only then may tokens be sent."""
    texts = [answer for (i, _), answer in answers.items() if i == index]
    return all(answer.text == answer.original for answer in texts)


def _malformed(problem: str) -> ServeError:
    return ServeError(502, "upstream_malformed", f"the upstream's reply cannot be read: {problem}")


def _choice(
    chat: ChatRequest, choice: Mapping[str, Any], answers: Mapping[TextKey, GuardedAnswer]
) -> dict[str, Any]:
    index, message = choice["index"], choice["message"]
    checked_message = pick(message, PASSED_ON)
    for name in TEXT_FIELDS:
        if name in message:
            answer = answers.get((index, name))
            checked_message[name] = answer.text if answer is not None else _blank(message[name])
    as_written = is_unchanged(answers, index) and not any(map(message.get, REASONING_FIELDS))
    result = {**pick(choice, CHOICE_FIELDS), "message": checked_message, "logprobs": None}
    if as_written and chat.wants_logprobs:
        result["logprobs"] = choice.get("logprobs")
    if as_written and chat.wants("return_token_ids"):
        result |= pick(choice, ("token_ids",))
    return result


def _blank(value: Any) -> str | None:
    """A text without words, as it is; None for a value that is not text."""
    return value if isinstance(value, str) else None
