"""The methods of a model that a prompt reading and a session need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from franq_guard.language_model.encoding import Encoder
from franq_guard.language_model.transformers.network import Network
from franq_guard.language_model.transformers.token_scores import TokenScores
from franq_guard.records import Generation


class WhiteBox(Protocol):
    """The internal interface of a :class:`~franq_guard.language_model.TransformersModel`."""

    network: Network
    encoder: Encoder
    top_k: int

    @property
    def eos_ids(self) -> frozenset[int]:
        """Ids that end an answer."""
        ...

    def score(
        self, prompts: Sequence[str | Sequence[int]], answers: Sequence[Generation]
    ) -> list[Generation]:
        """Score each answer under its prompt from the beginning."""
        ...

    def generation(
        self, prompt: str, encoded: list[int], ids: list[int], kept: TokenScores
    ) -> Generation:
        """The record of generated ids (T,) and their scores (T,)."""
        ...
