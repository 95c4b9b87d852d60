"""``franq check``: check the answers in a file, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franq_guard.cli.configuration import Configuration, in_force
from franq_guard.cli.console import counter, drop_output, fail, reason, say
from franq_guard.cli.options import (
    BatchSizeOption,
    CalibratorOption,
    EvidenceOption,
    FalseBelowOption,
    JsonFlag,
    MapOption,
    ModelOption,
    PolicyOption,
    ThreadsOption,
    ThresholdOption,
    WeakOption,
    fields_from,
    guard_from,
    load_models,
    loading_models,
    refuse_unwritable,
)
from franq_guard.cli.set_up import of_a_guard
from franq_guard.cli.settings_file import begin_settings, write_settings

if TYPE_CHECKING:
    from franq_guard.cli.outlets import Outlet, Wishes
    from franq_guard.cli.resuming import Done
    from franq_guard.guard import Guard
    from franq_guard.rows.fields import Fields


@of_a_guard
def check(
    chosen: Configuration,
    file: Annotated[Path, typer.Argument(help="Rows to check; - reads standard input.")],
    as_json: JsonFlag = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write JSON Lines to this file, not tables.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Continue the file of --out: check the other rows, and retry errors."
        ),
    ] = False,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page to look at, not tables.")
    ] = None,
    with_passages: Annotated[
        bool, typer.Option("--with-passages", help="Put question and passages into the JSON, too.")
    ] = False,
    evidence: EvidenceOption = True,
    mapped: MapOption = None,
    policy: PolicyOption = "annotate",
    threshold: ThresholdOption = None,
    false_below: FalseBelowOption = None,
    weak: WeakOption = None,
    batch_size: BatchSizeOption = 8,
    calibrator: CalibratorOption = None,
    language_model: ModelOption = None,
    threads: ThreadsOption = None,
) -> None:
    """Check the answers in a file; each row has a question, passages and an answer.

    The file may be JSON Lines, a JSON array, CSV, TSV or Parquet; all but Parquet also as .gz.
    The field names of RAGAS, DeepEval, LangSmith, LangChain and LlamaIndex are understood, too;
    --map names others.

    Results go to standard output; progress and the number of claims by label go to standard error.
    A row that cannot be read or checked is reported in its place, the others are still checked,
    and the exit code is 1. Next to --out, FILE.settings.json records the settings.
    """
    from franq_guard.cli.outlets import Wishes

    wishes = Wishes(as_json, out, html, with_passages)
    chosen = in_force(chosen, calibrator, language_model)
    done = _done(file, wishes, chosen, resume=resume)
    fields = fields_from(mapped)
    options: dict[str, Any] = {"false_below": false_below, "weak": weak, "evidence": evidence}
    guard = guard_from(policy, threshold, chosen=chosen, **options)
    load_models(guard)
    more = {"policy": asdict(guard.policy), "evidence": evidence, "passages": with_passages}
    with _stoppable(out, html), _recorded(out, chosen, guard, resumed=bool(done), **more):
        failed = _checked(guard, file, fields, done, wishes, batch_size)
    if failed:
        say(f"{failed} row(s) could not be checked")
        raise typer.Exit(1)


def _done(file: Path, wishes: Wishes, chosen: Configuration, *, resume: bool) -> list[Done]:
    """The rows an earlier run wrote; invalid output options end the program before models load."""
    from franq_guard.cli.resuming import done_in

    out, html = wishes.out, wishes.html
    calibrator = None if chosen.calibrator is None else Path(chosen.calibrator)
    refuse_unwritable(out, html, inputs=(file, calibrator))
    if wishes.with_passages and not (wishes.as_json or out):
        fail("--with-passages is for JSON: give --json or --out, too")
    if resume and (out is None or html is not None):
        fail("--resume goes on with the file that --out names, and without --html")
    if out and not resume and out.exists() and out.stat().st_size:
        fail(f"{out} holds something: give --resume to go on with it, or another file")
    return done_in(out) if resume and out and out.exists() else []


@contextmanager
def _stoppable(out: Path | None, html: Path | None) -> Iterator[None]:
    """At Ctrl-C or a full disk, say where the finished rows are and how to go on, and end."""

    def go_on() -> str:
        if out is None or not out.exists() or not out.stat().st_size:
            return ""
        return f": the rows that were done are in {out}; add --resume to go on with it"

    try:
        yield
    except KeyboardInterrupt:
        page = f"; {html} shows what was done" if html else ""
        if go_on() or page:
            say(f"stopped{go_on()}{page}")
        raise typer.Exit(130) from None
    except OSError as error:
        say(f"error: {reason(error)}{go_on()}")
        drop_output()
        raise typer.Exit(1) from None


@contextmanager
def _recorded(
    out: Path | None, chosen: Configuration, guard: Guard, *, resumed: bool, **more: Any
) -> Iterator[None]:
    """The settings beside the output: before the block, and after it who split the answers."""
    if out is None:
        yield
        return
    with loading_models():
        fingerprint = _deciding(guard)
    begin_settings(out, chosen, fingerprint, resumed=resumed, **more)
    yield
    if by_rules := getattr(guard.claims, "by_rules", 0):
        said = f"{by_rules} of {getattr(guard.claims, 'sentences', 0)} sentences"
        write_settings(out, chosen, fingerprint, **more, split_by_rules=said)


def _deciding(guard: Guard) -> dict[str, str]:
    """What decides on an answer of an unknown writer; rows of others name their own calibrator."""
    from franq_guard.records import Generation
    from franq_guard.signals.components import components_of

    calibrator, choice = guard.calibrator, guard.choice
    setting = choice.setting(reads=choice.reads(Generation("")))
    shipped = choice.franq is None and not choice.named
    own = components_of(calibrator) if shipped or calibrator.evidence_only else None
    used = own or choice.components
    if calibrator.evidence_only or not used.compare_samples:
        setting.pop("samples", None)  # no method draws any
    return {**setting, "methods": used.methods, "calibrator": calibrator.name}


def _checked(
    guard: Guard,
    file: Path,
    fields: Fields,
    done: list[Done],
    wishes: Wishes,
    batch_size: int,
) -> int:
    """Check the remaining rows and write the results.

    Returns:
        The number of failed rows.
    """
    from franq_guard.cli.inputs import rows_in, total_rows
    from franq_guard.cli.outlets import outlets
    from franq_guard.cli.resuming import left
    from franq_guard.cli.rows import check_rows
    from franq_guard.cli.tally import Tally

    total = total_rows(file)
    tally = Tally(guard.policy, done)
    with ExitStack() as stack:
        rows = left(stack.enter_context(rows_in(file, fields, columns=fields.columns)), done)
        first = list(islice(rows, 1))  # read before an output is opened: that empties the file
        if not first and not done:
            fail(f"{'standard input' if str(file) == '-' else file} holds no rows")
        places: list[Outlet] = outlets(guard, file, wishes, stack, done)
        aside = counter(
            "answers checked",
            total=None if total is None else total - tally.before,
            beside_output=wishes.on_output,
        )
        advance = stack.enter_context(aside)
        for result in check_rows(guard, chain(first, rows), batch_size=batch_size):
            advance(1)
            tally.add(result)
            for place in places:
                place.take(result)
    for place in places:  # only now are the files closed and complete
        place.end()
    for line in (*fields.notes(), *tally.lines()):
        say(line)
    return tally.failed
