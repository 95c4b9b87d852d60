"""``franq calibrate``: a calibrator fitted on labelled answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from franq_guard.cli.console import counter, emit, fail, lines_of, say, tell
from franq_guard.cli.options import JsonFlag, ModelOption, guard_from

if TYPE_CHECKING:
    from franq_guard.calibration.store import Calibrator
    from franq_guard.guard import Guard
    from franq_guard.records import Trace
    from franq_guard.rows.lines import RowError


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
    plot: Annotated[Path | None, typer.Option(help="Reliability diagram as SVG.")] = None,
    language_model: ModelOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Fit a calibrator on labelled answers and say how good it is on answers it did not see.

    With --at-most-flagged half of the answers (by a hash of their id) set the threshold and the
    others fit the curves. The share of true claims that are flagged is then at most the given one,
    with the given confidence, for answers like these: write one answer to a question.

    Unreadable rows are left out; the calibrator is still written, but the exit code is 1.
    """
    from franq_guard.report.figures import reliability_svg

    _check_wishes(calibration, at_most_flagged, confidence, [out, *([plot] if plot else [])])
    guard = guard_from(language_model=language_model)
    rows, unread, origin = _scored(guard, file)
    settings = {
        "fingerprint": {**guard.fingerprint, **origin},
        "calibration": calibration,
        "name": out.stem,
        "at_most_flagged": at_most_flagged,
        "confidence": confidence,
        "source": file.name,
    }
    fitted = _fitted(rows, settings)
    fitted.save(out)
    if plot is not None:
        plot.write_text(reliability_svg(fitted.figures), encoding="utf-8")
    _show(fitted, out, as_json)
    if unread:
        say(f"{unread} row(s) could not be read and were left out")
        raise typer.Exit(1)


def _check_wishes(
    calibration: str, at_most_flagged: float | None, confidence: float, written: Sequence[Path]
) -> None:
    """What cannot work in the options, said before any model runs."""
    from franq_guard.calibration.store import Calibration

    if calibration not in get_args(Calibration):
        fail(f"--calibration must be condition, global or none, not {calibration!r}")
    for option, share in (("at-most-flagged", at_most_flagged), ("confidence", confidence)):
        if share is not None and not 0 < share < 1:
            fail(f"--{option} must lie between 0 and 1, not {share}")
    for file in written:
        if not file.parent.is_dir():
            fail(f"cannot write {file}: there is no folder {file.parent}")
        if file.is_dir():
            fail(f"cannot write {file}: it is a folder")


def _scored(guard: Guard, file: Path) -> tuple[list[dict[str, Any]], int, dict[str, str]]:
    """The labelled claims of the file with their signals; how many rows could not be read; origin.

    The origin is the answers' ``writer`` and the ``source`` of their log-probabilities: "any" where
    a writer is not known, or they are not all alike.
    """
    from franq_guard.datasets.labelled import labelled_rows

    rows: list[dict[str, Any]] = []
    broken: list[RowError] = []
    seen: set[tuple[str, str]] = set()
    with lines_of(file) as lines, counter("answers scored") as advance:
        for of_answer in labelled_rows(guard, _readable(lines, broken, seen)):
            rows += of_answer
            advance(1)
    writers, sources = {writer for writer, _ in seen}, {source for _, source in seen}
    return rows, len(broken), {"writer": _one(writers), "source": _one(sources)}


def _one(values: set[str]) -> str:
    return next(iter(values)) if len(values) == 1 else "any"


def _readable(
    lines: Iterable[str], broken: list[RowError], seen: set[tuple[str, str]]
) -> Iterator[Trace]:
    """The readable rows, their writer and source added to ``seen``.

    The others are named on standard error and added to ``broken``.
    """
    from franq_guard.rows.lines import RowError, read_traces

    for row in read_traces(lines):
        if isinstance(row, RowError):
            say(f"line {row.line}: {row.error}")
            broken.append(row)
        else:
            seen.add((row.generation.writer or "any", row.generation.source))
            yield row


def _fitted(rows: Sequence[dict[str, Any]], settings: Mapping[str, Any]) -> Calibrator:
    """The calibrator; labels that do not suffice for one end the program with exit code 1."""
    from franq_guard.calibration.fit import fit_calibrator
    from franq_guard.datasets.labelled import uniform

    try:
        return fit_calibrator(uniform(rows), **settings)
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
    say(f"written to {out}; use it with --calibrator or Guard(franq=Calibrator.load(...))")
