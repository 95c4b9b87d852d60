"""The schemas and examples of requests and replies in ``/openapi.json``; tests validate them."""

from __future__ import annotations

from typing import Any, get_args

from franq_guard.basics.unchecked import Unchecked
from franq_guard.records import WEAK, Label, Source, Status
from franq_guard.report.words import LABEL_WORDS, REASON_WORDS

Schema = dict[str, Any]

_REFUSALS = {
    401: ("A valid token is required.", "wrong_token"),
    403: ("A page of another site asks a service without tokens.", "foreign_page"),
    404: ("It does not exist, or no longer.", "not_found"),
    408: ("The client stopped sending the body.", "client_stalled"),
    413: ("The body, the passages or the answer are too large.", "too_large"),
    415: ("The body is compressed.", "compressed"),
    422: ("The request cannot be read; the message says where.", "bad_request"),
    500: ("The service failed.", "internal"),
    502: ("The upstream cannot be reached, broke off or cannot be read.", "upstream_unreachable"),
    503: ("No more is taken now; the header Retry-After says when to try again.", "queue_full"),
    504: ("The upstream was silent too long.", "upstream_timeout"),
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
_TRUTH_LABEL = {"enum": [True, False, 0, 1, None]}
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
EXTENSION_SCHEMA: Schema = {
    "type": ["object", "null"],
    "description": "All of it is optional.",
    "properties": {
        "question": {"type": ["string", "null"]},
        "passages": {"type": ["array", "null"], "items": PASSAGE_SCHEMA},
        "deadline": DEADLINE,
        "on_error": ON_ERROR,
    },
    "additionalProperties": False,
}
"""Our object ``franq`` in a request to the proxy or from a gateway."""
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
            "description": "Checked as given, and what they leave of the answer as it is split.",
            "items": {
                "type": "object",
                "required": ["text"],
                "properties": {
                    "text": {"type": "string", "minLength": 1},
                    "spans": {"type": ["array", "null"], "items": _SPAN},
                    "is_true": _TRUTH_LABEL,
                    "is_faithful": _TRUTH_LABEL,
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
        {
            "title": "Ludwig van Beethoven",
            "text": "Beethoven was born in Bonn in December 1770. He died in Vienna at 56.",
        }
    ],
    "answer": "Beethoven was born in Bonn. He lived to be 90 years old.",
}

_STRETCH: Schema = {
    "type": ["object", "null"],
    "required": ["passage", "start", "end"],
    "properties": {
        "passage": {"type": "integer", "minimum": 0, "description": "Which one, from 0."},
        "start": {"type": "integer", "minimum": 0},
        "end": {"type": "integer", "minimum": 0},
        "text": {"type": "string", "description": "The stretch itself."},
    },
}
_PROBABILITY = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
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
        "p_true": _PROBABILITY,
        "p_faithful": _PROBABILITY,
        "uq_faith": _PROBABILITY,
        "uq_unfaith": _PROBABILITY,
        "raw": {"type": "object", "additionalProperties": {"type": ["number", "null"]}},
        "label": {
            "enum": list(get_args(Label)),
            "description": "\n".join(
                f"{name}: {words.meaning}" for name, words in LABEL_WORDS.items()
            ),
        },
        "reason": {
            "type": ["string", "null"],
            "description": "Why there is no P(true), or a remark on it; of what is no claim, what "
            "it is.\n" + "\n".join(f"{name}: {meaning}" for name, meaning in REASON_WORDS.items()),
        },
        "evidence": {**_STRETCH, "description": "The stretch that supports the claim best."},
        "against": {
            **_STRETCH,
            "description": "The stretch that contradicts the claim most; null where none does.",
        },
        "differs": {
            "type": "array",
            "description": "Words of a flagged claim and those that the passage has in their "
            'place; "" for a negation that one of them lacks. Missing if nothing surely differs.',
            "items": {
                "type": "object",
                "required": ["claim", "passage"],
                "properties": {"claim": {"type": "string"}, "passage": {"type": "string"}},
            },
        },
        "citations": {"type": "array", "items": {"type": "object"}},
        "flagged": {"type": "boolean", "description": "Whether the policy acts against the claim."},
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
        "reason": {
            "enum": list(get_args(Unchecked)),
            "description": "Why nothing was checked: the answer is blank, or all of it is code, "
            "JSON, a model's reasoning or a bare yes or no.",
        },
        "flagged": {
            "type": "integer",
            "minimum": 0,
            "description": "How many claims the policy acts against: by their label, and those "
            "that are unverified if on_error is closed.",
        },
        "verdicts": {"type": "array", "items": _VERDICT},
        "calibrator": {"type": ["string", "null"]},
        "likelihoods": {
            "type": "string",
            "description": "Whose probabilities entered P(true): captured from MODEL, server, read "
            "by MODEL, or none (the passages alone decided).",
        },
        "timings": {"type": "object", "additionalProperties": {"type": "number"}},
    },
}


def _verdict_example(
    text: str, span: tuple[int, int], p: float, label: Label, **stretch: tuple[int, int]
) -> dict[str, Any]:
    """A verdict decided by the passages alone.

    ``stretch`` gives character ranges in passage 0, by the name ``evidence`` or ``against``.
    """
    faith, unfaith = 0.95, 0.5
    stretches = {name: {"passage": 0, "start": a, "end": b} for name, (a, b) in stretch.items()}
    return {
        "claim": {"text": text, "spans": [list(span)]},
        "p_true": round(p * faith + (1 - p) * unfaith, 3),
        "p_faithful": p,
        "uq_faith": faith,
        "uq_unfaith": unfaith,
        "raw": {"faithfulness": p},
        "label": label,
        "reason": None,
        "evidence": None,
        "against": None,
        **stretches,
        "flagged": label in WEAK,
    }


ANSWER_EXAMPLE = {
    "schema": "franq.answer/1",
    "id": "1",
    "text": "Beethoven was born in Bonn. He lived to be 90 years old [likely false].",
    "original": TRACE_EXAMPLE["answer"],
    "status": "ok",
    "flagged": 1,
    "verdicts": [
        _verdict_example(
            "Beethoven was born in Bonn.", (0, 27), 0.97, "supported", evidence=(0, 44)
        ),
        _verdict_example("He lived to be 90 years old.", (28, 56), 0.02, "false", against=(45, 69)),
    ],
    "calibrator": "any writer",
    "likelihoods": "none",
    "timings": {"claims": 0.002, "faithfulness": 0.05, "franq": 0.001},
}

ANSWER_HEADERS: Schema = {
    "x-franq-status": {
        "description": "Whether all claims were verified, some or none; policy_error: the policy's "
        "own action failed.",
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
    "x-franq-on-error": {
        "description": "What became of claims that could not be checked; else missing.",
        "schema": {"enum": ["open", "closed"]},
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


def described_reply(schema: Schema, example: object, *, headers: Schema | None = None) -> Schema:
    """The OpenAPI description of a JSON reply."""
    content = {"application/json": {"schema": schema, "example": example}}
    reply = {"description": schema.get("description", "The reply."), "content": content}
    return {**reply, "headers": headers} if headers else reply


def request_body(kind: str, schema: Schema, example: object) -> Schema:
    """The OpenAPI description of a request body of the media type ``kind``."""
    return {"required": True, "content": {kind: {"schema": schema, "example": example}}}


def refusals(*statuses: int) -> dict[int | str, Schema]:
    """The OpenAPI descriptions of the error replies with these statuses."""
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
