"""What ``/openapi.json`` says of requests and replies; the examples are valid and tested."""

from __future__ import annotations

from typing import Any, get_args

from franq_guard.records import Label, Source, Status

Schema = dict[str, Any]

_REFUSALS = {
    401: ("A token is needed that the service knows.", "wrong_token"),
    404: ("There is no such thing, or no more.", "not_found"),
    413: ("The body, the passages or the answer are too large.", "too_large"),
    422: ("The request cannot be read; the message says where.", "bad_request"),
    500: ("The service failed.", "internal"),
    503: ("Too many answers wait; the header Retry-After says when to try again.", "queue_full"),
}

ERROR_SCHEMA: Schema = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
        }
    },
}
STATUS_SCHEMA: Schema = {
    "type": "object",
    "required": ["status"],
    "properties": {"status": {"type": "string"}},
}

_SPAN = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2}
_TRUTH = {"enum": [True, False, 0, 1, None]}
_TOKEN: Schema = {
    "type": "object",
    "description": "A token of the text; all of them tile it, in characters.",
    "required": ["start", "end", "logprob"],
    "properties": {
        "start": {"type": "integer", "minimum": 0},
        "end": {"type": "integer", "minimum": 0},
        "logprob": {"type": ["number", "null"], "maximum": 0, "description": "In nats."},
        "entropy": {"type": ["number", "null"], "description": "In nats."},
    },
}
_TOKENS = {"type": ["array", "null"], "items": _TOKEN}
PASSAGE_SCHEMA: Schema = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "required": ["text"],
            "properties": {
                "text": {"type": "string"},
                "title": {"type": ["string", "null"]},
                "id": {"type": ["string", "null"]},
            },
        },
    ]
}
DEADLINE = {"type": ["number", "null"], "exclusiveMinimum": 0}
ON_ERROR = {"enum": ["open", "closed", None]}
TRACE_SCHEMA: Schema = {
    "type": "object",
    "description": "franq.trace/1: an answer, what it was asked and what was retrieved for it.",
    "required": ["question", "passages", "answer"],
    "properties": {
        "schema": {"type": "string"},
        "id": {"type": ["string", "integer", "null"]},
        "question": {"type": "string", "pattern": "\\S"},
        "passages": {"type": "array", "items": PASSAGE_SCHEMA},
        "answer": {"type": "string"},
        "prompt": {"type": ["string", "null"], "description": "What the model saw."},
        "tokens": _TOKENS,
        "source": {
            "enum": [*get_args(Source), None],
            "description": "Where the tokens' log-probabilities come from; default: a server.",
        },
        "writer": {
            "type": ["string", "null"],
            "description": "Fingerprint of the model that wrote the answer.",
        },
        "samples": {
            "type": ["array", "null"],
            "description": "Other answers to the same prompt.",
            "items": {
                "anyOf": [
                    {"type": "string"},
                    {
                        "type": "object",
                        "required": ["text"],
                        "properties": {"text": {"type": "string"}, "tokens": _TOKENS},
                    },
                ]
            },
        },
        "claims": {
            "type": ["array", "null"],
            "description": "Checked instead of splitting the answer.",
            "items": {
                "type": "object",
                "required": ["text"],
                "properties": {
                    "text": {"type": "string", "minLength": 1},
                    "spans": {"type": ["array", "null"], "items": _SPAN},
                    "is_true": _TRUTH,
                    "is_faithful": _TRUTH,
                },
            },
        },
        "deadline": {**DEADLINE, "description": "Seconds; past them: unverified, timeout."},
        "on_error": {
            **ON_ERROR,
            "description": "closed: claims that could not be checked count as weak.",
        },
    },
}
TRACE_EXAMPLE = {
    "id": "1",
    "question": "Where was Ludwig van Beethoven born?",
    "passages": [
        {"title": "Ludwig van Beethoven", "text": "Beethoven was born in Bonn in December 1770."}
    ],
    "answer": "Beethoven was born in Bonn. He lived to be 90 years old.",
}

