"""``franq bench short``: the paper's short-form tables on questions with gold answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from franq_bench.cli.common import (
    DType,
    JsonFlag,
    Names,
    cache_folder,
    dtype_of,
    existing,
    explained,
    load_models,
    show_results,
    writable,
)
from franq_bench.cli.engines import AddressOption, Engine, EngineOption, WorkersOption, checked
from franq_bench.cli.grades import tell_grades
from franq_bench.cli.set_up import Asking, in_short_form, said
from franq_bench.cli.workers import side_by_side
from franq_guard.cli.configuration import Configuration
from franq_guard.cli.console import bar, fail, quiet, say
from franq_guard.cli.dataset.sets import resumable

if TYPE_CHECKING:
    from franq_bench.cli.engines import By
    from franq_bench.short.generate import Shard
    from franq_bench.short.run import Plan
    from franq_bench.tables.results import Results
    from franq_guard.datasets.grading import Grader
    from franq_guard.language_model.base import LanguageModel
    from franq_guard.signals.request import Models


class Spoiled(StrEnum):
    """How the passages are changed: not at all, replaced or falsified."""

    original = "original"
    shuffled = "shuffled"
    corrupted = "corrupted"


_Pool = Annotated[
    Path | None,
    typer.Option(help="Passages (JSONL) to search for questions that come without any."),
]
_Known = Annotated[
    Path | None,
    typer.Option(help="Folder of a run with fewer questions: its rows are not made again."),
]


@in_short_form
def short(
    chosen: Configuration,
    data: Annotated[list[Path], typer.Option(help="Questions with gold answers; several times.")],
    out: Annotated[Path, typer.Option(help="Folder for results, scores and the report.")],
    train: Annotated[int, typer.Option(min=0, help="Training questions of each data set.")] = 200,
    test: Annotated[int, typer.Option(min=1, help="Test questions of each data set.")] = 300,
    passages: Annotated[int, typer.Option(min=0, help="Passages shown.")] = 5,
    max_new_tokens: Annotated[int, typer.Option(min=1, help="Longest answer or sample.")] = 32,
    retrieval: Annotated[
        Spoiled, typer.Option(help="Half of each question's passages replaced or falsified.")
    ] = Spoiled.original,
    pool: _Pool = None,
    runtime: Annotated[bool, typer.Option(help="Measure what methods cost, too.")] = False,
    known: _Known = None,
    seed: Annotated[int, typer.Option(help="Seed of draw, samples, bootstrap.")] = 0,
    dtype: Annotated[DType | None, typer.Option(help="Data type of model and embeddings.")] = None,
    shard: Annotated[
        str, typer.Option(help="i/n: make only this part's answers, for the tables later.")
    ] = "1/1",
    workers: WorkersOption = None,
    engine: EngineOption = Engine.local,
    address: AddressOption = None,
    cache: Annotated[
        Path | None, typer.Option(help="Where answers are kept (they contain text of the data).")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Measure every method on questions with passages and gold answers; fit FRANQ and XGBoost.

    Answers and measurements are stored: an interrupted run continues, and a rerun takes seconds.
    """
    from franq_bench.short.answers import Settings
    from franq_bench.short.run import Plan

    existing([*data, *([pool] if pool else [])])
    writable(out)
    chosen = _read_with(retrieval, chosen)
    plan = Plan(
        data=tuple(data),
        train=train,
        test=test,
        passages=passages,
        retrieval=cast(Any, retrieval.value),
        seed=seed,
        pool=pool,
        runtime=runtime,
        known=known,
        settings=Settings(chosen.samples, max_new_tokens, chosen.temperature, seed),
    )
    part = _shard(shard)
    by = checked(engine, address, workers, whole=part == (1, 1))
    names = (chosen.language_model or "bundled", dtype_of(dtype), chosen.faithfulness, chosen.nli)
    made = _Made(_fitted_as(plan, chosen), names, chosen, cache or cache_folder("short"))
    with resumable(), explained():
        results = _results(made, part, by, out)
    if results is None:
        say(f"part {shard} is done; when all are, the same command without --shard makes tables")
        return
    show_results(results, out, as_json)
    tell_grades(results, out)


def _read_with(retrieval: Spoiled, chosen: Configuration) -> Configuration:
    """The settings that a run with these passages reads; who rewrites, only where some are."""
    if retrieval is Spoiled.corrupted:
        return chosen
    if chosen.rewrite != "rules":
        say("not read by this run: rewrite (give --retrieval corrupted)")
    return replace(chosen, rewrite="rules", unread=chosen.unread | {"rewrite"})


@dataclass(frozen=True, slots=True)
class _Made:
    """What every process of a run needs to know."""

    plan: Plan
    names: Names
    chosen: Configuration
    cache: Path


def _fitted_as(plan: Plan, chosen: Configuration) -> Plan:
    """The plan with the signals and the threshold of the set-up."""
    p_faithful, faith, unfaith = plan.chosen_signals
    signals = (p_faithful, chosen.uq_faith or faith, chosen.uq_unfaith or unfaith)
    above = chosen.faithful_above
    with explained():
        return replace(plan, signals=signals, faithful_above=above, more=said(chosen))


def _results(made: _Made, part: Shard, by: By, out: Path) -> Results | None:
    from franq_bench.cli.by_ray import make_all
    from franq_bench.short.known import still_to_ask
    from franq_bench.short.run import drawn, rows_known

    # All models are loaded before those of the workers, so that what fails does so once and soon.
    models = load_models(*made.names)
    asking = Asking(made.chosen, _own(models), made.cache)
    grader = asking.grader() if part == (1, 1) else None  # a part alone is not graded
    if by.engine is Engine.ray or by.workers:
        # What a model rewrites is kept, and the workers find it; rows that do not fit are refused
        # before any worker starts.
        questions = drawn(made.plan, asking.rewrite())
        known = rows_known(made.plan, models, questions)
        if by.engine is Engine.ray:
            left = still_to_ask(questions.all, known)
            given = (left, made.plan.settings, made.names, models, made.cache, bar)
            make_all(*given, address=by.address, actors=by.workers)
        elif workers := by.workers:
            side_by_side(_make, [(made, (i, workers)) for i in range(1, workers + 1)])
    return _run(made, models, part, out=out, grader=grader)


def _run(
    made: _Made,
    models: Models,
    shard: Shard,
    *,
    out: Path | None = None,
    grader: Grader | None = None,
) -> Results | None:
    from franq_bench.short.run import run
    from franq_guard.datasets.grading import grade_by_alias

    asking = Asking(made.chosen, _own(models), made.cache, part=f"{shard[0]}-of-{shard[1]}")
    return run(
        made.plan,
        models,
        made.cache,
        bar if shard[0] == 1 else quiet,
        shard=shard,
        out=out,
        grader=grader or grade_by_alias,
        rewrite=asking.rewrite(),
    )


def _own(models: Models) -> LanguageModel:
    assert models.language_model is not None  # load_models raises otherwise
    return models.language_model


def _make(made: _Made, shard: Shard) -> None:
    """Make one worker's part; only the first shows progress, as all parts have the same size."""
    with explained():
        _run(made, load_models(*made.names), shard)


def _shard(text: str) -> Shard:
    part, _, parts = text.partition("/")
    if not (part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        fail(f"--shard must be like 2/4, not {text!r}")
    return int(part), int(parts)
