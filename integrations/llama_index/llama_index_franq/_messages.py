"""A model's message with its checked text: without reasoning and raw log-probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)

RAW_KEYS = frozenset(
    (
        "logprobs",
        "top_logprobs",
        "raw",
        "raw_response",
        "raw_answer",
        "raw_output",
        "thinking",
        "thinking_delta",
        "reasoning",
        "reasoning_content",
        "unformatted_response",
    )
)
"""Keys under which models, frameworks and users put a model's raw or unparsed output."""

QUERY_KEYS = frozenset(("sql_query", "graph_store_query", "json_path_response_str"))
"""Keys under which LlamaIndex puts the query that a model wrote for a database and that was run."""


_CALLS = ("tool_calls", "function_call")


def with_text(message: ChatMessage, text: str, **more: Any) -> ChatMessage:
    """``message`` with another text; images and citations are kept, reasoning is removed.

    Args:
        message: what the model said.
        text: the checked text.
        more: further ``additional_kwargs``.
    """
    others = [b for b in message.blocks if not isinstance(b, (TextBlock, ThinkingBlock))]
    return ChatMessage(
        role=message.role,
        blocks=[TextBlock(text=text), *others],
        additional_kwargs={**without_raw(message.additional_kwargs), **more},
    )


def calls_alone(message: ChatMessage) -> ChatMessage | None:
    """``message`` with its tool calls and nothing else that a model said; None if it calls none."""
    calls = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    kwargs = {name: message.additional_kwargs.get(name) for name in _CALLS}
    named = {name: value for name, value in kwargs.items() if value}
    if not calls and not named:
        return None
    return ChatMessage(
        role=message.role, blocks=[TextBlock(text=""), *calls], additional_kwargs=named
    )


def without_raw(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """``additional_kwargs`` without what is in :data:`RAW_KEYS`."""
    return {key: value for key, value in kwargs.items() if key not in RAW_KEYS}
