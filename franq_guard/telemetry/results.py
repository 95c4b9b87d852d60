"""What is sent about a checked answer: numbers and labels; text only if it was asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from franq_guard.records import GuardedAnswer, Verdict
from franq_guard.telemetry import names
from franq_guard.telemetry.bridge import Attributes
from franq_guard.telemetry.settings import Settings

__all__ = ["failure_of", "result_of_answer", "results_of_claims", "summary"]

_FAILURES = ("error", "timeout")
"""Reasons that are failures of the check; the other reasons say which input was missing."""


def failure_of(answer: GuardedAnswer, error: str | None) -> str | None:
    """The ``error.type`` of a check that failed for at least one claim; None if it did not fail.

    Args:
        answer: the result of the check.
        error: the type of the exception, if there was one.
    """
    reasons = [reason for reason in _reasons(answer.verdicts) if reason in _FAILURES]
    return _named(reasons[0], error) if reasons else None


def summary(answer: GuardedAnswer, error: str | None, chosen: Settings) -> Attributes:
    """The attributes of the answer's span."""
    failed, labels = failure_of(answer, error), Counter(v.label for v in answer.verdicts)
    claims = [v for v in answer.verdicts if v.label != "not-a-claim"]
    texts = [v.claim.text for v in claims[: chosen.claims_told]]
    return {
        names.STATUS: answer.status,
        names.LIKELIHOODS: answer.likelihoods,
        names.CLAIMS: len(claims),
        **{names.LABELS + label.replace("-", "_"): n for label, n in sorted(labels.items())},
        **({names.CALIBRATOR: answer.calibrator} if answer.calibrator else {}),
        **({names.RESPONSE_ID: answer.id} if answer.id else {}),
        **({names.ERROR_TYPE: failed} if failed else {}),
        **({names.CLAIM_TEXTS: texts} if chosen.record_text else {}),
    }


def result_of_answer(answer: GuardedAnswer, error: str | None) -> Attributes:
    """The answer's event: the lowest P(true) among its claims, or why none could be verified."""
    known = [v.p_true for v in answer.verdicts if v.p_true is not None]
    labels = Counter(v.label for v in answer.verdicts)
    found: dict[str, str | float] = {**_common(answer), names.SCORE_LABEL: answer.status}
    if known:
        found[names.SCORE_VALUE] = float(min(known))
    elif answer.status in ("unverified", "policy_error"):
        reason = next(_reasons(answer.verdicts), answer.reason or "error")
        found[names.ERROR_TYPE] = failure_of(answer, error) or reason
    if labels:
        found[names.EXPLANATION] = ", ".join(f"{label}: {n}" for label, n in sorted(labels.items()))
    return found


def results_of_claims(
    answer: GuardedAnswer, error: str | None, chosen: Settings
) -> Iterator[Attributes]:
    """One event for each claim, up to the chosen number."""
    claims = [(i, v) for i, v in enumerate(answer.verdicts) if v.label != "not-a-claim"]
    for i, verdict in claims[: chosen.claims_told]:
        found: dict[str, str | float] = {**_common(answer), names.CLAIM_INDEX: i}
        found[names.SCORE_LABEL] = verdict.label
        if verdict.reason:
            found[names.CLAIM_REASON] = verdict.reason
        if verdict.p_true is not None:
            found[names.SCORE_VALUE] = float(verdict.p_true)
            found[names.EXPLANATION] = _numbers(verdict)
        else:
            found[names.ERROR_TYPE] = _named(verdict.reason or "error", error)
        if chosen.record_text:
            found[names.CLAIM_TEXT] = verdict.claim.text
        yield found


def _common(answer: GuardedAnswer) -> dict[str, str | float]:
    of_answer: dict[str, str | float] = {names.EVALUATION_NAME: names.EVALUATION}
    return of_answer | ({names.RESPONSE_ID: answer.id} if answer.id else {})


def _reasons(verdicts: Sequence[Verdict]) -> Iterator[str]:
    return (v.reason or "error" for v in verdicts if v.label == "unverified")


def _named(reason: str, error: str | None) -> str:
    return error if reason == "error" and error else reason


def _numbers(verdict: Verdict) -> str:
    """The inputs of the formula, as text."""
    values = {
        "p_faithful": verdict.p_faithful,
        "uq_faith": verdict.uq_faith,
        "uq_unfaith": verdict.uq_unfaith,
    }
    return ", ".join(f"{name}: {v:.3g}" for name, v in values.items() if v is not None)