_SHARE = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_VERDICT: Schema = {
    "type": "object",
    "required": ["claim", "p_true", "p_faithful", "uq_faith", "uq_unfaith", "raw", "label"],
    "properties": {
        "claim": {
            "type": "object",
            "required": ["text", "spans"],
            "properties": {
                "text": {"type": "string"},
                "spans": {"type": "array", "items": _SPAN},
                "context": {"type": "string"},
                "not_a_claim": {"type": "string"},
            },
        },
        "p_true": _SHARE,
        "p_faithful": _SHARE,
        "uq_faith": _SHARE,
        "uq_unfaith": _SHARE,
        "raw": {"type": "object", "additionalProperties": {"type": ["number", "null"]}},
        "label": {"enum": list(get_args(Label))},
        "reason": {"type": ["string", "null"]},
        "evidence": {"type": ["object", "null"]},
        "against": {"type": ["object", "null"]},
        "citations": {"type": "array", "items": {"type": "object"}},
    },
}
ANSWER_SCHEMA: Schema = {
    "type": "object",
    "description": "franq.answer/1: the text after the policy, and a verdict for each claim.",
    "required": ["schema", "text", "original", "status", "verdicts", "calibrator", "timings"],
    "properties": {
        "schema": {"const": "franq.answer/1"},
        "id": {"type": "string"},
        "text": {"type": "string"},
        "original": {"type": "string"},
        "status": {"enum": list(get_args(Status))},
        "verdicts": {"type": "array", "items": _VERDICT},
        "calibrator": {"type": ["string", "null"]},
        "timings": {"type": "object", "additionalProperties": {"type": "number"}},
    },
}


def _verdict_example(text: str, start: int, end: int, p: float, label: Label) -> dict[str, Any]:
    return {
        "claim": {"text": text, "spans": [[start, end]]},
        "p_true": p,
        "p_faithful": p,
        "uq_faith": 0.9,
        "uq_unfaith": 0.2,
        "raw": {"faithfulness": p, "uq_faith": -1.2, "uq_unfaith": -9.7},
        "label": label,
        "reason": None,
        "evidence": {"passage": 0, "start": 0, "end": 44} if label == "supported" else None,
    }


ANSWER_EXAMPLE = {
    "schema": "franq.answer/1",
    "id": "1",
    "text": "Beethoven was born in Bonn. He lived to be 90 years old [likely false].",
    "original": TRACE_EXAMPLE["answer"],
    "status": "ok",
    "verdicts": [
        _verdict_example("Beethoven was born in Bonn.", 0, 27, 0.97, "supported"),
        _verdict_example("He lived to be 90 years old.", 28, 56, 0.06, "false"),
    ],
    "calibrator": "default",
    "timings": {"claims": 0.002, "faithfulness": 0.05, "language_model": 0.3, "franq": 0.001},
}

ANSWER_HEADERS: Schema = {
    "x-franq-status": {
        "description": "ok, partial or unverified.",
        "schema": {"enum": list(get_args(Status))},
    },
    "x-franq-warnings": {
        "description": "The labels of weak and unverified claims, with commas between.",
        "schema": {"type": "string"},
    },
    "x-franq-unverified": {
        "description": "Why claims could not be checked, with commas between; else missing.",
        "schema": {"type": "string"},
    },
}
REQUEST_HEADERS: list[Schema] = [
    {
        "name": "x-franq-deadline",
        "in": "header",
        "description": "Seconds an answer may take; past them its claims are unverified.",
        "schema": {"type": "number", "exclusiveMinimum": 0, "example": 5},
    },
    {
        "name": "x-franq-on-error",
        "in": "header",
        "description": "closed: claims that could not be checked count as weak.",
        "schema": {"enum": ["open", "closed"], "example": "closed"},
    },
]


def documented(schema: Schema, example: object, *, headers: Schema | None = None) -> Schema:
    """A reply in JSON."""
    content = {"application/json": {"schema": schema, "example": example}}
    described = {"description": schema.get("description", "What it says."), "content": content}
    return {**described, "headers": headers} if headers else described


def body(kind: str, schema: Schema, example: object) -> Schema:
    """The body of a request, of the media type ``kind``."""
    return {"required": True, "content": {kind: {"schema": schema, "example": example}}}


def refusals(*statuses: int) -> dict[int | str, Schema]:
    """The replies to requests that are refused."""
    return {
        status: {
            "description": _REFUSALS[status][0],
            "content": {
                "application/json": {
                    "schema": ERROR_SCHEMA,
                    "example": {
                        "error": {"code": _REFUSALS[status][1], "message": _REFUSALS[status][0]}
                    },
                }
            },
        }
        for status in statuses
    }
