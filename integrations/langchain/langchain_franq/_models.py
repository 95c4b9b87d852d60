"""The chain's own local models, and messages as the prompt that such a model saw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage

from franq_guard.capture.local import LocalModel, live_models
from langchain_franq._find import local_models

if TYPE_CHECKING:
    from franq_guard import Guard


def models_of(chain: Any, guard: Guard) -> list[LocalModel]:
    """The local models in ``chain``, each with its recorder attached; see :func:`live_models`."""
    return live_models(local_models(chain), guard)


def templated(model: LocalModel, messages: Sequence[BaseMessage]) -> str | None:
    """The string that the model's chat template makes of ``messages``; None without a template."""
    if not getattr(model.tokenizer, "chat_template", None):
        return None
    roles = [{"role": role_of(m), "content": str(m.text)} for m in messages]
    text = model.tokenizer.apply_chat_template(roles, tokenize=False, add_generation_prompt=True)
    return str(text)


def role_of(message: BaseMessage) -> str:
    """The chat template's role for the author of a message."""
    if isinstance(message, SystemMessage):
        return "system"
    return "assistant" if isinstance(message, AIMessage) else "user"
