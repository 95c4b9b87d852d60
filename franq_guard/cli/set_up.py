"""The options of a set-up: what a command gets as its ``chosen``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from franq_guard.cli.configuration import BENCH, bench_of, configured

__all__ = ["of_a_guard", "with_set_up"]

ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE.toml",
        help="Read settings from this file, such as franq config prints. Options given here take "
        "precedence. Paths in it start in the folder the command is run in.",
    ),
]


def _as_defaults(context: typer.Context, file: Path | None) -> Path | None:
    """Make what the file's table ``[bench]`` says the defaults of the command's other options."""
    if file is not None:
        context.default_map = bench_of(file)
    return file


BenchConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE.toml",
        is_eager=True,  # read before the options that it has defaults for
        callback=_as_defaults,
        help="Read settings from this file, such as examples/paper.toml. Options given here take "
        "precedence. Paths in it start in the folder the command is run in.",
    ),
]
FaithfulnessOption = Annotated[
    str | None,
    typer.Option(
        "--faithfulness",
        metavar="MODEL",
        help="Estimates P(faithful), whether the passages say a claim: small (default), larger "
        "(more exact, slower; needs franq-larger), alignscore-base, alignscore-large, the folder "
        "of a model that you trained or converted (franq convert-alignscore), or FILE.ckpt#FOLDER, "
        "an AlignScore checkpoint and its backbone.",
    ),
]
NliOption = Annotated[
    str | None,
    typer.Option(
        "--nli",
        metavar="MODEL",
        help="Another model for natural language inference (entailment, neutral, contradiction), "
        "such as DeBERTa-MNLI: a folder, or NAME@COMMIT of the model hub. Default: the "
        "faithfulness model.",
    ),
]
ClaimsOption = Annotated[
    str | None,
    typer.Option(
        "--claims",
        metavar="SPLITTER",
        help="What splits an answer into claims: rules (default); llm, the --language-model; or "
        "llm:MODEL, another one (a folder, a .gguf file or URL#NAME of an OpenAI-compatible "
        "server).",
    ),
]
FormOption = Annotated[
    str | None,
    typer.Option(
        "--form",
        metavar="FORM",
        help="long: split the answer into claims; short: the whole answer is one claim, read with "
        "its question; auto: decide for each answer. Default: long.",
    ),
]
UqFaithOption = Annotated[
    str | None,
    typer.Option(
        "--uq-faith",
        metavar="METHOD",
        help="How sure the model was of a claim that the passages say (a name from franq "
        "methods). Default: the calibrator's; for franq calibrate, the paper's.",
    ),
]
UqUnfaithOption = Annotated[
    str | None,
    typer.Option(
        "--uq-unfaith",
        metavar="METHOD",
        help="The same for a claim that they do not say.",
    ),
]
CalibrationOption = Annotated[
    str | None,
    typer.Option(
        "--calibration",
        metavar="KIND",
        help="none: use no calibrator. condition, global or learned: refuse a --calibrator of "
        "another kind. Default: any kind.",
    ),
]
FaithfulAboveOption = Annotated[
    float | None,
    typer.Option(
        "--threshold-faithful",
        help="A claim counts as faithful if its P(faithful) is above this. Default: the "
        "calibrator's (its promise holds only for that one), else 0.5.",
    ),
]
StrictFlag = Annotated[
    bool | None,
    typer.Option("--strict", help="Refuse a calibrator that was fitted for another set-up."),
]
SamplesOption = Annotated[
    int | None,
    typer.Option(
        min=2,
        help="Answers to sample, for methods of short answers that compare them. Default: 10.",
    ),
]
TemperatureOption = Annotated[
    float | None, typer.Option(help="Temperature of these samples. Default: 0.5.")
]

_OPTIONS: dict[str, Any] = {
    "config": ConfigOption,
    "faithfulness": FaithfulnessOption,
    "nli": NliOption,
    "claims": ClaimsOption,
    "form": FormOption,
    "uq_faith": UqFaithOption,
    "uq_unfaith": UqUnfaithOption,
    "calibration": CalibrationOption,
    "threshold_faithful": FaithfulAboveOption,
    "strict": StrictFlag,
    "samples": SamplesOption,
    "temperature": TemperatureOption,
}
_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def with_set_up(
    command: Callable[..., None],
    *,
    but: Collection[str] = (),
    elsewhere: Collection[str] = (),
    more: Mapping[str, Any] | None = None,
    form: str | None = None,
    bench: bool = False,
) -> Callable[..., None]:
    """Give a command the options of the set-up; it gets what they say as ``chosen``.

    Args:
        command: a function with the parameter ``chosen``.
        but: settings that have no meaning for the command: they are no options of it, not recorded,
            and a file that sets one is warned of.
        elsewhere: likewise, but without the warning: another command reads them of the same file.
        more: options of further settings, or in place of the usual ones, by the setting's name.
        form: the form that the command has, whatever a file says.
        bench: whether the file's table ``[bench]`` has defaults for the command's own options.
    """
    left_out = {*but, "form"} if form is not None else {*but}
    options = {name: option for name, option in _OPTIONS.items() if name not in left_out}
    own = inspect.signature(command, eval_str=True).parameters
    kept = [p.replace(kind=_KEYWORD) for name, p in own.items() if name != "chosen"]
    if bench:
        options["config"] = BenchConfigOption
    read = BENCH.keys() & own.keys() if bench else None
    told: Any = {"unread": but, "elsewhere": elsewhere, "bench": read}
    added = [
        inspect.Parameter(name, _KEYWORD, default=None, annotation=option)
        for name, option in {**options, **(more or {})}.items()
        if name not in own
    ]

    @wraps(command)
    def run(**given: Any) -> None:
        setting = {p.name: given.pop(p.name) for p in added}
        if form is not None:
            setting["form"] = form
        command(**given, chosen=configured(setting.pop("config"), **told, **setting))

    parameters = [*kept, *added]
    vars(run)["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


of_a_guard = partial(with_set_up, elsewhere=("min_per_class", "grader", "rewrite"))
"""For a command that checks answers."""
