"""The set-up of a guard as one list of settings: from options, from one TOML file, and back.

An option that is given wins over the file; what neither names has its default here.
"""

from __future__ import annotations

import inspect
import json
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import partial, wraps
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franq_guard.cli.console import fail, say

if TYPE_CHECKING:
    from franq_guard.calibration.store import Calibrator
    from franq_guard.claims import ClaimSplitter

__all__ = ["Configuration", "configured", "in_force", "versions", "with_set_up"]

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE.toml", help="Settings; options given here win."),
]
FaithfulnessOption = Annotated[
    str | None,
    typer.Option(
        "--faithfulness",
        metavar="small|alignscore-base|alignscore-large|PATH",
        help="What gives P(faithful). PATH: a folder from convert-alignscore, or an original "
        "checkpoint and its backbone's folder, FILE.ckpt#FOLDER. Default: small.",
    ),
]
NliOption = Annotated[
    str | None,
    typer.Option(
        "--nli",
        metavar="FOLDER|NAME@COMMIT",
        help="A 3-way NLI model of transformers beside it, such as DeBERTa-MNLI. Default: the "
        "faithfulness model itself.",
    ),
]
ClaimsOption = Annotated[
    str | None,
    typer.Option(
        "--claims",
        metavar="rules|llm|llm:WHERE",
        help="What splits an answer. llm: the language model; WHERE: another one, a folder, a "
        ".gguf file or URL#NAME of an OpenAI-compatible server. Default: rules.",
    ),
]
FormOption = Annotated[
    str | None, typer.Option("--form", help="long, short or auto. Default: long.")
]
UqFaithOption = Annotated[
    str | None,
    typer.Option(
        "--uq-faith",
        help="Method of UQ_faith, see franq methods. Default: the calibrator's; to fit one, the "
        "paper's.",
    ),
]
UqUnfaithOption = Annotated[
    str | None, typer.Option("--uq-unfaith", help="Method of UQ_unfaith, likewise.")
]
CalibrationOption = Annotated[
    str | None,
    typer.Option(
        "--calibration",
        help="none (the paper's formula without a calibrator), or what the --calibrator must be: "
        "global, condition or learned. Default: whatever it is.",
    ),
]
FaithfulAboveOption = Annotated[
    float | None,
    typer.Option(
        "--threshold-faithful",
        help="P(faithful) above which a claim is faithful. Default: what a calibrator was fitted "
        "with (another number voids its promise), else 0.5.",
    ),
]
StrictFlag = Annotated[
    bool | None,
    typer.Option("--strict", help="A calibrator that was fitted for something else is an error."),
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
}
_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_PACKAGES = ("franq-guard", "torch", "transformers", "numpy", "scikit-learn")
_CALIBRATIONS = ("none", "global", "condition", "learned")


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """The set-up of a guard; each field is the option of the same name.

    ``grader`` and ``rewrite`` are read by ``franq bench`` alone; they stand here so that one file
    says everything about a run.

    Raises:
        ValueError: for a value that cannot be.
    """

    faithfulness: str = "small"
    nli: str | None = None
    language_model: str | None = None
    claims: str = "rules"
    form: str = "long"
    uq_faith: str | None = None
    uq_unfaith: str | None = None
    calibration: str | None = None
    calibrator: str | None = None
    threshold_faithful: float | None = None
    strict: bool = False
    grader: str = "alias"
    rewrite: str = "rules"

    def __post_init__(self) -> None:
        for key, allowed in (("form", ("long", "short", "auto")), ("calibration", _CALIBRATIONS)):
            value = getattr(self, key)
            if value is not None and value not in allowed:
                raise ValueError(f"{key} must be one of {', '.join(allowed)}, not {value!r}")
        for key, plain in (("claims", "rules"), ("grader", "alias"), ("rewrite", "rules")):
            value = getattr(self, key)
            if value not in (plain, "llm") and not value.startswith("llm:"):
                raise ValueError(f"{key} must be {plain}, llm or llm:WHERE, not {value!r}")
        if not 0 < self.faithful_above < 1:
            raise ValueError("threshold_faithful must lie between 0 and 1")

    @classmethod
    def read(cls, file: Path, *, form: str | None = None) -> Configuration:
        """From a TOML file; its table ``[long]`` or ``[short]`` holds for that form alone.

        Args:
            file: settings by name.
            form: long, short or auto; None: what the file says.

        Raises:
            OSError: if it cannot be read.
            ValueError: if it is no TOML, or has an unknown key or a wrong value.
        """
        try:
            values = tomllib.loads(file.read_text(encoding="utf-8"))
            tables = {name: values.pop(name, {}) for name in ("long", "short")}
            checked = {name: _checked(table) for name, table in tables.items()}
            plain = _checked(values)
            for name, table in checked.items():
                if "form" in table:
                    raise ValueError(f"form must stand above the tables, not in [{name}]")
                cls(**{**plain, **table, "form": name})  # tells a wrong value for either form
            own = checked.get(form or plain.get("form", "long"), {})
            return cls(**{**plain, **own, **({"form": form} if form else {})})
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None

    def toml(self) -> str:
        """As a file for ``--config``; a setting without a value is a comment."""
        lines = [
            f"# {key} =" if value is None else f"{key} = {json.dumps(value, ensure_ascii=False)}"
            for key, value in asdict(self).items()
        ]
        return "\n".join(lines) + "\n"

    @property
    def faithful_above(self) -> float:
        """P(faithful) above which a claim is faithful, to fit a calibrator with."""
        return 0.5 if self.threshold_faithful is None else self.threshold_faithful

    @property
    def ordinary(self) -> bool:
        """Whether the guard is the default one, apart from its language model and calibrator."""
        plain = replace(self, language_model=None, calibrator=None, grader="alias", rewrite="rules")
        return plain == Configuration()

    def options(self, fitted: Calibrator | None) -> dict[str, Any]:
        """The arguments of a guard, apart from its language model and policy; loads no weights.

        Raises:
            ValueError: if the calibrator is of another kind than ``calibration``, or, with
                ``strict``, was fitted with another ``threshold_faithful``.
        """
        from franq_guard.faithfulness.loading import faithfulness_from

        load = partial(faithfulness_from, self.faithfulness, nli=self.nli)
        made: dict[str, Any] = {"faithfulness": load, "form": self.form, "strict": self.strict}
        made |= {"uq_faith": self.uq_faith, "uq_unfaith": self.uq_unfaith}
        made["franq"] = self._calibrator(fitted)
        return made

    def _calibrator(self, fitted: Calibrator | None) -> Calibrator | None:
        from franq_guard.calibration.store import Calibrator

        if fitted is not None:
            if self.calibration not in (None, fitted.calibration):
                raise ValueError(
                    f"the calibrator's calibration is {fitted.calibration!r}, the settings say "
                    f"{self.calibration!r}: change the settings, or fit another calibrator"
                )
            return self._own_cut(fitted)
        if self.calibration == "none":
            form: Any = self.form if self.form != "auto" else "long"
            return _cut(Calibrator.uncalibrated(form=form), self.faithful_above)
        if self.calibration is not None:
            raise ValueError(
                f"calibration {self.calibration!r} needs a calibrator: fit one with `franq "
                "calibrate`, with the same settings, and name it with --calibrator"
            )
        if self.threshold_faithful is not None:
            say("warning: --threshold-faithful has no effect on the shipped calibrators")
        return None

    def _own_cut(self, fitted: Calibrator) -> Calibrator:
        """The calibrator; where another P(faithful) is set, with that and without its promise."""
        own, chosen = fitted.labels.supported_from, self.threshold_faithful
        if chosen is None or chosen == own:
            return fitted
        said = f"the calibrator {fitted.name!r} was fitted with --threshold-faithful {own:g}"
        if self.strict:
            raise ValueError(f"{said}, not {chosen:g}: leave the option out, or fit it again")
        say(f"warning: {said}; with {chosen:g} it promises nothing")
        return replace(_cut(fitted, chosen), promise=None)

    def splitter(self, ask_own: Any) -> ClaimSplitter | None:
        """The splitter; None for the rules. ``ask_own`` returns the guard's model as a function."""
        if self.claims == "rules":
            return None
        import os

        from franq_guard.cli.told_splitter import ToldSplitter
        from franq_guard.language_model.asking import ask_from

        where = self.claims.partition(":")[2]
        key = os.environ.get("FRANQ_API_KEY")
        asked = ask_from(where, api_key=key) if where else ask_own()
        return ToldSplitter(asked.ask, name=asked.name)


