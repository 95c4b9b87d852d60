"""A folder of answers with labels of their claims: ``records`` (rows) and ``store`` (files)."""

from franq_guard.datasets.claim_set.records import (
    CHOSEN,
    SAMPLED,
    ClaimJudgement,
    Factuality,
    Faithfulness,
)
from franq_guard.datasets.claim_set.store import ClaimSet, claims_in

__all__ = [
    "CHOSEN",
    "SAMPLED",
    "ClaimJudgement",
    "ClaimSet",
    "Factuality",
    "Faithfulness",
    "claims_in",
]
