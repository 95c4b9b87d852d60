"""Turns checked answers with labelled claims into the rows a calibrator is fitted on."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from franq_guard.guard import Guard
from franq_guard.records import ClaimLabel, GuardedAnswer, Trace

_log = logging.getLogger(__name__)


def claim_rows(
    answer: GuardedAnswer, labels: Sequence[ClaimLabel], *, group: str
) -> Iterator[dict[str, Any]]:
    """One row for each labelled claim whose signals are known.

    Args:
        answer: a checked answer with its claims in the order of ``labels``.
        labels: one per claim; a claim without a label ``is_true`` gives no row.
        group: name of the answer; its claims stay together in cross-validation.
    """
    for verdict, label in zip(answer.verdicts, labels, strict=True):
        if label.is_true is not None and {"uq_faith", "uq_unfaith"} <= set(verdict.raw):
            yield {
                "group": group,
                "claim": verdict.claim.text,
                "p_faithful": verdict.p_faithful,
                "uq_faith": verdict.raw["uq_faith"],
                "uq_unfaith": verdict.raw["uq_unfaith"],
                **{k: verdict.raw[k] for k in ("contradiction", "entailment") if k in verdict.raw},
                "is_true": label.is_true,
                **({} if label.is_faithful is None else {"is_faithful": label.is_faithful}),
                **_stated(label),
                **({} if label.trusted else {"trusted": False}),
                **({} if label.source is None else {"source": label.source}),
            }


def labelled_rows(guard: Guard, traces: Iterable[Trace]) -> Iterator[list[dict[str, Any]]]:
    """One list of rows for each trace that has a label ``is_true`` for at least one claim.

    Other traces are skipped before any model runs. An answer that was not checked claim by claim (a
    failure, the short form) gives an empty list and a warning. The signals are uncalibrated,
    whatever calibrator ``guard`` has, and its language model also reads text that it did not write.
    Some rows may have ``is_faithful`` and others not, but the fit needs it in all or in none:
    see :func:`uniform`.
    """
    waiting: deque[tuple[str, Sequence[ClaimLabel]]] = deque()

    def labelled() -> Iterator[Trace]:
        for number, trace in enumerate(traces):
            if any(label.is_true is not None for label in trace.labels):
                waiting.append((_group(number, trace), trace.labels))
                yield trace

    for answer in guard.uncalibrated().check_many(labelled()):
        group, labels = waiting.popleft()
        if len(answer.verdicts) == len(labels):
            yield list(claim_rows(answer, labels, group=group))
        else:
            checked = len(answer.verdicts)
            _log.warning("%s left out: %d labels, %d claims", group, len(labels), checked)
            yield []


def label_rows(traces: Iterable[Trace]) -> Iterator[dict[str, Any]]:
    """``group`` and ``is_true`` of each labelled claim, as :func:`labelled_rows` will name them.

    Nothing is scored, so one can check with these rows whether there are enough labels.
    """
    for number, trace in enumerate(traces):
        for label in trace.labels:
            if label.is_true is not None:
                yield {
                    "group": _group(number, trace),
                    "is_true": label.is_true,
                    **_stated(label),
                    **({} if label.trusted else {"trusted": False}),
                    **({} if label.source is None else {"source": label.source}),
                }


def _stated(label: ClaimLabel) -> dict[str, bool]:
    """Whether the claim is true and the passages state it, where the labels say so."""
    if label.is_true and label.is_faithful is None:
        return {}
    return {"stated": bool(label.is_true and label.is_faithful)}


def _group(number: int, trace: Trace) -> str:
    # The two kinds of names can never be equal, whatever the ids are.
    return f"#{number}" if trace.id is None else f"id:{trace.id}"


def uniform(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows without ``is_faithful``, unless all of them have it."""
    table = [dict(row) for row in rows]
    if not all("is_faithful" in row for row in table):
        for row in table:
            row.pop("is_faithful", None)
    return table
