"""``franq bench short``: the paper's short-form tables on questions with gold answers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from franq_bench.cli.workers import side_by_side
from franq_guard.cli.console import bar, fail, quiet, say

if TYPE_CHECKING:
    from franq_bench.short.generate import Shard
    from franq_bench.short.run import Plan
    from franq_bench.tables.results import Results

Names = tuple[str, str | None, str]
"""Language model, its dtype and faithfulness model: what :func:`load_models` takes."""


class Spoiled(StrEnum):
    """What is done to the passages."""

    original = "original"
    shuffled = "shuffled"
    corrupted = "corrupted"


class DType(StrEnum):
    """Numbers the language model computes in."""

    float32 = "float32"
    bfloat16 = "bfloat16"


def short(
    data: Annotated[list[Path], typer.Option(help="rag_qa JSONL, also .gz; several times.")],
    out: Annotated[Path, typer.Option(help="Folder for results, scores and the report.")],
    train: Annotated[int, typer.Option(min=0, help="Training questions of each data set.")] = 200,
    test: Annotated[int, typer.Option(min=1, help="Test questions of each data set.")] = 300,
    passages: Annotated[int, typer.Option(min=0, help="Passages shown.")] = 5,
    samples: Annotated[int, typer.Option(min=2, help="Samples of each question.")] = 10,
    max_new_tokens: Annotated[int, typer.Option(min=1, help="Of answers and samples.")] = 32,
    temperature: Annotated[float, typer.Option(help="Of the samples.")] = 0.5,
    retrieval: Annotated[
        Spoiled, typer.Option(help="Half of each question's passages replaced or falsified.")
    ] = Spoiled.original,
    pool: Annotated[
        Path | None,
        typer.Option(help="Passages (JSONL) to search for questions that come without any."),
    ] = None,
    runtime: Annotated[bool, typer.Option(help="Measure what methods cost, too.")] = False,
    seed: Annotated[int, typer.Option(help="Of the draw, the samples and the bootstrap.")] = 0,
    language_model: Annotated[
        str, typer.Option(help="bundled, a .gguf file, or a model folder.")
    ] = "bundled",
    dtype: Annotated[DType | None, typer.Option(help="Of the model and SAR's embeddings.")] = None,
    faithfulness: Annotated[str, typer.Option(help="small, or an AlignScore folder.")] = "small",
    shard: Annotated[
        str, typer.Option(help="i/n: make only this part's answers, for the tables later.")
    ] = "1/1",
    workers: Annotated[int, typer.Option(min=1, help="Processes that share the work here.")] = 1,
    cache: Annotated[
        Path | None, typer.Option(help="Where answers are kept (they hold the data's text).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON Lines instead of a table.")] = False,
) -> None:
    """Answers, samples and every method on questions with passages; FRANQ and its rivals fitted.

    What was made is kept: a run that was stopped goes on, and a rerun takes seconds.
    """
    from franq_bench.cli.bench import existing
    from franq_bench.short.answers import Settings
    from franq_bench.short.run import Plan

    existing([*data, *([pool] if pool else [])])
    plan = Plan(
        data=tuple(data),
        train=train,
        test=test,
        passages=passages,
        retrieval=cast(Any, retrieval.value),
        seed=seed,
        pool=pool,
        runtime=runtime,
        settings=Settings(samples, max_new_tokens, temperature, seed),
    )
    part = _shard(shard)
    if workers > 1 and part != (1, 1):
        fail("give --workers (processes here) or --shard (one part, of several machines), not both")
    names = (language_model, dtype and dtype.value, faithfulness)
    results = _results(plan, names, cache or _cache(), part, workers, out)
    if results is None:
        say(f"part {shard} is done; when all are, the same command without --shard makes tables")
        return
    show_results(results, out, as_json)


def _results(
    plan: Plan, names: Names, cache: Path, part: Shard, workers: int, out: Path
) -> Results | None:
    from franq_bench.cli.bench import explained
    from franq_bench.short.run import run

    with explained():
        models = load_models(*names)  # before the workers', so that it fails once
        if workers > 1:
            shares = [(i, workers) for i in range(1, workers + 1)]
            side_by_side(_make, [(plan, names, cache, share) for share in shares])
        return run(plan, models, cache, bar, shard=part, out=out)


def _make(plan: Plan, names: Names, cache: Path, shard: Shard) -> None:
    """One worker's part; the first shows its progress for all, whose parts are alike."""
    from franq_bench.cli.bench import explained
    from franq_bench.short.run import run

    with explained():
        run(plan, load_models(*names), cache, bar if shard[0] == 1 else quiet, shard=shard)


def _shard(text: str) -> Shard:
    part, _, parts = text.partition("/")
    if not (part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        fail(f"--shard must be like 2/4, not {text!r}")
    return int(part), int(parts)


def load_models(language_model: str, dtype: str | None, faithfulness: str) -> Any:
    """The models that the options name."""
    from franq_bench.cli.bench import scorer
    from franq_guard.faithfulness.small.minilm import Embedder
    from franq_guard.language_model.choice import language_model_from
    from franq_guard.signals.request import Models

    model = language_model_from(language_model, dtype=dtype, notify=say)
    if getattr(model, "tokenizer", None) is None:
        raise ValueError(
            f"{language_model} does not tell what its alternatives to a token were, which some "
            "methods read: give bundled, a .gguf file or a model folder"
        )
    embed = Embedder(dtype=dtype or "float32")
    return Models(language_model=model, faithfulness=scorer(faithfulness), embed=embed)


def _cache() -> Path:
    from franq_guard.language_model.transformers.bundled import cache_dir

    return cache_dir() / "bench" / "short"


def show_results(results: Any, out: Path, as_json: bool) -> None:
    """Print what was found and write the report."""
    from franq_bench.cli.bench import show
    from franq_bench.tables.report import write_report
    from franq_bench.tables.summary import datasets_table, summary_table

    if as_json:
        show(results.to_dict()["rows"], as_json=True)
    else:
        for table in (datasets_table(results), summary_table(results)):
            titles = [column.title for column in table.columns]
            show([dict(zip(titles, row, strict=True)) for row in table.shown() if len(row) > 1])
    for file in write_report(out):
        say(f"wrote {file}")
