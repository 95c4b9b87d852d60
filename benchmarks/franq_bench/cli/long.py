"""``franq bench claims-factuality`` and ``long-form``: the paper's long-form tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franq_bench.cli.common import (
    DType,
    JsonFlag,
    cache_folder,
    dtype_of,
    existing,
    explained,
    load_models,
    show_results,
    writable,
)
from franq_bench.cli.set_up import in_long_form, of_given_claims, said
from franq_guard.cli.configuration import Configuration
from franq_guard.cli.console import bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from franq_bench.data.labelled_answers import LabelledAnswer
    from franq_bench.long.run import Plan
    from franq_guard.signals.request import Models

Out = Annotated[Path, typer.Option(help="Folder for results, scores and the report.")]
TrainShare = Annotated[
    float, typer.Option(min=0.0, max=0.9, help="Share of the questions to calibrate on.")
]
Seed = Annotated[int, typer.Option(help="Seed of draw, split and bootstrap.")]
DTypeOption = Annotated[DType | None, typer.Option(help="Data type of model and embeddings.")]
CacheOption = Annotated[
    Path | None, typer.Option(help="Where measurements are kept (they contain text of the data).")
]


@of_given_claims
def claims_factuality(
    chosen: Configuration,
    data: Annotated[
        list[Path], typer.Option(help="Claim rows or franq.trace/1 rows with labels, also .gz.")
    ],
    out: Out,
    limit: Annotated[
        int | None, typer.Option(min=1, help="At most this many answers of each data set.")
    ] = None,
    passages: Annotated[int, typer.Option(min=0, help="Passages shown with a response.")] = 3,
    held_out: Annotated[
        bool,
        typer.Option(help="Only answers over passages that the small model was not trained on."),
    ] = False,
    train_share: TrainShare = 0.4,
    seed: Seed = 0,
    dtype: DTypeOption = None,
    cache: CacheOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Measure every claim-level method on labelled claims of given answers; fit FRANQ and XGBoost.

    The language model did not write the answers: its probabilities are used in place of the
    writer's. Measurements are stored: an interrupted run continues, and a rerun takes seconds.
    """
    from franq_bench.data.labelled_answers import read_labelled
    from franq_bench.long.run import Plan, unseen

    existing(data)
    writable(out)
    with explained():
        answers = read_labelled(data, passages=passages)
        answers = unseen(answers) if held_out else answers
        models = _models(chosen, dtype)
        plan = Plan(
            benchmark="claims-factuality",
            data=tuple(data),
            limit=limit,
            train_share=train_share,
            seed=seed,
            **_fitting(chosen, passages=passages, held_out=held_out),
        )
        _run(plan, answers, models, cache or cache_folder("long"), out, as_json)


@in_long_form
def long_form(
    chosen: Configuration,
    data: Annotated[list[Path], typer.Option(help="Questions with gold answers; several times.")],
    out: Out,
    prompts: Annotated[int, typer.Option(min=1, help="Most prompts to use.")] = 100,
    questions: Annotated[int, typer.Option(min=1, help="Questions asked in a prompt.")] = 4,
    supported: Annotated[int, typer.Option(min=0, help="How many of these get passages.")] = 2,
    passages: Annotated[int, typer.Option(min=0, help="Passages shown in a prompt.")] = 3,
    train_share: TrainShare = 0.4,
    seed: Seed = 0,
    dtype: DTypeOption = None,
    cache: CacheOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Measure the methods on the model's own answers, with claims labelled by the gold answers.

    Each prompt asks several questions; passages are shown for some of them only, and gold
    faithfulness says which claims they contain. A small model answers two questions at once better
    than four. The set is written to OUT/traces.jsonl, so that `franq bench claims-factuality` can
    measure another model on it.
    """
    from franq_bench.long.own import labelled, own_answers, write_traces
    from franq_bench.long.run import Plan
    from franq_guard.claims import RuleSplitter
    from franq_guard.datasets.long_form.answers import summary
    from franq_guard.language_model.asking import asked

    existing(data)
    writable(out)
    folder = cache or cache_folder("long")
    with explained():
        models = _models(chosen, dtype)
        own = models.language_model
        assert own is not None  # load_models raises otherwise
        splitter = chosen.splitter(lambda: asked(own, max_new_tokens=600)) or RuleSplitter()
        with bar("answering") as show:
            made = own_answers(
                data,
                own,
                folder / "generations.jsonl",
                prompts=prompts,
                per_prompt=questions,
                with_passages=supported,
                k=passages,
                seed=seed,
                splitter=splitter,
                progress=show,
            )
        write_traces(made, out / "traces.jsonl")
        sizes = {"prompts": prompts, "questions": questions, "supported": supported}
        split = {"claims": splitter.fingerprint, "labels": summary(made)}
        plan = Plan(
            benchmark="long-form",
            data=tuple(data),
            train_share=train_share,
            seed=seed,
            white_box="the model's own answers, their log-probabilities as captured",
            **_fitting(chosen, **sizes, passages=passages, **split),
        )
        _run(plan, list(map(labelled, made)), models, folder, out, as_json)


def _models(chosen: Configuration, dtype: DType | None) -> Models:
    where = chosen.language_model or "bundled"
    return load_models(where, dtype_of(dtype), chosen.faithfulness, chosen.nli)


def _fitting(chosen: Configuration, **more: Any) -> dict[str, Any]:
    """What of a plan the set-up decides, and further settings to be stored with the results."""
    from franq_bench.fits.long_form import SIGNALS

    p_faithful, faith, unfaith = SIGNALS
    signals = (p_faithful, chosen.uq_faith or faith, chosen.uq_unfaith or unfaith)
    above = chosen.faithful_above
    return {"signals": signals, "faithful_above": above, "more": {**more, **said(chosen)}}


def _run(
    plan: Plan,
    answers: Sequence[LabelledAnswer],
    models: Any,
    cache: Path,
    out: Path,
    as_json: bool,
) -> None:
    from franq_bench.long.run import run

    results = run(plan, answers, models, cache / "statistics", bar, out=out)
    show_results(results, out, as_json)
