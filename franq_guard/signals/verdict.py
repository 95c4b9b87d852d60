"""Signals to a verdict: the calibrated formula on one claim."""

from __future__ import annotations

import numpy as np

from franq_guard.calibration.store import Calibrator
from franq_guard.policy import Policy
from franq_guard.records import Claim, Reason, Signals, Verdict


def verdict(claim: Claim, measured: Signals, calibrator: Calibrator, policy: Policy) -> Verdict:
    """FRANQ on one claim; a stretch that is no claim passes through unscored."""
    if claim.not_a_claim is not None:
        return unchecked(claim, "error")
    values = (measured.p_faithful, measured.uq_faith, measured.uq_unfaith)
    columns = [np.array([np.nan if value is None else value]) for value in values]
    p_true, faith, unfaith = (_known(array[0]) for array in calibrator.apply(*columns))
    return Verdict(
        claim=claim,
        p_true=p_true,
        p_faithful=measured.p_faithful,
        uq_faith=faith,
        uq_unfaith=unfaith,
        raw=measured.raw,
        label=policy.label(p_true, measured.p_faithful),
        reason=_reason(measured.reason, p_true),
        evidence=measured.evidence,
    )


def _reason(measured: Reason | None, p_true: float | None) -> Reason | None:
    """Why there is no P(true); where there is one, only reasons that are remarks on it stay."""
    if p_true is None:
        return measured or "error"
    return measured if measured in ("no_evidence", "no_prompt") else None


def unchecked(claim: Claim, reason: Reason) -> Verdict:
    """A stretch that is no claim, or a claim for which nothing could be computed."""
    if claim.not_a_claim is not None:
        return Verdict(claim, None, None, None, None, {}, "not-a-claim", claim.not_a_claim)
    return Verdict(claim, None, None, None, None, {}, "unverified", reason)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
