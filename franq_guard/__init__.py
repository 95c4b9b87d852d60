"""Checks the claims of RAG answers: do the passages state a claim, and is it true?

    from franq_guard import Guard
    result = Guard.offline().check(question, passages, answer)

Importing this package loads neither torch nor a framework; these are loaded when first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from franq_guard.basics.lazy_names import lazy_names

if TYPE_CHECKING:
    from franq_guard.calibration.classifier import FranqClassifier as FranqClassifier
    from franq_guard.calibration.store import Calibrator as Calibrator
    from franq_guard.guard import Guard as Guard
    from franq_guard.policy import Policy as Policy
    from franq_guard.records import Claim as Claim
    from franq_guard.records import Evidence as Evidence
    from franq_guard.records import Generation as Generation
    from franq_guard.records import GuardedAnswer as GuardedAnswer
    from franq_guard.records import Passage as Passage
    from franq_guard.records import Signals as Signals
    from franq_guard.records import Token as Token
    from franq_guard.records import Trace as Trace
    from franq_guard.records import Verdict as Verdict
    from franq_guard.rows.frame import to_dataframe as to_dataframe

__version__ = "0.1.0"

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Calibrator": "calibration.store",
        "FranqClassifier": "calibration.classifier",
        "Guard": "guard",
        "Policy": "policy",
        "Claim Evidence Generation GuardedAnswer Passage Signals Token Trace Verdict": "records",
        "to_dataframe": "rows.frame",
    },
)
