"""Checked answers as a table with one row per claim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from franq_guard.records import Evidence, GuardedAnswer, Verdict

__all__ = ["claim_table", "to_dataframe"]


def claim_table(answers: Iterable[GuardedAnswer]) -> Iterator[dict[str, Any]]:
    """One row for each claim, which also contains the values of its answer.

    ``answer`` is the number of the answer, from 0; ``evidence`` and ``against`` are quoted from the
    passages. An answer without claims has no row.
    """
    for number, answer in enumerate(answers):
        common = {"answer": number, "id": answer.id, "question": answer.question or None}
        of_answer = {"status": answer.status, "score": answer.score}
        for verdict in answer.claims:
            yield {**common, **_of_claim(verdict, answer), **of_answer}


def to_dataframe(answers: Iterable[GuardedAnswer]) -> Any:
    """A ``pandas.DataFrame`` with one row for each claim of the answers.

    Args:
        answers: for example the result of ``guard.check_many(...)``.

    Returns:
        Columns: ``answer`` (its number, from 0), ``id``, ``question``, ``claim``, ``label``,
        ``flagged``, ``p_true``, ``p_faithful``, ``uq_faith``, ``uq_unfaith`` (each in [0, 1]),
        ``reason``, ``evidence`` and ``against`` (quoted from the passages), and, of the answer,
        ``status`` and ``score`` (the lowest P(true)). An answer without claims has no row.

    Raises:
        ImportError: if pandas is not installed; the message names the command to install it.
    """
    try:
        pandas = import_module("pandas")
    except ModuleNotFoundError:
        raise ImportError("to_dataframe needs pandas: pip install pandas") from None
    return pandas.DataFrame(list(claim_table(answers)), columns=_COLUMNS)


def _of_claim(verdict: Verdict, answer: GuardedAnswer) -> dict[str, Any]:
    return {
        "claim": verdict.claim.text,
        "label": verdict.label,
        "flagged": verdict.label in answer.weak,
        "p_true": verdict.p_true,
        "p_faithful": verdict.p_faithful,
        "uq_faith": verdict.uq_faith,
        "uq_unfaith": verdict.uq_unfaith,
        "reason": verdict.reason,
        "evidence": _words(verdict.evidence),
        "against": _words(verdict.against),
    }


def _words(found: Evidence | None) -> str | None:
    return found.text if found and found.text else None


_COLUMNS = [
    *("answer", "id", "question", "claim", "label", "flagged", "p_true", "p_faithful"),
    *("uq_faith", "uq_unfaith", "reason", "evidence", "against", "status", "score"),
]
