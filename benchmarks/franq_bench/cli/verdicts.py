"""``franq bench verdicts``: measure the guard's verdicts on answers by any writer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from franq_bench.cli.common import JsonFlag, explained, show
from franq_guard.cli.console import bar, fail

_FOLDS = ("fitting", "thresholds", "test")


def verdicts(
    data: Annotated[Path, typer.Option("--data", help="Folder with the data files.")],
    fold: Annotated[str, typer.Option(help="fitting, thresholds or test.")] = "test",
    limit: Annotated[int | None, typer.Option(min=1, help="Most answers of each kind.")] = None,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Of P(true). Default: the calibrator's.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of changes and passage order.")] = 0,
    as_json: JsonFlag = False,
) -> None:
    """Measure false alarms and caught errors of the default guard on answers by any writer.

    The data: answers written by people, with 1, 3 and 10 passages, unchanged, with one fact
    changed, and without the passage they are based on; claims of seven models, labelled by people.
    """
    from franq_bench.verdicts.answers import CLAPNQ, POOL, REFCHECKER, clapnq, refchecker
    from franq_bench.verdicts.figures import table
    from franq_bench.verdicts.rows import rows_of
    from franq_guard.guard import Guard
    from franq_guard.policy import Policy

    if fold not in _FOLDS:
        fail(f"--fold must be one of {', '.join(_FOLDS)}, not {fold!r}")
    if not data.is_dir():
        fail(f"--data: {data} is not a folder with the data files")
    if missing := [name for name in (CLAPNQ, POOL, REFCHECKER) if not (data / name).is_file()]:
        fail(f"--data: {data} lacks {', '.join(missing)}")
    with explained():
        chosen: Any = fold
        asked = [*clapnq(data, chosen, seed=seed), *refchecker(data, chosen)]
        if limit is not None:
            kinds = dict.fromkeys((one.kind, one.passages) for one in asked)
            asked = [
                one
                for kind in kinds
                for one in [a for a in asked if (a.kind, a.passages) == kind][:limit]
            ]
        if not asked:
            fail(f"--data: {data} has no answers in the fold {fold}")
        guard = Guard.offline(policy=Policy(threshold=threshold))
        with bar("checking") as tell:
            rows = rows_of(guard, asked, lambda done: tell(done, len(asked)))
        found = table(rows)
    if not as_json:
        found = [{k: _rounded(v) for k, v in line.items()} for line in found]
    show(found, as_json)


def _rounded(value: Any) -> Any:
    return f"{value:.3f}" if isinstance(value, float) else value
