"""The language model room: log-probabilities, capture, sampling, prompts without evidence.

Importing this package loads neither torch nor transformers; the names below load what they need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from franq_guard.language_model.base import Contrast as Contrast
    from franq_guard.language_model.base import LanguageModel as LanguageModel
    from franq_guard.language_model.base import MissingModelError as MissingModelError
    from franq_guard.language_model.base import Prompt as Prompt
    from franq_guard.language_model.evidence_removal import Removal as Removal
    from franq_guard.language_model.evidence_removal import remove_evidence as remove_evidence
    from franq_guard.language_model.llama_cpp.model import LlamaCppModel as LlamaCppModel
    from franq_guard.language_model.prompts import question_prompt as question_prompt
    from franq_guard.language_model.prompts import rag_prompt as rag_prompt
    from franq_guard.language_model.server.completions import ServerError as ServerError
    from franq_guard.language_model.server.completions import (
        UntrustworthyServerError as UntrustworthyServerError,
    )
    from franq_guard.language_model.server.model import ServerModel as ServerModel
    from franq_guard.language_model.tokens import token_spans as token_spans
    from franq_guard.language_model.transformers.model import (
        TransformersModel as TransformersModel,
    )
    from franq_guard.language_model.transformers.recorder import Recorder as Recorder
    from franq_guard.language_model.transformers.smollm2 import load_bundled as load_bundled

_HOME = {
    "Contrast": "base",
    "LanguageModel": "base",
    "LlamaCppModel": "llama_cpp.model",
    "MissingModelError": "base",
    "Prompt": "base",
    "Recorder": "transformers.recorder",
    "Removal": "evidence_removal",
    "ServerError": "server.completions",
    "ServerModel": "server.model",
    "TransformersModel": "transformers.model",
    "UntrustworthyServerError": "server.completions",
    "load_bundled": "transformers.smollm2",
    "question_prompt": "prompts",
    "rag_prompt": "prompts",
    "remove_evidence": "evidence_removal",
    "token_spans": "tokens",
}

__all__ = [
    "Contrast",
    "LanguageModel",
    "LlamaCppModel",
    "MissingModelError",
    "Prompt",
    "Recorder",
    "Removal",
    "ServerError",
    "ServerModel",
    "TransformersModel",
    "UntrustworthyServerError",
    "load_bundled",
    "question_prompt",
    "rag_prompt",
    "remove_evidence",
    "token_spans",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
