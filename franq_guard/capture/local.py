"""The local models of a framework's chain or engine: their tokens, and guards that use them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from franq_guard.guard import Guard
    from franq_guard.language_model import LlamaCppModel, Recorder, TransformersModel
    from franq_guard.records import Generation

_log = logging.getLogger(__name__)


class LocalModel:
    """One local model in use by the application; thread-safe.

    The tokens of a transformers model are recorded as it generates. Those of a ``llama_cpp.Llama``
    are not: the guard scores its answers afterwards, under their prompts.

    Args:
        guard: what checks the answers.
        model: a causal model of transformers, or a ``Llama`` made with ``logits_all=True``, in use
            by the application.
        tokenizer: the tokenizer of a transformers model; None for a ``Llama``, which has its own.

    Raises:
        AttributeError, NotImplementedError, TypeError, ValueError: for a model that cannot be
            recorded or asked, or a ``Llama`` that does not keep all logits.
    """

    def __init__(self, guard: Guard, model: Any, tokenizer: Any = None) -> None:
        from franq_guard.language_model import LlamaCppModel, Recorder, TransformersModel

        self._base, self._model = guard, model
        self._scorer: LlamaCppModel | TransformersModel
        self._recorder: Recorder | None = None
        if tokenizer is None:
            self._scorer = LlamaCppModel(model)
        else:
            self._scorer = TransformersModel(model, tokenizer)
            self._recorder = Recorder.attach(model, tokenizer)
        self.tokenizer = self._scorer.tokenizer
        self._guard: Guard | None = None
        self._lock = threading.Lock()

    @property
    def guard(self) -> Guard:
        """The guard with this model as its language model, without loading a second copy."""
        with self._lock:
            if self._guard is None:
                self._guard = self._base.using(language_model=self._scorer)
            return self._guard

    @property
    def recorded(self) -> bool:
        """Whether its tokens are recorded as it writes; otherwise it scores answers afterwards."""
        return self._recorder is not None

    def generation(self, text: str, prompt: str) -> Generation | None:
        """The recording of ``text`` under ``prompt``; None if this model did not write it."""
        if self._recorder is None:
            return None
        return self._signed(self._recorder.find(text, prompt=prompt))

    def ended_at(self, text: str, prompt: str | None) -> float:
        """When it had written ``text``, by ``time.monotonic``; minus infinity if it has not.

        ``prompt``: None if it is not known.
        """
        found = None if self._recorder is None else self._recorder.ended_at(text, prompt)
        return -inf if found is None else found

    def recalled(self, text: str, parts: Iterable[str]) -> Generation | None:
        """The recording of a recent ``text`` under a prompt that contains all ``parts``.

        For calls whose exact prompt is not known: the framework added text to it, or the call was
        not observed (a cached answer, another node of a graph).
        """
        found = self._recorder.find(text) if self._recorder is not None else None
        prompt = (found.prompt or "") if found is not None else ""
        return self._signed(found) if all(part in prompt for part in parts) else None

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of the model as a writer."""
        model = self.guard.language_model
        return None if model is None else model.fingerprint

    def _signed(self, found: Generation | None) -> Generation | None:
        """The generation with this model as its writer."""
        return None if found is None else replace(found, writer=self.fingerprint)

    def __reduce__(self) -> tuple[type[LocalModel], tuple[Guard, Any, Any]]:
        # A new object, because a copy needs a lock and a recorder of its own.
        tokenizer = self.tokenizer if self.recorded else None
        return type(self), (self._base, self._model, tokenizer)


def check_recorded(models: Iterable[LocalModel], name: str, instead: str) -> None:
    """Reject a model that would have to score answers while it may be writing another one.

    A ``Llama`` serves one call at a time: a call in between would overwrite its state and change
    the application's answer.

    Args:
        models: the application's models.
        name: of the wrapper that would call the model; for the message.
        instead: what to do instead; for the message.

    Raises:
        ValueError: for a model that is not recorded.
    """
    if not all(model.recorded for model in models):
        raise ValueError(
            f"{name} would ask the application's llama.cpp model for log-probabilities while it "
            f"writes, and it serves one call at a time: {instead}"
        )


def live_models(pairs: Iterable[tuple[Any, Any]], guard: Guard) -> list[LocalModel]:
    """Each of the (model, tokenizer) ``pairs`` as a :class:`LocalModel`; (Llama, None) for a Llama.

    A model that cannot be recorded (an encoder-decoder, a runtime other than torch, one in training
    mode) is left out with a warning; its answers come without log-probabilities.
    """
    found = []
    for model, tokenizer in pairs:
        with left_out_if_unfit(model):
            found.append(LocalModel(guard, model, tokenizer))
    return found


@contextmanager
def left_out_if_unfit(model: Any) -> Iterator[None]:
    """Warn, instead of breaking the application, if ``model`` cannot be recorded."""
    try:
        yield
    except (AttributeError, NotImplementedError, TypeError, ValueError) as error:
        _log.warning("tokens of %s are not captured: %s", type(model).__name__, error)
