"""What a prompt reading and a session use of the model that made them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from franq_guard.language_model.encoding import Encoder
from franq_guard.language_model.transformers.network import Network
from franq_guard.language_model.transformers.token_scores import TokenScores
from franq_guard.records import Generation


class WhiteBox(Protocol):
    """The inner side of a :class:`~franq_guard.language_model.TransformersModel`."""

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
        """Each answer under its prompt, scored anew."""
        ...

    def generation(
        self, prompt: str, encoded: list[int], ids: list[int], kept: TokenScores
    ) -> Generation:
        """The record of written ids (T,) and what was kept of their logits (T,)."""
        ...
