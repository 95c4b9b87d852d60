"""The live local models of a framework's chain or engine: their tokens, and a guard on them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from franq_guard.guard import Guard
    from franq_guard.language_model import LanguageModel
    from franq_guard.records import Generation

_log = logging.getLogger(__name__)


class LocalModel:
    """One live (model, tokenizer) pair, recorded as it generates; safe to use from many threads.

    Args:
        guard: what checks the answers.
        model: a causal model of transformers, in use by the application.
        tokenizer: its tokenizer.

    Raises:
        AttributeError, TypeError, ValueError: for a model that cannot be recorded.
    """

    def __init__(self, guard: Guard, model: Any, tokenizer: Any) -> None:
        from franq_guard.language_model import Recorder

        self.tokenizer = tokenizer
        self._base, self._model = guard, model
        self._recorder = Recorder.attach(model, tokenizer)
        self._guard: Guard | None = None
        self._lock = threading.Lock()

    @property
    def guard(self) -> Guard:
        """The guard with this very model as its language model: no second copy is loaded."""
        with self._lock:
            if self._guard is None:
                self._guard = self._base.using(language_model=self._scorer())
            return self._guard

    def _scorer(self) -> LanguageModel:
        from franq_guard.language_model import TransformersModel

        return TransformersModel(self._model, self.tokenizer)

    def generation(self, text: str, prompt: str) -> Generation | None:
        """What this model wrote under ``prompt``, if it was this model that wrote it."""
        return self._recorder.find(text, prompt=prompt)

    def recalled(self, text: str, parts: Iterable[str]) -> Generation | None:
        """A recent ``text`` of this model under a prompt that holds all ``parts``.

        For calls whose exact prompt is not known: the framework wrapped it, or nobody observed the
        call (a cached answer, another node of a graph).
        """
        found = self._recorder.find(text)
        prompt = (found.prompt or "") if found is not None else ""
        return found if all(part in prompt for part in parts) else None


class LlamaModel(LocalModel):
    """One live ``llama_cpp.Llama``: its answers are read again under their prompts, not recorded.

    Args:
        guard: what checks the answers.
        llama: made with ``logits_all=True``, in use by the application.

    Raises:
        ValueError: for a ``Llama`` that keeps too few logits.
    """

    def __init__(self, guard: Guard, llama: Any) -> None:
        from franq_guard.language_model import LlamaCppModel

        self._own = LlamaCppModel(llama)
        self.tokenizer = self._own.tokenizer
        self._base, self._model = guard, llama
        self._guard: Guard | None = None
        self._lock = threading.Lock()

    def generation(self, text: str, prompt: str) -> Generation | None:
        """None: nothing is recorded."""
        return None

    def recalled(self, text: str, parts: Iterable[str]) -> Generation | None:
        """None: nothing is recorded."""
        return None

    def _scorer(self) -> LanguageModel:
        return self._own


def live_models(pairs: Iterable[tuple[Any, Any]], guard: Guard) -> list[LocalModel]:
    """The (model, tokenizer) ``pairs`` with their recorders attached; a ``Llama`` comes with None.

    One that cannot be recorded (an encoder-decoder, a runtime other than torch) is left out with a
    warning: the guard's own language model reads its answers.
    """
    found = []
    for model, tokenizer in pairs:
        try:
            own = tokenizer is None
            live = LlamaModel(guard, model) if own else LocalModel(guard, model, tokenizer)
            found.append(live)
        except (AttributeError, TypeError, ValueError) as error:
            _log.warning("tokens of %s are not captured: %s", type(model).__name__, error)
    return found
