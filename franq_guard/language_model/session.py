"""An answer scored while it grows: each token is read once, after a prompt that is read once.

Parametric Knowledge of a claim (arXiv 2505.21072, section 3) then costs its own tokens only, not
the prompt and the whole answer before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from franq_guard.language_model.base import LanguageModel
from franq_guard.language_model.transformers.reading import Reading
from franq_guard.language_model.transformers.reduce import Kept, cat
from franq_guard.records import Generation


class Session(Protocol):
    """One growing answer under one prompt."""

    def score(self, answer: Generation) -> Generation:
        """The answer so far, as :meth:`LanguageModel.score` returns it."""
        ...

    def close(self) -> None:
        """Let go of what is held; a later :meth:`score` begins anew."""
        ...


class CachedSession:
    """A session of a :class:`~franq_guard.language_model.TransformersModel`; for one thread.

    The numbers are those of ``model.score`` on the answer so far (within 1e-4). An answer that is
    not the last one continued (its last token was another) is read from where it differs. Where
    prompt and answer leave the model's window, or its cache cannot be continued, all is read anew.

    Args:
        model: the model.
        prompt: the prompt's string or ids.
    """

    def __init__(self, model: Any, prompt: str | Sequence[int]) -> None:
        self._model, self._prompt = model, prompt
        self._encoded: list[int] = model.encoder.prompt_ids(prompt)
        self._reading: Reading | None = None
        self._ids: list[int] = []
        self._kept: Kept | None = None

    def score(self, answer: Generation) -> Generation:
        """The answer so far with the log-probability (nats) of every token."""
        ready = self._model.encoder.answer(answer, self._encoded)
        ids = [token.id for token in ready.tokens]
        window = self._model.network.window
        if not ids or (window is not None and len(self._encoded) + len(ids) > window):
            self.close()
            again: Generation = self._model.score([self._prompt], [ready])[0]
            return again
        kept = self._read(ids)
        spans = [(token.start, token.end) for token in ready.tokens]
        text = self._prompt
        if not isinstance(text, str):
            text = self._model.encoder.prompt_text(self._encoded)
        tokens = kept.tokens(ids, spans)
        return Generation(ready.text, tokens, text, tuple(self._encoded), "teacher-forced")

    def close(self) -> None:
        """Let go of the cache."""
        self._reading, self._ids, self._kept = None, [], None

    def _read(self, ids: list[int]) -> Kept:
        if self._reading is None:
            self._reading = Reading(self._model.network, self._encoded)
        pairs = zip(self._ids, ids, strict=False)
        known = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(self._ids), len(ids)))
        parts = [] if self._kept is None else [self._kept.rows(slice(known))]
        if known < len(ids):
            context = [*self._encoded, *ids[:known]]
            parts.append(self._reading.score(context, ids[known:], top_k=self._model.top_k))
        self._ids, self._kept = ids, cat(parts)
        return self._kept


class PlainSession:
    """A session of any language model: the answer so far is scored as a whole each time."""

    def __init__(self, model: LanguageModel, prompt: str | Sequence[int]) -> None:
        self._model, self._prompt = model, prompt

    def score(self, answer: Generation) -> Generation:
        """The answer so far, scored by the model itself."""
        return self._model.score([self._prompt], [answer])[0]

    def close(self) -> None:
        """Nothing is held."""


def session_of(model: LanguageModel, prompt: str | Sequence[int]) -> Session:
    """The model's own ``session(prompt)`` where it offers one, else one that scores it anew."""
    own = getattr(model, "session", None)
    made: Session = PlainSession(model, prompt) if own is None else own(prompt)
    return made
