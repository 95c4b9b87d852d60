"""The schemas and examples of the gateway's protocol in ``/openapi.json``."""

from __future__ import annotations

from franq_guard.serve.documents import EXTENSION_SCHEMA, Schema

REQUEST_SCHEMA: Schema = {
    "type": "object",
    "description": "A call of LiteLLM's generic guardrail API; fields not named here are ignored.",
    "required": ["input_type"],
    "properties": {
        "input_type": {"enum": ["request", "response"]},
        "texts": {"type": ["array", "null"], "items": {"type": "string"}},
        "litellm_call_id": {"type": ["string", "null"]},
        "structured_messages": {"type": ["array", "null"], "items": {"type": "object"}},
        "request_data": {"type": ["object", "null"]},
        "additional_provider_specific_params": {
            "type": ["object", "null"],
            "properties": {"franq": EXTENSION_SCHEMA},
        },
    },
}
REQUEST_EXAMPLE = {
    "input_type": "response",
    "litellm_call_id": "b3f2",
    "texts": ["Beethoven was born in Bonn. He lived to be 90 years old."],
    "additional_provider_specific_params": {
        "franq": {
            "question": "Where was Ludwig van Beethoven born?",
            "passages": [
                {"text": "Beethoven was born in Bonn in December 1770. He died in Vienna at 56."}
            ],
        }
    },
}
REPLY_SCHEMA: Schema = {
    "type": "object",
    "description": "What the gateway must do with the texts.",
    "required": ["action"],
    "properties": {
        "action": {"enum": ["NONE", "BLOCKED", "GUARDRAIL_INTERVENED"]},
        "blocked_reason": {"type": "string"},
        "texts": {"type": "array", "items": {"type": "string"}},
        "stream_holdback_chars": {
            "type": "array",
            "items": {"type": "integer", "minimum": 0},
            "description": "For each text, how many of its last characters may still change.",
        },
    },
}
REPLY_EXAMPLE = {
    "action": "GUARDRAIL_INTERVENED",
    "texts": ["Beethoven was born in Bonn. He lived to be 90 years old [likely false]."],
    "stream_holdback_chars": [44],
}
