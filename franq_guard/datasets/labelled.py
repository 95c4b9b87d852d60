"""Turns checked answers with labelled claims into the rows a calibrator is fitted on."""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from franq_guard.calibration.labels import labelled
from franq_guard.calibration.thresholds import sets_the_threshold
from franq_guard.datasets.jsonl import append_row, whole_rows
from franq_guard.datasets.questions import digest
from franq_guard.guard import Guard
from franq_guard.records import ClaimLabel, Trace, Verdict
from franq_guard.rows.written import trace_to_dict

_log = logging.getLogger(__name__)
_PASSING = ("error", "timeout")
"""Reasons without signals that another try may not meet."""


def _signals(verdict: Verdict) -> dict[str, Any] | None:
    """The claim and its signals; None where these are not known."""
    if not {"uq_faith", "uq_unfaith"} <= set(verdict.raw):
        return None
    return {
        "claim": verdict.claim.text,
        "p_faithful": verdict.p_faithful,
        "uq_faith": verdict.raw["uq_faith"],
        "uq_unfaith": verdict.raw["uq_unfaith"],
        **{k: verdict.raw[k] for k in ("contradiction", "entailment") if k in verdict.raw},
    }


def _joined(
    signals: Sequence[Mapping[str, Any] | None], labels: Sequence[ClaimLabel], group: str
) -> Iterator[dict[str, Any]]:
    for known, label in zip(signals, labels, strict=True):
        if label.is_true is not None and known is not None:
            yield {
                "group": group,
                **known,
                "is_true": label.is_true,
                **({} if label.is_faithful is None else {"is_faithful": label.is_faithful}),
                **_about(label),
            }


class SignalStore:
    """The signals of answers in a file, so that a run that was stopped goes on.

    An answer is known by its content (question, passages, text, claims, log-probabilities) and by
    what determines the signals (``guard.fingerprint``); its labels may change. The file holds the
    text of the claims.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[str, list[dict[str, Any] | None]] = {
            row["key"]: row["signals"] for row in whole_rows(file) if {"key", "signals"} <= set(row)
        }

    def signals(self, guard: Guard, trace: Trace) -> list[dict[str, Any] | None]:
        """Those of each claim of the answer; measured, and written to the file, if not there yet.

        An answer that met an error is not written: the next run tries it again.
        """
        row = trace_to_dict(trace)
        row["claims"] = [
            {k: v for k, v in claim.items() if k not in ("is_true", "is_faithful")}
            for claim in row.get("claims", ())
        ]
        key = digest(0, json.dumps([guard.fingerprint, row], sort_keys=True))[:24]
        if key in self._known:
            return self._known[key]
        (answer,) = guard.check_many([trace])
        found = [_signals(verdict) for verdict in answer.verdicts]
        if not any(verdict.reason in _PASSING for verdict in answer.verdicts):
            self._known[key] = found
            append_row(self._file, {"key": key, "signals": found})
        return found


def labelled_rows(
    guard: Guard, traces: Iterable[Trace], *, store: SignalStore | None = None
) -> Iterator[list[dict[str, Any]]]:
    """One list of rows for each trace that has a label ``is_true`` for at least one claim.

    Other traces are skipped before any model runs. An answer that was not checked claim by claim (a
    failure, the short form) gives an empty list and a warning. The signals are uncalibrated,
    whatever calibrator ``guard`` has, and its language model also reads text that it did not write.
    Some rows may have ``is_faithful`` and others not, but the fit needs it in all or in none:
    see :func:`uniform`. With a ``store`` each answer is checked alone, and its signals are on disk
    before the next one is begun.
    """
    waiting: deque[tuple[str, Sequence[ClaimLabel]]] = deque()

    def chosen() -> Iterator[Trace]:
        for number, trace in enumerate(traces):
            if any(label.is_true is not None for label in trace.labels):
                waiting.append((_group(number, trace), trace.labels))
                yield trace

    for signals in _of_answers(guard.uncalibrated(), chosen(), store):
        group, labels = waiting.popleft()
        if len(signals) == len(labels):
            yield list(_joined(signals, labels, group))
        else:
            _log.warning("%s left out: %d labels, %d claims", group, len(labels), len(signals))
            yield []


def _of_answers(
    guard: Guard, traces: Iterator[Trace], store: SignalStore | None
) -> Iterator[list[dict[str, Any] | None]]:
    if store is not None:
        yield from (store.signals(guard, trace) for trace in traces)
        return
    for answer in guard.check_many(traces):
        yield [_signals(verdict) for verdict in answer.verdicts]


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
                    **_about(label),
                }


def threshold_answers(traces: Iterable[Trace]) -> int:
    """How many of the answers set the threshold of a promise if claims of all are labelled."""
    named = [{"group": _group(i, trace), "is_true": 1} for i, trace in enumerate(traces)]
    return sum(map(sets_the_threshold, labelled(named).answers.tolist()))


def _about(label: ClaimLabel) -> dict[str, Any]:
    """What a row says of its label; what is usual is left out."""
    return {
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
