"""Sessions, which score an answer while it grows.

A model may have sessions of its own that read each token once; any other model scores the whole
answer again each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from franq_guard.language_model.base import LanguageModel
from franq_guard.records import Generation


class Session(Protocol):
    """One growing answer under one prompt.

    A session may also have ``recent(answer, since)``, which returns only the tokens from character
    ``since`` on, so that the work for a long answer does not grow with its length each time.
    """

    def score(self, answer: Generation) -> Generation:
        """The answer so far, as :meth:`LanguageModel.score` returns it."""
        ...

    def close(self) -> None:
        """Free the cache; a later :meth:`score` starts from the beginning."""
        ...


class PlainSession:
    """A session for any language model: it scores the whole answer so far each time."""

    def __init__(self, model: LanguageModel, prompt: str | Sequence[int]) -> None:
        self._model, self._prompt = model, prompt

    def score(self, answer: Generation) -> Generation:
        """The answer so far, scored by the model itself."""
        return self._model.score([self._prompt], [answer])[0]

    def close(self) -> None:
        """Do nothing: there is no cache."""


def session_of(model: LanguageModel, prompt: str | Sequence[int]) -> Session:
    """The model's own ``session(prompt)`` if it has one, else a :class:`PlainSession`."""
    own = getattr(model, "session", None)
    made: Session = PlainSession(model, prompt) if own is None else own(prompt)
    return made
