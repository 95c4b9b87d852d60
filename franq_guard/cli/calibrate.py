"""``franq calibrate``: fit a calibrator on labelled answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franq_guard.cli.configuration import Configuration
from franq_guard.cli.console import counter, emit, fail, needing, say, tell
from franq_guard.cli.dataset.sets import resumable
from franq_guard.cli.labels import (
    FileArgument,
    LabelledFile,
    LabelsOption,
    SlopesOption,
    WeightOption,
    fitted_for,
    refuse_unused,
    say_unmeasured,
    weights_from,
)
from franq_guard.cli.options import (
    JsonFlag,
    MapOption,
    ModelOption,
    ThreadsOption,
    calibrator_in,
    guard_from,
    loading_models,
    refuse_to_replace,
    refuse_unwritable,
)
from franq_guard.cli.promising import (
    AboutOption,
    ConfidenceOption,
    FlaggedOption,
    beforehand,
    promise_from,
)
from franq_guard.cli.set_up import with_set_up
from franq_guard.cli.settings_file import write_settings

if TYPE_CHECKING:
    from franq_guard.calibration.store import Calibrator
    from franq_guard.guard import Guard
    from franq_guard.records import Trace
    from franq_guard.rows.lines import RowError

_INSTALL = "pip install 'franq-guard[fit]'"

OutOption = Annotated[
    Path | None, typer.Option("--out", help="Where to write the calibrator (JSON).")
]
CheckOption = Annotated[
    Path | None,
    typer.Option(
        "--check",
        metavar="MINE.json",
        help="Fit nothing: say whether this calibrator still holds on these labels. Exit code 1 "
        "where it does not.",
    ),
]
CalibrationOption = Annotated[
    str | None,
    typer.Option(
        help="condition, global or none (the paper's), or learned (logistic curves). Default: "
        "condition."
    ),
]
FewestOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="For --calibration condition: with fewer true or fewer false claims than this, a "
        "curve is replaced by the curve of all claims. 0, the paper's rule: never. Default: 5.",
    ),
]
PlotOption = Annotated[Path | None, typer.Option(help="Write a reliability diagram (SVG).")]
ReportOption = Annotated[
    Path | None,
    typer.Option("--report", help="Write a page: curves, worst mistakes, the shipped calibrator."),
]

_OPTIONS_OF = {
    "form": "--form",
    "language model": "--language-model",
    "faithfulness": "--faithfulness and --nli",
    "claims": "--claims",
    "methods": "--uq-faith and --uq-unfaith",
    "prompt": "the same version of franq-guard",
    "samples": "--samples and --temperature",
    "threshold": "--threshold-faithful",
}
"""The options that decide on a part of the set-up."""


@partial(
    with_set_up,
    but=("calibrator", "strict"),
    elsewhere=("grader", "rewrite"),
    more={"calibration": CalibrationOption, "min_per_class": FewestOption},
)
def calibrate(
    chosen: Configuration,
    file: FileArgument,
    out: OutOption = None,
    check: CheckOption = None,
    at_most_flagged: FlaggedOption = None,
    confidence: ConfidenceOption = None,
    about: AboutOption = None,
    labels: LabelsOption = None,
    weight: WeightOption = None,
    slopes_from: SlopesOption = None,
    mapped: MapOption = None,
    plot: PlotOption = None,
    report: ReportOption = None,
    language_model: ModelOption = None,
    threads: ThreadsOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Fit a calibrator on labelled answers and say how good it is on answers it did not see.

    A row has a question, passages, an answer, and claims with is_true. If the row itself has
    is_true, its answer is one claim. The minimum is 5 true and 5 false claims from 10 answers; a
    few hundred claims are a good start. The calibrator is for the models, methods and form that
    the options name.

    With --at-most-flagged, half of the answers set the threshold and the others fit the curves.
    At most this share of the true claims is then flagged, with the given confidence, for answers
    like these. Use one answer for each question. The exit code is 1 if rows are unreadable.
    """
    chosen = replace(chosen, language_model=language_model or chosen.language_model)
    chosen = replace(chosen, calibration=chosen.calibration or "condition")
    given = LabelledFile(file, labels, mapped, chosen, slopes_from)
    promised = at_most_flagged, confidence, about
    if check is not None:
        if out or plot or report or weight or slopes_from or promised != (None, None, None):
            fail(
                "--check fits nothing and promises nothing: leave out --out, --plot, --report, "
                "--weight, --slopes-from, --at-most-flagged, --confidence and --promise"
            )
        given.refuse_unread()
        _check(check, given, as_json)
        return
    if out is None:
        fail("give --out FILE to write a calibrator, or --check MINE.json to test an existing one")
    way = {
        "calibration": chosen.calibration,
        "min_per_class": chosen.min_per_class,
        "weights": weights_from(weight),
    }
    promise = promise_from(*promised)
    given.refuse_unread(weighed=bool(weight))
    _check_wishes(given, out, plot, report)
    _fit(given, way, promise, (out, plot, report), as_json)


