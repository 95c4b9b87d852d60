"""Methods that need the passages: Parametric Knowledge, faithfulness and NLI as uncertainties."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from franq_guard.uncertainty.information import Tokens, max_probability_uncertainty

__all__ = ["max_nli_uncertainty", "parametric_knowledge_uncertainty", "unfaithfulness_uncertainty"]


def parametric_knowledge_uncertainty(
    without_passages: ArrayLike, *, tokens: Tokens = None
) -> float:
    """Parametric Knowledge: -sum log p(y_t | x, y_<t), in [0, inf); arXiv 2505.21072.

    ``without_passages`` (T,): log-probabilities of the written tokens, scored in one pass under the
    prompt without its passages. Without tokens the result is NaN; -inf gives infinity.
    """
    return max_probability_uncertainty(without_passages, tokens=tokens)


def unfaithfulness_uncertainty(p_faithful: float) -> float:
    """1 - P(faithful), in [0, 1], by AlignScore (arXiv 2305.16739) or another model alone."""
    return 1.0 - p_faithful


def max_nli_uncertainty(entailment: ArrayLike) -> float:
    """Max NLI: 1 - max_i P(passage i entails the claim), in [0, 1]; arXiv 2505.21072.

    ``entailment`` (k,): for each passage by itself, from a three-way NLI model. No passages: 1.
    As in the paper, the claim is read as it is written, not in full (with the names that its
    pronouns stand for), which is what the guard reads for P(faithful) and the labels.
    """
    return 1.0 - float(np.max(np.asarray(entailment, float), initial=0.0))
