"""The small model and a language model that reads: for whoever has one loaded anyway.

The language model reads the claim after its passage: words that the passage supports are likely
there, others come as a surprise. A logistic regression joins that with the small model's
probability. Figures: `weights/MODEL_CARD.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol, cast

from franq_guard.faithfulness.base import FaithfulnessModel, PassageScorer, languages_of
from franq_guard.faithfulness.reader.reading import TokenScorer, likelihoods, texts_to_read
from franq_guard.faithfulness.reader.weights import Floats, ReaderWeights
from franq_guard.faithfulness.small.model import SmallFaithfulness, texts_of
from franq_guard.records import Evidence, Passage


class SmallModel(FaithfulnessModel, PassageScorer, Protocol):
    """What is needed of the model beside the language model: it makes the context itself."""


class ReaderFaithfulness:
    """P(faithful) by the small model and a language model; NLI and evidence by the small one alone.

    Thread-safe where the two models are. Of what was retrieved the language model reads the two
    chunks that entail the claim most, about 400 tokens, so its time does not grow with the number
    of passages. A language model that fails makes `score` fail: there is no silent way back to the
    small model alone, whose probabilities have another meaning.

    Args:
        small: the faithfulness model beside it.
        language_model: reads.
        weights: of the logistic regression.

    Raises:
        ReaderWeightsError: the weights were fitted with other models.
    """

    def __init__(
        self, small: SmallModel, language_model: TokenScorer, weights: ReaderWeights
    ) -> None:
        weights.check(small=small.fingerprint, language_model=language_model.fingerprint)
        self._small, self._reader, self._weights = small, language_model, weights
        self.languages: Collection[str] | None = languages_of(small)

    @classmethod
    def bundled(cls, language_model: TokenScorer | Callable[[], TokenScorer]) -> ReaderFaithfulness:
        """The shipped weights, for the bundled language model in float32.

        Args:
            language_model: `load_bundled`, or what it returned.

        Raises:
            ReaderWeightsError: another language model.
            WeightsError, MissingModelError: a part is not installed, or damaged.
        """
        if not hasattr(language_model, "score"):  # models may be callable, too
            language_model = language_model()
        reader = cast("TokenScorer", language_model)
        return cls(SmallFaithfulness.bundled(), reader, ReaderWeights.load())

    @property
    def fingerprint(self) -> str:
        """Names both models and the weights."""
        return f"reader-{self._weights.digest}/{self._small.fingerprint}/{self._reader.fingerprint}"

    def score(self, contexts: Sequence[str], claims: Sequence[str]) -> list[float]:
        """Return P(faithful) in [0, 1] of each (context, claim) pair; 0 where a context is blank.

        Raises:
            ValueError: a claim is blank, or the lengths differ.
        """
        return self.score_passages([[context] for context in contexts], claims)

    def score_passages(
        self, passages: Sequence[Sequence[Passage | str]], claims: Sequence[str]
    ) -> list[float]:
        """Return P(faithful) in [0, 1] of each claim given its passages; 0 where they are blank.

        Raises:
            ValueError: a claim is blank, or the lengths differ.
        """
        known = self._small.score_passages(passages, claims)
        contexts = [texts_of(of_claim) for of_claim in passages]
        found = texts_to_read(self._small, contexts, claims)
        asked = [i for i, text in enumerate(found) if text]
        read = likelihoods(self._reader, [found[i] for i in asked], [claims[i] for i in asked])
        joined = self._weights.probability([known[i] for i in asked], read)
        out = [0.0] * len(claims)
        for i, p in zip(asked, joined, strict=True):
            out[i] = p
        return out

    def nli(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Floats:
        """Return the small model's probabilities (n, 3)."""
        return self._small.nli(premises, hypotheses)

    def evidence(
        self, passages: Sequence[Passage | str], claims: Sequence[str]
    ) -> list[Evidence | None]:
        """Return the small model's stretches, with its own P(faithful) of each."""
        return self._small.evidence(passages, claims)