def _fit(
    given: LabelledFile,
    way: Mapping[str, Any],
    promise: Mapping[str, Any],
    written: tuple[Path, Path | None, Path | None],
    as_json: bool,
) -> None:
    """Fit a calibrator, write it (and its plot and report) and show it."""
    out, plot, report = written
    fitted, rows, broken = _fitted(given, way, promise, out.stem)
    _write(fitted, rows, out, plot, report, weights=way["weights"], data=given.file.name)
    named = {("promise" if name == "about" else name): value for name, value in promise.items()}
    settings = {**given.recorded(), "weight": way["weights"], **named}
    write_settings(out, given.chosen, fitted.fingerprint, **settings)
    _show(fitted, out, as_json)
    _say_unread(broken)
    if broken:
        raise typer.Exit(1)


def _fitted(
    given: LabelledFile, way: Mapping[str, Any], promise: Mapping[str, Any], name: str
) -> tuple[Calibrator, list[dict[str, Any]], list[RowError]]:
    """Fit a calibrator; return it, its training rows, and the rows that could not be read."""
    from franq_guard.datasets.labelled import uniform

    with needing(_INSTALL):
        from franq_guard.calibration.fit import fit_calibrator

    traces, broken = given.traces()
    others = given.others()
    refuse_unused(way["weights"], traces)
    _check_labels(given, traces, others, way, promise)
    guard = guard_from(chosen=_measuring(given.chosen))
    with loading_models():
        fingerprint = fitted_for(guard.fingerprint, traces)
    rows = uniform(_scored(guard, [*traces, *others], given))
    form: Any = given.chosen.form
    with _refusing():
        fitted = fit_calibrator(
            rows,
            form=form,
            log_space=form == "long",
            faithful_threshold=given.chosen.faithful_above,
            name=name,
            fingerprint=fingerprint,
            source=given.file.name,
            compare=True,
            **way,
            **promise,
        )
    return fitted, rows, broken


def _measuring(chosen: Configuration) -> Configuration:
    """The set-up of the guard that measures the signals; what is fitted to them is not its own."""
    return replace(chosen, calibration=None, calibrator=None, threshold_faithful=None)


def _write(
    fitted: Calibrator,
    rows: list[dict[str, Any]],
    out: Path,
    plot: Path | None,
    report: Path | None,
    *,
    weights: Mapping[str, float],
    data: str,
) -> None:
    """Write the calibrator and, if asked for, its reliability diagram and report page."""
    fitted.save(out)
    if plot is not None:
        from franq_guard.report.figures import reliability_svg

        plot.write_text(reliability_svg(fitted.figures), encoding="utf-8")
    if report is not None:
        from franq_guard.report.calibration import calibration_page

        today = datetime.now(UTC).date()
        page = calibration_page(fitted, rows, weights=weights, data=data, day=today)
        report.write_text(page, encoding="utf-8")


def _check(calibrator: Path, given: LabelledFile, as_json: bool) -> None:
    """Report whether a calibrator still fits new labels; exit with code 1 if it does not."""
    with needing(_INSTALL):
        from franq_guard.calibration.holding import holding
    from franq_guard.report.figures import holding_text

    fitted = calibrator_in(calibrator)
    guard = guard_from(calibrator=fitted, chosen=_measuring(given.chosen))  # for its methods
    _refuse_other_set_up(calibrator, fitted, guard, given.chosen)
    traces, broken = given.traces()
    try:
        found = holding(fitted, _scored(guard, traces, given))
    except ValueError as error:
        fail(str(error))
    if as_json:
        emit({**asdict(found), "fit_again": found.fit_again})
    else:
        tell(holding_text(found))
    _say_unread(broken)
    if found.fit_again or broken:
        raise typer.Exit(1)


