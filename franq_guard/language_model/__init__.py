"""Language models: log-probabilities, capture, sampling, prompts without evidence.

Importing this package loads neither torch nor transformers; each name loads what it needs on first
use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from franq_guard.basics.lazy_names import lazy_names

if TYPE_CHECKING:
    from franq_guard.language_model.base import Contrast as Contrast
    from franq_guard.language_model.base import LanguageModel as LanguageModel
    from franq_guard.language_model.base import MissingModelError as MissingModelError
    from franq_guard.language_model.base import Progress as Progress
    from franq_guard.language_model.base import Prompt as Prompt
    from franq_guard.language_model.evidence_removal import Removal as Removal
    from franq_guard.language_model.evidence_removal import remove_evidence as remove_evidence
    from franq_guard.language_model.llama_cpp.model import LlamaCppModel as LlamaCppModel
    from franq_guard.language_model.loading import language_model_from as language_model_from
    from franq_guard.language_model.prompts import question_prompt as question_prompt
    from franq_guard.language_model.prompts import rag_prompt as rag_prompt
    from franq_guard.language_model.server.completions import ServerError as ServerError
    from franq_guard.language_model.server.completions import (
        UntrustworthyServerError as UntrustworthyServerError,
    )
    from franq_guard.language_model.server.model import ServerModel as ServerModel
    from franq_guard.language_model.session import Session as Session
    from franq_guard.language_model.session import session_of as session_of
    from franq_guard.language_model.tokens import token_spans as token_spans
    from franq_guard.language_model.transformers.model import (
        TransformersModel as TransformersModel,
    )
    from franq_guard.language_model.transformers.recorder import Recorder as Recorder
    from franq_guard.language_model.transformers.smollm2 import load_bundled as load_bundled

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Contrast LanguageModel MissingModelError Progress Prompt": "base",
        "Removal remove_evidence": "evidence_removal",
        "LlamaCppModel": "llama_cpp.model",
        "language_model_from": "loading",
        "question_prompt rag_prompt": "prompts",
        "ServerError UntrustworthyServerError": "server.completions",
        "ServerModel": "server.model",
        "Session session_of": "session",
        "token_spans": "tokens",
        "TransformersModel": "transformers.model",
        "Recorder": "transformers.recorder",
        "load_bundled": "transformers.smollm2",
    },
)
