"""The schemas and examples of the proxy's routes in ``/openapi.json``."""

from __future__ import annotations

from typing import get_args

from franq_guard.records import Status
from franq_guard.serve.documents import (
    ANSWER_HEADERS,
    ANSWER_SCHEMA,
    EXTENSION_SCHEMA,
    Schema,
    refusals,
)

CHAT_SCHEMA: Schema = {
    "type": "object",
    "description": "As the upstream takes it; `franq` is taken out before.",
    "properties": {
        "model": {"type": "string"},
        "messages": {"type": "array", "items": {"type": "object"}},
        "stream": {"type": ["boolean", "null"]},
        "franq": EXTENSION_SCHEMA,
    },
}
CHAT_EXAMPLE = {
    "model": "any",
    "messages": [{"role": "user", "content": "Who built the mill?"}],
    "franq": {"passages": ["Ann Baker built the mill in Norwich."]},
}
_REPORT: Schema = {
    "type": "object",
    "required": ["id", "status", "warnings", "choices"],
    "properties": {
        "id": {"type": "string"},
        "status": {
            "enum": [*get_args(Status), "none"],
            "description": "Of the claims of all texts; none: the reply has no text.",
        },
        "warnings": {"type": "array", "items": {"type": "string"}},
        "choices": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["index", "field", "answer"],
                "properties": {
                    "index": {"type": "integer"},
                    "field": {"enum": ["content", "refusal"]},
                    "answer": ANSWER_SCHEMA,
                },
            },
        },
    },
}
_COMPLETION: Schema = {
    "type": "object",
    "required": ["choices", "franq"],
    "properties": {"choices": {"type": "array", "items": {"type": "object"}}, "franq": _REPORT},
}
_HEADERS: Schema = {
    **ANSWER_HEADERS,
    "x-franq-status": {
        "description": "As status of the report. A stream has the report's id alone.",
        "schema": {"enum": [*get_args(Status), "none"]},
    },
    "x-franq-report-id": {
        "description": "Of the report at /v1/reports/{id}.",
        "schema": {"type": "string"},
    },
}
_UPSTREAMS: dict[int | str, Schema] = {
    "default": {"description": "An error of the upstream, as it came: its status and its body."}
}
_BROKEN: Schema = {
    "description": "The upstream cannot be reached, broke off or cannot be read, or it sent an "
    "error with status 200, which is passed on as it came.",
    "content": {"application/json": {"schema": {"type": "object", "required": ["error"]}}},
}
CHAT_REPLIES: dict[int | str, Schema] = {
    200: {
        "description": "The upstream's completion with checked texts, or a stream of its chunks.",
        "headers": _HEADERS,
        "content": {
            "application/json": {"schema": _COMPLETION},
            "text/event-stream": {"schema": {"type": "string"}},
        },
    },
    **refusals(401, 403, 408, 413, 415, 422, 503, 504),
    502: _BROKEN,
    **_UPSTREAMS,
}
MODELS_REPLIES: dict[int | str, Schema] = {**refusals(401, 502, 503, 504), **_UPSTREAMS}
REPORT_REPLIES: dict[int | str, Schema] = {
    200: {
        "description": "The object franq of that reply.",
        "content": {"application/json": {"schema": _REPORT}},
    },
    **refusals(401, 404),
}
REPORT_PARAMETERS: list[Schema] = [
    {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
]
