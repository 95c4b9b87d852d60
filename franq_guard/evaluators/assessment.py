"""One score and one explanation for a checked answer, as every evaluation framework needs them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from franq_guard.policy import Policy
from franq_guard.records import GuardedAnswer, Verdict
from franq_guard.report.words import citation_words, difference_words


@dataclass(frozen=True, slots=True)
class Assessment:
    """The result for an answer that is given to a framework.

    Attributes:
        score: the lowest P(true) of the answer's claims, in [0, 1], because an answer is only as
            good as its weakest claim; 1.0 if it states nothing (a refusal, a question); None if no
            claim could be verified, and if nothing was read as one (:attr:`.GuardedAnswer.reason`:
            a blank answer, nothing but code or JSON, a lone "Yes.").
        passed: whether the policy flags no claim (nor is one unverified, where the policy fails
            closed); None where no claim could be verified.
        comment: a line for each claim: label, P(true), text, reason.
        invalid: why there is no score; None if there is one.
    """

    score: float | None
    passed: bool | None
    comment: str
    invalid: str | None = None


def assess(answer: GuardedAnswer, policy: Policy) -> Assessment:
    """The assessment of a checked answer under the guard's policy."""
    comment = "\n".join(_line(verdict) for verdict in answer.verdicts)
    reasons = {str(verdict.reason) for verdict in answer.claims if answer.score is None}
    if answer.reason is not None:
        reasons.add(answer.reason)
    if reasons:
        invalid = f"no claim could be verified: {', '.join(sorted(reasons))}"
        return Assessment(score=None, passed=None, comment=comment, invalid=invalid)
    passed = not any(policy.is_weak(verdict) for verdict in answer.claims)
    score = 1.0 if answer.score is None else answer.score
    return Assessment(score=score, passed=passed, comment=comment)


@contextmanager
def framework(name: str, package: str) -> Iterator[None]:
    """Turn the import error of a missing framework into one that names the extra to install.

    Args:
        name: of the framework, as its users write it.
        package: its top-level module, which is also the name of the extra of ``franq-guard``.

    Raises:
        ImportError: if the package is not installed, with the command to install it. If it is
            installed but fails to import, its own error is raised.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name != package:
            raise
        raise ImportError(
            f"the evaluator for {name} needs {name}: pip install 'franq-guard[offline,{package}]'",
            name=package,
        ) from missing


def _line(verdict: Verdict) -> str:
    p = "" if verdict.p_true is None else f" {verdict.p_true:.2f}"
    why = f" ({verdict.reason})" if verdict.reason else ""
    remarks = [difference_words(*pair) for pair in verdict.differs]
    remarks += map(citation_words, verdict.citations)
    return f"[{verdict.label}{p}] {verdict.claim.text}{why}{''.join(f'; {r}' for r in remarks)}"
