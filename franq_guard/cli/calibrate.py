"""``franq calibrate``: a calibrator fitted on labelled answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from franq_guard.cli.console import counter, emit, fail, lines_of, say, tell, working
from franq_guard.cli.options import (
    JsonFlag,
    MapOption,
    ModelOption,
    ThreadsOption,
    fields_from,
    guard_from,
    refuse_unwritable,
)

if TYPE_CHECKING:
    from franq_guard.calibration.store import Calibrator
    from franq_guard.guard import Guard
    from franq_guard.records import Trace
    from franq_guard.rows.fields import Fields
    from franq_guard.rows.lines import RowError

_TOO_GOOD = 0.9995
_FEW = 200  # claims; below it the standard error of an AUROC of .8 is above .03


def calibrate(
    file: Annotated[Path, typer.Argument(help="franq.trace/1 rows whose claims have is_true.")],
    out: Annotated[Path, typer.Option("--out", help="Where to write the calibrator (JSON).")],
    calibration: Annotated[str, typer.Option(help="condition, global or none.")] = "condition",
    at_most_flagged: Annotated[
        float | None,
        typer.Option(
            help="Share of the true claims, such as 0.2: sets the threshold by a promise."
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(help="With which that is promised.")] = 0.9,
    mapped: MapOption = None,
    plot: Annotated[Path | None, typer.Option(help="Reliability diagram as SVG.")] = None,
    language_model: ModelOption = None,
    threads: ThreadsOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Fit a calibrator on labelled answers and say how good it is on answers it did not see.

    A row is question, passages, answer, and claims with is_true; a row with
    an is_true of its own is an answer of one claim. It takes 20 true and 20
    false claims of 10 answers at least, and a few hundred to be worth it.

    With --at-most-flagged half of the answers (by a hash of their id) set
    the threshold and the others fit the curves. The share of true claims
    that are flagged is then at most the given one, with the given
    confidence, for answers like these: write one answer to a question.

    Unreadable rows are left out; the calibrator is still written, but the
    exit code is 1.
    """
    from franq_guard.calibration.fit import fit_calibrator
    from franq_guard.datasets.labelled import uniform
    from franq_guard.report.figures import reliability_svg

    _check_wishes(calibration, at_most_flagged, confidence, out, plot)
    promise = {"at_most_flagged": at_most_flagged, "confidence": confidence}
    fields = fields_from(mapped)
    traces, broken = _read(file, fields, promise)
    guard = guard_from(language_model=language_model)
    with working("loading the models"):
        fingerprint = {**guard.fingerprint, **_origin(traces)}
    rows = _scored(guard, traces)
    chosen: Any = calibration
    with _refusing():
        fitted = fit_calibrator(
            uniform(rows),
            calibration=chosen,
            name=out.stem,
            fingerprint=fingerprint,
            source=file.name,
            **promise,
        )
    fitted.save(out)
    if plot is not None:
        plot.write_text(reliability_svg(fitted.figures), encoding="utf-8")
    _show(fitted, out, as_json)
    if broken:
        say(f"{len(broken)} row(s) could not be read and were left out")
        raise typer.Exit(1)


def _check_wishes(
    calibration: str, at_most_flagged: float | None, confidence: float, *written: Path | None
) -> None:
    """What cannot work in the options, said before any model runs."""
    from franq_guard.calibration.store import Calibration

    if calibration not in get_args(Calibration):
        fail(f"--calibration must be condition, global or none, not {calibration!r}")
    for option, share in (("at-most-flagged", at_most_flagged), ("confidence", confidence)):
        if share is not None and not 0 < share < 1:
            fail(f"--{option} must lie between 0 and 1, not {share}")
    refuse_unwritable(*written)


def _read(
    file: Path, fields: Fields, promise: Mapping[str, Any]
) -> tuple[list[Trace], list[RowError]]:
    """The readable rows and the others; labels that cannot suffice end the program here.

    Scoring may take hours, so nothing is scored that cannot be fitted on.
    """
    from franq_guard.calibration.fit import check_labels
    from franq_guard.datasets.labelled import label_rows
    from franq_guard.rows.fields import with_row_label
    from franq_guard.rows.lines import RowError, read_traces

    traces, broken = [], []
    with lines_of(file) as lines:
        for row in read_traces(lines, prepare=lambda row: with_row_label(fields(row))):
            if isinstance(row, RowError):
                say(f"line {row.line}: {row.error}")
                broken.append(row)
            else:
                traces.append(row)
    labels = list(label_rows(traces))
    if not labels:
        fail(f"no claim in {file} has is_true: nothing to fit on")
    with _refusing():
        check_labels(labels, **promise)
    return traces, broken


def _scored(guard: Guard, traces: list[Trace]) -> list[dict[str, Any]]:
    """The labelled claims with their signals."""
    from franq_guard.datasets.labelled import labelled_rows

    rows: list[dict[str, Any]] = []
    total = sum(any(label.is_true is not None for label in trace.labels) for trace in traces)
    with counter("answers scored", total=total) as advance:
        for of_answer in labelled_rows(guard, traces):
            rows += of_answer
            advance(1)
    return rows


def _origin(traces: Iterable[Trace]) -> dict[str, str]:
    """The answers' ``writer`` and the ``source`` of their log-probabilities.

    "any" where a writer is not known, or they are not all alike.
    """
    written = [trace.generation for trace in traces]
    writers = {generation.writer or "any" for generation in written}
    return {"writer": _one(writers), "source": _one({one.source for one in written})}


def _one(values: set[str]) -> str:
    return next(iter(values)) if len(values) == 1 else "any"


@contextmanager
def _refusing() -> Iterator[None]:
    """Labels that do not suffice for a calibrator end the program with exit code 1."""
    try:
        yield
    except ValueError as error:
        say(f"no calibrator: {error}")
        raise typer.Exit(1) from None


def _show(fitted: Calibrator, out: Path, as_json: bool) -> None:
    """How good the calibrator is, and how to use the file it was written to."""
    from franq_guard.report.figures import figures_text, promise_text

    if as_json:
        emit({**fitted.figures, "promise": fitted.promise})
    else:
        tell(figures_text(fitted.figures))
        tell(f"\n{promise_text(fitted)}")
    for warning in _warnings(fitted.figures):
        say(f"warning: {warning}")
    say(f"written to {out}; use it with --calibrator or Guard(franq=Calibrator.load(...))")


def _warnings(figures: Mapping[str, Any]) -> Iterator[str]:
    """What ought to make the reader doubt the figures."""
    if (figures.get("auroc") or 0) >= _TOO_GOOD:
        yield (
            "AUROC 1.0: true and false claims are told apart without an error, which real answers "
            "never are. Were the false ones made up, or the labels taken from the scores?"
        )
    if figures["n"] < _FEW:
        yield (
            f"fitted on {figures['n']} claims only: the curves and figures are rough. Label "
            f"{_FEW} or more before you rely on them."
        )
