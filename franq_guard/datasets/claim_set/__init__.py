"""A set of answers and what is known of their claims, in one folder: ``store`` over ``records``."""

from franq_guard.datasets.claim_set.records import (
    CHOSEN,
    SAMPLED,
    ClaimJudgement,
    Factuality,
    Faithfulness,
)
from franq_guard.datasets.claim_set.store import ClaimSet

__all__ = ["CHOSEN", "SAMPLED", "ClaimJudgement", "ClaimSet", "Factuality", "Faithfulness"]
