"""Reads and validates the body of a request, and writes JSON replies."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from starlette.responses import Response

from franq_guard.policy import Policy
from franq_guard.records import GuardedAnswer, Passage, Trace
from franq_guard.rows.traces import kind, passages_from, trace_from_dict
from franq_guard.serve.errors import ServeError
from franq_guard.serve.settings import Route, ServeSettings

_EXTENSION_KEYS = ("question", "passages", "deadline", "on_error")
_MAX_VALUES = 1_000_000
"""Most commas and opening brackets of a body, strings included: the parser lets no other request
in, and 16 MiB of empty lists would take it seconds."""


def json_of(body: bytes) -> Any:
    """The JSON of a body.

    Raises:
        ServeError: 413, if it may have too many values; 422, if it is not JSON in UTF-8 or is
            nested too deep.
    """
    if sum(map(body.count, (b",", b"[", b"{"))) > _MAX_VALUES:
        message = f"the JSON has more than {_MAX_VALUES} commas and opening brackets"
        raise ServeError(413, "too_many_values", message)
    try:
        return strict_json(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise bad_request(f"the body is not UTF-8: byte {error.start}", "not_utf8") from None
    except RecursionError:
        raise bad_request("the JSON is nested too deep", "too_deep") from None
    except ValueError as error:  # names the place, not the text
        raise bad_request(f"the body is not JSON: {error}", "not_json") from None


def strict_json(text: str | bytes) -> Any:
    """The value in ``text``, which cannot hold NaN or infinity: neither could be sent on.

    Raises:
        ValueError: for anything else than JSON.
        RecursionError: if it is nested too deep.
    """
    return json.loads(text, parse_constant=_reject_constant, parse_float=_finite)


def object_of(body: bytes) -> dict[str, Any]:
    """The JSON object of a body.

    Raises:
        ServeError: 422, for anything else.
    """
    value = json_of(body)
    if not isinstance(value, dict):
        raise bad_request(f"the body must be a JSON object, not {kind(value)}")
    return value


def trace_of_row(row: dict[str, Any], settings: ServeSettings) -> Trace:
    """A ``franq.trace/1`` row as a trace.

    Raises:
        ServeError: 413 if it exceeds a limit, 422 if it is invalid.
    """
    check_size(settings, (), row.get("answer"), row.get("claims"))
    samples = _as_list(row.get("samples"))
    if len(samples) > settings.max_samples:
        raise _too_many("too_many_samples", "samples", len(samples), settings.max_samples)
    for sample in samples:
        text = sample.get("text") if isinstance(sample, Mapping) else sample
        check_size(settings, (), text, None)
    for name in ("question", "prompt", "contrast"):
        check_length(settings, name, row.get(name))
    try:
        trace = trace_from_dict(row)
    except ValueError as error:
        raise bad_request(str(error)) from None
    check_size(settings, trace.passages, None)
    return trace


def check_size(
    settings: ServeSettings, passages: Iterable[Passage], answer: object, claims: object = None
) -> None:
    """Refuse answers that are too large to check; values of a wrong type are checked elsewhere.

    Raises:
        ServeError: 413, if a limit is exceeded.
    """
    passages = list(passages)
    for code, unit, count, limit in (
        ("too_many_passages", "passages", len(passages), settings.max_passages),
        (
            "passages_too_long",
            "characters of passages",
            size_of(passages),
            settings.max_passage_chars,
        ),
        (
            "answer_too_long",
            "characters of the answer",
            len(answer) if isinstance(answer, str) else 0,
            settings.max_answer_chars,
        ),
        ("too_many_claims", "claims", len(_as_list(claims)), settings.max_claims),
        (
            "claims_too_long",
            "characters of the claims",
            sum(map(_length, _as_list(claims))),
            settings.max_answer_chars,
        ),
    ):
        if count > limit:
            raise _too_many(code, unit, count, limit)


def _length(claim: object) -> int:
    """Characters of a given claim, which may be in an object."""
    text = claim.get("text") if isinstance(claim, Mapping) else claim
    return len(text) if isinstance(text, str) else 0


def size_of(passages: Iterable[Passage]) -> int:
    """Characters of the passages, with their titles and ids."""
    return sum(len(p.text) + len(p.title) + len(p.id or "") for p in passages)


def check_length(settings: ServeSettings, name: str, text: object) -> None:
    """Refuse a question or prompt that is too long; values of a wrong type are checked elsewhere.

    Raises:
        ServeError: 413, naming it.
    """
    limit = settings.max_passage_chars
    if isinstance(text, str) and len(text) > limit:
        raise ServeError(413, f"{name}_too_long", f"the {name} has more than {limit} characters")


def _too_many(code: str, unit: str, count: int, limit: int) -> ServeError:
    return ServeError(413, code, f"{count} {unit}: this service takes {limit} at most")


def check_extension(extension: object) -> None:
    """Refuse an extension object ``franq`` of the wrong form.

    If it was ignored, or a key of it, its passages would be missing without any error, or a request
    would not be as strict as it asks to be.

    Raises:
        ServeError: 422, naming the field.
    """
    if extension is None:
        return
    if not isinstance(extension, Mapping):
        raise bad_request("'franq' must be an object")
    if not extension.keys() <= {*_EXTENSION_KEYS}:
        raise bad_request(f"'franq' has an unknown key: it takes {', '.join(_EXTENSION_KEYS)}")
    question, passages = extension.get("question"), extension.get("passages")
    if not isinstance(question, (str, type(None))):
        raise bad_request("'franq': 'question' must be a string")
    if not isinstance(passages, (list, type(None))):
        raise bad_request("'franq': 'passages' must be a list")
    try:
        passages_from(passages or ())
    except ValueError as error:
        raise bad_request(f"'franq': {error}") from None


def deadline_of(*requested: object) -> float | None:
    """The deadline that a request asks for, in seconds: the least of those it sets.

    Args:
        requested: a number, text of one, or None, from each place where a request can set it.

    Raises:
        ServeError: 422, if a value is not a positive number.
    """
    deadlines = [_seconds(value) for value in requested if value is not None]
    return min(deadlines, default=None)


def closed_of(settings: ServeSettings, route: Route, *requested: object) -> bool:
    """Whether claims that could not be checked count as weak.

    Args:
        settings: the service's settings; a request may only be stricter.
        route: the route of the request.
        requested: ``open``, ``closed`` or None, from each place where a request can set it.

    Raises:
        ServeError: 422, for other values, and for ``open`` if the settings say ``closed``.
    """
    values = [value for value in requested if value is not None]
    if any(value not in ("open", "closed") for value in values):
        raise bad_request("on_error must be 'open' or 'closed'")
    closed = settings.closed_on(route)
    if closed and "open" in values:
        raise bad_request("this service is on_error=closed: a request cannot be less strict")
    return closed or "closed" in values


def warnings_of(answers: Iterable[GuardedAnswer], policy: Policy) -> list[str]:
    """The labels in these answers that a reader should know of, the worst first.

    Args:
        answers: the checked answers.
        policy: decides which labels these are: its weak ones, and ``unverified``.
    """
    labels = {verdict.label for answer in answers for verdict in answer.verdicts}
    return [label for label in policy.marked if label in labels]


def answer_headers(
    status: str, answers: Collection[GuardedAnswer], policy: Policy
) -> dict[str, str]:
    """Reply headers that summarize answers: labels and reasons only, because proxies log headers.

    Args:
        status: of all the answers.
        answers: the checked answers.
        policy: see :func:`warnings_of`.
    """
    unverified = [v for answer in answers for v in answer.verdicts if v.label == "unverified"]
    answer_reasons = {answer.reason for answer in answers} - {None}
    reasons = sorted(filter(None, {verdict.reason for verdict in unverified} | answer_reasons))
    return {
        "x-franq-status": status,
        "x-franq-warnings": ",".join(warnings_of(answers, policy)),
        **({"x-franq-on-error": policy.on_error} if answer_reasons or unverified else {}),
        **({"x-franq-unverified": ",".join(reasons)} if reasons else {}),
    }


def json_reply(value: object, *, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON reply, escaped to ASCII: texts may contain lone surrogates, invalid in UTF-8."""
    return Response(json_line(value), headers=headers, media_type="application/json")


def json_line(value: object) -> str:
    """One line of JSON."""
    return json.dumps(value, allow_nan=False) + "\n"


def bad_request(message: str, code: str = "bad_request") -> ServeError:
    """The error for an invalid request: status 422."""
    return ServeError(422, code, message)


def _seconds(value: object) -> float:
    number = math.nan
    if not isinstance(value, bool) and isinstance(value, (int, float, str)):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            number = math.nan
    if not 0 < number < math.inf:
        raise bad_request("the deadline must be a positive number of seconds")
    return number


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _finite(digits: str) -> float:
    """The number; ``1e999`` is valid JSON, but infinite as a float."""
    if math.isinf(number := float(digits)):
        raise ValueError("a number is too large")
    return number


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
