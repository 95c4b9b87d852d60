"""``franq check``: answers in JSON Lines checked, one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from franq_guard.cli.answers import Shown
from franq_guard.cli.console import counter, emit, lines_of, say, tell
from franq_guard.cli.options import (
    FalseBelowOption,
    JsonFlag,
    ModelOption,
    PolicyOption,
    ThresholdOption,
    WeakOption,
    guard_from,
)


def check(
    file: Annotated[Path, typer.Argument(help="franq.trace/1 rows; - reads standard input.")],
    as_json: JsonFlag = False,
    policy: PolicyOption = "annotate",
    threshold: ThresholdOption = None,
    false_below: FalseBelowOption = None,
    weak: WeakOption = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Answers scored together.")] = 8,
    calibrator: Annotated[Path | None, typer.Option(help="From franq calibrate.")] = None,
    language_model: ModelOption = None,
) -> None:
    """Check answers given as JSON Lines (question, passages, answer; more where you have it).

    Rows are read, checked and written as a stream. A broken row is reported in its place and the
    rest is still done; the exit code is 1 then, and also where an answer's check failed. At the
    end standard error has the number of claims by label.
    """
    from franq_guard.cli.rows import check_rows
    from franq_guard.report.counts import Counts
    from franq_guard.rows.lines import RowError

    guard = guard_from(
        policy, threshold, calibrator, language_model, false_below=false_below, weak=weak
    )
    show = Shown(guard.policy)
    counts, failed = Counts(guard.policy), 0
    with lines_of(file) as lines, counter("answers checked", beside_output=True) as advance:
        for result in check_rows(guard, lines, batch_size=batch_size):
            advance(1)
            failed += result.failed
            if not isinstance(result.outcome, RowError):
                counts.add(result.outcome)
            if as_json:
                emit(result.outcome.to_dict())
            elif isinstance(result.outcome, RowError):
                tell(f"line {result.outcome.line}: {result.outcome.error}")
            else:
                show(result.question, result.outcome, result.passages)
    show.legend()
    say(str(counts))
    if failed:
        say(f"{failed} row(s) could not be checked")
        raise typer.Exit(1)
