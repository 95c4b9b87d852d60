"""One number and one explanation for a checked answer: what every evaluation framework asks for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from franq_guard.policy import Policy
from franq_guard.records import GuardedAnswer, Verdict
from franq_guard.report.words import citation_words


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a framework is told of an answer.

    Attributes:
        score: the least P(true) of the answer's claims, in [0, 1]: an answer is as good as its
            weakest claim; 1.0 where it states nothing (a refusal, a question); None where no claim
            could be verified.
        passed: whether the policy flags no claim (nor is one unverified, where the policy fails
            closed); None where no claim could be verified.
        comment: a line for each claim: label, P(true), text, reason.
        invalid: why there is no score; None where there is one.
    """

    score: float | None
    passed: bool | None
    comment: str
    invalid: str | None = None


def assess(answer: GuardedAnswer, policy: Policy) -> Assessment:
    """The assessment of a checked answer under the guard's policy."""
    comment = "\n".join(_line(verdict) for verdict in answer.verdicts)
    if answer.claims and answer.score is None:
        reasons = sorted({str(verdict.reason) for verdict in answer.claims})
        invalid = f"no claim could be verified: {', '.join(reasons)}"
        return Assessment(score=None, passed=None, comment=comment, invalid=invalid)
    passed = not any(policy.is_weak(verdict) for verdict in answer.claims)
    score = 1.0 if answer.score is None else answer.score
    return Assessment(score=score, passed=passed, comment=comment)


@contextmanager
def framework(name: str, package: str) -> Iterator[None]:
    """Name the extra to install where the framework's own package is missing.

    Args:
        name: of the framework, as its users write it.
        package: its top-level module, which is also the name of the extra of ``franq-guard``.

    Raises:
        ImportError: with the command to run; a framework that is there but cannot be imported
            says itself why.
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
    cited = "".join(f"; {citation_words(found)}" for found in verdict.citations)
    return f"[{verdict.label}{p}] {verdict.claim.text}{why}{cited}"
