"""``franq check-dataset``: check the answers in a folder of Parquet or JSON Lines with Ray Data."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from franq_guard.cli.configuration import Configuration, in_force
from franq_guard.cli.console import bar, fail, needing, say
from franq_guard.cli.options import (
    BatchSizeOption,
    CalibratorOption,
    EvidenceOption,
    FalseBelowOption,
    MapOption,
    ModelOption,
    PolicyOption,
    ThresholdOption,
    WeakOption,
    fields_from,
    guard_from,
    loaded_language_model,
)
from franq_guard.cli.set_up import of_a_guard

if TYPE_CHECKING:
    from franq_guard.batch.dataset import Report
    from franq_guard.batch.settings import DatasetSettings
    from franq_guard.guard import Guard

_SHOWN = 5  # different errors in the summary


PathsArgument = Annotated[
    list[str],
    typer.Argument(help="Files of Parquet or JSON Lines, or folders of them; also s3://."),
]
OutOption = Annotated[
    str,
    typer.Option("--out", help="Folder for the results; a killed run's, to go on with it."),
]
AddressOption = Annotated[
    str | None, typer.Option(help="Of a Ray cluster; default: Ray is started on this machine.")
]
ActorsOption = Annotated[
    int | None, typer.Option(min=1, help="Processes that check; default: as many as fit.")
]
GpusOption = Annotated[float, typer.Option(min=0, help="GPUs of each actor, also a fraction.")]
CoresOption = Annotated[int, typer.Option(min=1, help="Threads, and cores, of each actor.")]
BatchRowsOption = Annotated[int, typer.Option(min=1, help="Rows that an actor gets at a time.")]
FileRowsOption = Annotated[
    int, typer.Option(min=1, help="Rows of a file of results; a killed run loses unwritten ones.")
]
RetryFlag = Annotated[
    bool,
    typer.Option("--retry-errors", help="Check again the rows whose result so far is an error."),
]


@of_a_guard
def check_dataset(
    chosen: Configuration,
    paths: PathsArgument,
    out: OutOption,
    retry_errors: RetryFlag = False,
    address: AddressOption = None,
    num_actors: ActorsOption = None,
    num_gpus: GpusOption = 0.0,
    threads: CoresOption = 1,
    batch_rows: BatchRowsOption = 32,
    batch_size: BatchSizeOption = 8,
    file_rows: FileRowsOption = 1000,
    evidence: EvidenceOption = True,
    mapped: MapOption = None,
    policy: PolicyOption = "annotate",
    threshold: ThresholdOption = None,
    false_below: FalseBelowOption = None,
    weak: WeakOption = None,
    calibrator: CalibratorOption = None,
    language_model: ModelOption = None,
) -> None:
    """Check a data set on many processes or machines, with Ray Data; results as Parquet.

    The rows are those of franq check, as columns or lines. Every row gets one row of results; one
    that cannot be read or checked has its error there, and the exit code is 1 then. The same
    command goes on with a run that was killed; with --retry-errors it also checks again what
    failed. At the end standard error has the counts. --config and the options of the set-up are
    those of franq check.
    """
    with needing("pip install 'franq-guard[offline,ray]'"):
        from franq_guard.batch.settings import DatasetSettings
    settings = DatasetSettings(
        address=address,
        num_actors=num_actors,
        num_gpus=num_gpus,
        threads=threads,
        batch_rows=batch_rows,
        batch_size=batch_size,
        file_rows=file_rows,
    )
    chosen = in_force(chosen, calibrator, language_model)
    model = chosen.language_model
    guard = guard_from(
        policy,
        threshold,
        # The model is loaded by each actor.
        language_model=partial(loaded_language_model, model) if model else None,
        false_below=false_below,
        weak=weak,
        evidence=evidence,
        chosen=chosen,
    )
    named = _named(guard, chosen, evidence=evidence)
    report = _checked(paths, out, guard, mapped, settings, named, retry_errors=retry_errors)
    if report.errors or report.missing:
        raise typer.Exit(1)


def _named(guard: Guard, chosen: Configuration, *, evidence: bool) -> dict[str, str]:
    """What the results depend on, by name; a run goes on only with the same."""
    named = {
        "policy": repr(guard.policy),
        "calibrator": Path(chosen.calibrator).read_text("utf-8") if chosen.calibrator else "",
        "language model": chosen.language_model or "",
        "evidence": str(evidence),
    }
    if not chosen.ordinary:
        named["set-up"] = json.dumps(chosen.recorded(), sort_keys=True)
    return named


def _checked(
    paths: list[str],
    out: str,
    guard: Guard,
    mapped: list[str] | None,
    settings: DatasetSettings,
    named: dict[str, str],
    *,
    retry_errors: bool,
) -> Report:
    """Run it, with progress, and say what came of it."""
    from franq_guard.batch.dataset import check_dataset as check

    fields = fields_from(mapped).given
    began = time.monotonic()
    # Ray tells of processes that ended on standard output, which is for results.
    with (
        needing("pip install 'franq-guard[offline,ray]'"),
        redirect_stdout(sys.stderr),
        bar("rows checked") as show,
    ):
        try:
            report = check(
                paths,
                out,
                guard=guard,
                fields=fields,
                settings=settings,
                named=named,
                retry_errors=retry_errors,
                progress=show,
            )
        except (ValueError, TypeError, ConnectionError) as error:
            fail(str(error))
        except RuntimeError as error:
            say(f"error: {error}")
            raise typer.Exit(1) from None
    for line in _lines(report, time.monotonic() - began):
        say(line)
    return report


def _lines(report: Report, seconds: float) -> Iterator[str]:
    """The counts in words."""
    new = report.done - report.before
    went_on = f", {report.before} before" if report.before else ""
    yield f"{report.done} of {report.total} rows done{went_on}; {new} in {seconds:.1f} s"
    claims = ", ".join(f"{count} {label}" for label, count in report.labels.most_common())
    yield f"{report.labels.total()} claims: {claims or 'none'}"
    if report.errors:
        yield f"{report.errors.total()} row(s) could not be checked:"
    for text, count in report.errors.most_common(_SHOWN):
        yield f"  {count} x {text}"
    if len(report.errors) > _SHOWN:
        yield f"  and {len(report.errors) - _SHOWN} other errors, in the column error"
    if report.errors and not report.missing:
        yield "with --retry-errors the same command checks these rows again"
    if report.missing:
        yield f"{report.missing} row(s) have no result: the same command goes on with them"