def _refuse_other_set_up(
    file: Path, fitted: Calibrator, guard: Guard, chosen: Configuration
) -> None:
    """End the program if the signals would not be those that the calibrator was fitted to."""
    with loading_models():
        problems = fitted.check(**guard.fingerprint)
    own, above = fitted.labels.supported_from, chosen.threshold_faithful
    if above not in (None, own):
        problems.append(f"threshold: fitted for {own:g}, used with {above:g}")
    if problems:
        options = (_OPTIONS_OF[problem.partition(":")[0]] for problem in problems)
        fail(
            f"{file} was fitted with another set-up. {'; '.join(problems)}. Give the options that "
            f"it was fitted with ({', '.join(options)}), or its --config"
        )


def _say_unread(broken: Sequence[RowError]) -> None:
    if broken:
        say(f"{len(broken)} row(s) could not be read and were left out")


def _check_wishes(given: LabelledFile, out: Path, *others: Path | None) -> None:
    """End the program if the options are invalid, before any model runs."""
    if given.slopes is not None and given.chosen.calibration != "learned":
        fail("--slopes-from needs --calibration learned: other curves have no slope of their own")
    if given.chosen.form == "auto":
        fail("a calibrator is for one form: give --form long or --form short")
    refuse_unwritable(out, *others, inputs=given.files())
    refuse_to_replace(out)


def _check_labels(
    given: LabelledFile,
    traces: Sequence[Trace],
    others: Sequence[Trace],
    way: Mapping[str, Any],
    promise: Mapping[str, Any],
) -> None:
    """End the program if there are too few labels, before the scoring, which may take hours."""
    from franq_guard.calibration.fit import check_labels
    from franq_guard.datasets.labelled import label_rows

    labels = any(label_rows(traces))
    if not labels and given.file.is_dir():
        fail(
            f"no claim in {given.file} is labelled by {given.voices}: nothing to fit on. Vote "
            "(`franq dataset review`) or have a model judge (`franq dataset annotate`); statements "
            "made from documents count with --labels edit"
        )
    if not labels:
        fail(f"no readable claim in {given.file} has is_true: nothing to fit on")
    with _refusing():
        n = check_labels(
            label_rows([*traces, *others]),
            calibration=way["calibration"],
            weights=way["weights"],
            **promise,
        )
    if n:
        say(beforehand(n, **promise))


def _scored(guard: Guard, traces: list[Trace], given: LabelledFile) -> list[dict[str, Any]]:
    """One row per labelled claim, with its signals; those of a claim set are kept in its folder."""
    from franq_guard.datasets.labelled import SignalStore, labelled_rows

    rows: list[dict[str, Any]] = []
    total = sum(any(label.is_true is not None for label in trace.labels) for trace in traces)
    store = SignalStore(given.file / "signals.jsonl") if given.file.is_dir() else None
    with resumable() if store else nullcontext(), counter("answers scored", total=total) as advance:
        for of_answer in labelled_rows(guard, traces, store=store):
            rows += of_answer
            advance(1)
    say_unmeasured(traces, len(rows))
    return rows


@contextmanager
def _refusing() -> Iterator[None]:
    """End the program with exit code 1 if the labels do not allow a calibrator to be fitted."""
    try:
        yield
    except ValueError as error:
        say(f"no calibrator: {error}")
        raise typer.Exit(1) from None


def _show(fitted: Calibrator, out: Path, as_json: bool) -> None:
    """Show how good the calibrator is and how to use its file."""
    from franq_guard.report.calibration_words import warnings_of
    from franq_guard.report.figures import compared_text, figures_text, promise_text

    if as_json:
        emit({**fitted.figures, "promise": fitted.promise})
    else:
        tell(figures_text(fitted.figures))
        tell(f"\n{compared_text(fitted)}")
        tell(f"\n{promise_text(fitted)}")
    for missing in fitted.figures.get("not_done", ()):
        say(f"not done: {missing}")
    for warning in warnings_of(fitted.figures):
        say(f"warning: {warning}")
    say(f"written to {out}; use it with --calibrator or Guard(franq=Calibrator.load(...))")
