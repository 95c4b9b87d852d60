"""P(True): the model is asked about its own answer (Kadavath et al. 2022, arXiv 2207.05221)."""

from __future__ import annotations

import numpy as np

__all__ = ["p_true_uncertainty"]


def p_true_uncertainty(log_true: float, log_false: float | None = None) -> float:
    """-log P(True), in [0, inf], P(True) = p(True) / (p(True) + p(False)).

    Args:
        log_true: log-probability of the option "True" after the prompt, nats.
        log_false: that of "False"; None: lm-polygraph's form, -log p(True).

    Returns:
        NaN where an input is NaN or both options have probability 0.
    """
    if log_false is None:
        return -float(log_true)
    with np.errstate(invalid="ignore"):
        total = np.logaddexp(log_true, log_false)
    return float(total - log_true) if np.isfinite(total) else float("nan")
