"""From signals to a verdict: applies the calibrated FRANQ formula to one claim."""

from __future__ import annotations

import numpy as np

from franq_guard.calibration.store import Calibrator
from franq_guard.franq import FloatArray
from franq_guard.label_rule import RATHER, LabelRule
from franq_guard.policy import Policy
from franq_guard.records import WEAK, Claim, Label, Reason, Signals, Source, Verdict
from franq_guard.signals.differing import differing


def verdict(
    claim: Claim, measured: Signals, calibrator: Calibrator, policy: Policy, *, source: Source
) -> Verdict:
    """The verdict on one claim; a stretch that is not a claim gets no score.

    Args:
        claim: of the answer.
        measured: its signals.
        calibrator: for the answer's writer and source; its label rule sets the label.
        policy: may override numbers of that rule.
        source: where the answer's log-probabilities come from.
    """
    if claim.not_a_claim is not None:
        return unchecked(claim, "error")
    weight, uq_faith, uq_unfaith = map(
        _row, (measured.p_faithful, measured.uq_faith, measured.uq_unfaith)
    )
    nli = _row(measured.contradiction, measured.entailment)[None]
    found = calibrator.apply(weight, uq_faith, uq_unfaith, nli)
    p_true, faith, unfaith = (_known(array[0]) for array in found)
    if measured.reason == "no_evidence" and not _without_passages(calibrator, source):
        p_true = None
    rule = policy.rule(calibrator.labels)
    label = policy.label(
        p_true,
        measured.p_faithful,
        contradiction=measured.contradiction,
        entailment=measured.entailment,
        rule=calibrator.labels,
    )
    against = measured.against if _speaks_against(measured, rule) else None
    beside = against or measured.evidence
    return Verdict(
        claim=claim,
        p_true=p_true,
        p_faithful=measured.p_faithful,
        uq_faith=faith,
        uq_unfaith=unfaith,
        raw=measured.raw,
        label=label,
        reason=_reason(measured, p_true, label, rule, calibrator),
        evidence=measured.evidence,
        against=against,
        differs=differing(claim.text, beside.text) if beside and label in WEAK else (),
    )


def _without_passages(calibrator: Calibrator, source: Source) -> bool:
    """Whether P(true) is meaningful even if nothing was retrieved."""
    fitted = calibrator.calibration != "none" and not calibrator.evidence_only
    return fitted and source == "captured"


def _speaks_against(measured: Signals, rule: LabelRule) -> bool:
    """Whether a passage contradicts the claim, by the rule or rather than not."""
    if rule.conflict(measured.contradiction, measured.entailment):
        return True
    return (measured.contradiction or 0.0) >= min(rule.contradiction, RATHER)


def _reason(
    measured: Signals, p_true: float | None, label: Label, rule: LabelRule, calibrator: Calibrator
) -> Reason | None:
    """Why there is no P(true); if there is one, only a reason that qualifies it is kept."""
    if p_true is None:
        return measured.reason or "error"
    if rule.conflict(measured.contradiction, measured.entailment):
        return "conflict"
    if measured.reason in ("no_evidence", "no_prompt"):
        return measured.reason
    return "prior" if calibrator.evidence_only and label == "unsupported" else None


def unchecked(claim: Claim, reason: Reason) -> Verdict:
    """The verdict on a stretch that is not a claim, or on a claim that could not be checked."""
    if claim.not_a_claim is not None:
        return Verdict(claim, None, None, None, None, {}, "not-a-claim", claim.not_a_claim)
    return Verdict(claim, None, None, None, None, {}, "unverified", reason)


def _row(*values: float | None) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values])


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
