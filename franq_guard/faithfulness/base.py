"""The interface that every faithfulness model implements."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from franq_guard.records import Evidence, Passage


@runtime_checkable
class FaithfulnessModel(Protocol):
    """Estimates whether a text is entailed by another.

    ``fingerprint`` identifies the weights and the options that affect the scores. A calibrator is
    valid only for the fingerprint it was fitted with.
    """

    @property
    def fingerprint(self) -> str:
        """Stable name of weights and options."""

    def score(self, contexts: Sequence[str], claims: Sequence[str]) -> list[float]:
        """P(faithful) in [0, 1] of each (context, claim) pair; both of length n.

        An empty context scores 0; an empty claim raises ``ValueError``.
        """

    def nli(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        """Probabilities (n, 3) of entailment, neutral, contradiction for each pair."""

    def evidence(
        self, passages: Sequence[Passage | str], claims: Sequence[str]
    ) -> list[Evidence | None]:
        """For each claim, the part of one passage that supports it best.

        None where no passage has text.
        """


def languages_of(model: FaithfulnessModel) -> Collection[str] | None:
    """The languages (ISO 639-1 codes) that the model was trained on.

    A model lists them in its attribute ``languages``. If the attribute is missing or None, the
    model accepts any language. The guard leaves answers in other languages unverified.
    """
    languages: Collection[str] | None = getattr(model, "languages", None)
    return languages


def folder_of(model: FaithfulnessModel) -> Path | None:
    """The folder of the model's weights, where they do not come with the package; else None.

    A model has it in its attribute ``weights_folder``. Calibrators that lie there and were fitted
    with the model are used with it.
    """
    folder: str | Path | None = getattr(model, "weights_folder", None)
    return None if folder is None else Path(folder)


@runtime_checkable
class PassageScorer(Protocol):
    """A model that takes a list of passages and decides itself whether to join them."""

    def score_passages(
        self, passages: Sequence[Sequence[Passage | str]], claims: Sequence[str]
    ) -> list[float]:
        """P(faithful) in [0, 1] of each claim given its list of passages; both of length n."""


class PassageNli(Protocol):
    """A model that decides itself which of a text's passages are worth reading beside it."""

    def nli_passages(
        self, passages: Sequence[Sequence[Passage | str]], hypotheses: Sequence[str]
    ) -> list[NDArray[np.float64]]:
        """Probabilities (k, 3) of the three classes for each hypothesis and its k passages."""


def texts_of(passages: Sequence[Passage | str]) -> tuple[str, ...]:
    """The text of each passage.

    Raises:
        TypeError: one text, whose letters would be taken for passages.
    """
    if isinstance(passages, str):
        raise TypeError("give a list of passages, not one text")
    return tuple(p if isinstance(p, str) else p.text for p in passages)


def check_pairs(contexts: Sequence[object], claims: Sequence[str]) -> None:
    """Refuse what is no list of pairs.

    Raises:
        TypeError: one text in place of a list.
        ValueError: the lengths differ.
    """
    if isinstance(contexts, str) or isinstance(claims, str):
        raise TypeError("give lists of texts, not one text")
    if len(contexts) != len(claims):
        raise ValueError(f"{len(contexts)} contexts for {len(claims)} claims: give one for each")


def check_claims(claims: Sequence[str]) -> None:
    """Refuse blank claims.

    Raises:
        TypeError: one text in place of a list.
        ValueError: a claim is blank.
    """
    if isinstance(claims, str):
        raise TypeError("give lists of texts, not one text")
    for index, claim in enumerate(claims):
        if not claim.strip():
            raise ValueError(f"claim {index} is empty: there is nothing to score")
