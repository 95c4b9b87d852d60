"""An answer that is scored while it grows.

A model may offer sessions of its own that read each token once; any other is asked anew each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from franq_guard.language_model.base import LanguageModel
from franq_guard.records import Generation


class Session(Protocol):
    """One growing answer under one prompt.

    One that also has ``recent(answer, since)`` returns the tokens from character ``since`` on only,
    so that nothing is made again for all of a long answer each time it grows.
    """

    def score(self, answer: Generation) -> Generation:
        """The answer so far, as :meth:`LanguageModel.score` returns it."""
        ...

    def close(self) -> None:
        """Let go of what is held; a later :meth:`score` begins anew."""
        ...


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