def with_set_up(
    command: Callable[..., None],
    *,
    but: Collection[str] = (),
    more: Mapping[str, Any] | None = None,
    form: str | None = None,
) -> Callable[..., None]:
    """Give a command the options of the set-up; it gets what they say as ``chosen``.

    Args:
        command: a function with the parameter ``chosen``.
        but: settings that have no meaning for the command and are no options of it.
        more: options of further settings, by the setting's name.
        form: the form that the command has, whatever a file says.
    """
    options = {name: option for name, option in _OPTIONS.items() if name not in but}
    own = inspect.signature(command, eval_str=True).parameters
    kept = [p.replace(kind=_KEYWORD) for name, p in own.items() if name != "chosen"]
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
        command(**given, chosen=configured(setting.pop("config"), **setting))

    parameters = [*kept, *added]
    vars(run)["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def configured(file: Path | None, **given: Any) -> Configuration:
    """The settings of a file, or the defaults, with the given ones (not None) in their place.

    What cannot be ends the program with a message.
    """
    try:
        start = Configuration()
        if file is not None:
            start = Configuration.read(file, form=given.get("form"))
        return replace(start, **{key: value for key, value in given.items() if value is not None})
    except OSError as error:
        fail(f"cannot read {file}: {error.strerror}")
    except ValueError as error:
        fail(str(error))


def in_force(
    chosen: Configuration, calibrator: Path | None, language_model: str | None
) -> Configuration:
    """The set-up with the two options that other commands have, too."""
    return replace(
        chosen,
        calibrator=chosen.calibrator if calibrator is None else str(calibrator),
        language_model=language_model or chosen.language_model,
    )


def versions() -> dict[str, str]:
    """The versions of the packages that a result depends on, as far as they are installed."""
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # an extra that is not installed, or the source tree
            continue
    return found


def _cut(fitted: Calibrator, supported_from: float) -> Calibrator:
    """The calibrator with another P(faithful) from which a claim counts as faithful."""
    return replace(fitted, labels=replace(fitted.labels, supported_from=supported_from))


def _checked(values: Any) -> dict[str, Any]:
    """Values of the right kinds under known names; ``ValueError`` otherwise."""
    kinds = {f.name: str(f.type).removesuffix(" | None") for f in fields(Configuration)}
    if not isinstance(values, Mapping):
        raise ValueError("long and short are tables: [short], and settings below it")
    for key, value in values.items():
        if key not in kinds:
            raise ValueError(f"unknown setting {key!r}; known: {', '.join(kinds)}")
        wanted: Any = {"bool": bool, "float": (int, float)}.get(kinds[key], str)
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            raise ValueError(f"{key} must be {kinds[key]}, not {value!r}")
    return dict(values)
