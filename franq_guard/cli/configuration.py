"""The set-up of a guard as one list of settings: from options, from one TOML file, and back.

An option that is given wins over the file; what neither names has its default here.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from franq_guard.basics.text import encoding_of
from franq_guard.cli.console import fail, say

if TYPE_CHECKING:
    from franq_guard.calibration.store import Calibrator
    from franq_guard.claims import ClaimSplitter

__all__ = ["BENCH", "Configuration", "bench_of", "configured", "in_force", "versions"]

BENCH = {
    "train": "int",
    "test": "int",
    "passages": "int",
    "retrieval": "str",
    "pool": "str",
    "max_new_tokens": "int",
    "prompts": "int",
    "questions": "int",
    "supported": "int",
    "limit": "int",
    "held_out": "bool",
    "train_share": "float",
    "seed": "int",
    "dtype": "str",
}
"""The settings of a file's table ``[bench]``: options of ``franq bench``, and their kinds."""
_NO_SETTINGS = frozenset({"bench", "unread", "threshold_file"})
"""Fields that are no setting of a guard."""
_TABLES = ("long", "short", "bench")
_KINDS = {"str": "text", "int": "a whole number", "float": "a number", "bool": "true or false"}

_PACKAGES = ("franq-guard", "torch", "transformers", "numpy", "scikit-learn")
_CALIBRATIONS = ("none", "global", "condition", "learned")


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """The set-up of a guard; each field is the option of the same name.

    ``min_per_class`` is read by ``franq calibrate`` alone, ``grader`` and ``rewrite`` by ``franq
    bench``; they stand here so that one file says everything about a run.

    Args:
        note: what whoever uses the file has to know; told when it is read.
        bench: the file's table ``[bench]``, by :data:`BENCH`; the benchmark's commands take their
            options from it and record these themselves.
        unread: the settings that the command has no use for; they are not recorded.
        threshold_file: the file that ``threshold_faithful`` stands in; None: it is an option.

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
    samples: int = 10
    temperature: float = 0.5
    min_per_class: int = 5
    grader: str = "alias"
    rewrite: str = "rules"
    note: str | None = field(default=None, compare=False)
    bench: Mapping[str, Any] = field(default_factory=dict, compare=False)
    unread: frozenset[str] = field(default=frozenset(), compare=False)
    threshold_file: Path | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for key, allowed in (("form", ("long", "short", "auto")), ("calibration", _CALIBRATIONS)):
            value = getattr(self, key)
            if value is not None and value not in allowed:
                raise ValueError(f"{key} must be one of {', '.join(allowed)}, not {value!r}")
        for key, plain in (("claims", "rules"), ("grader", "alias"), ("rewrite", "rules")):
            value = getattr(self, key)
            if value not in (plain, "llm") and not value.startswith("llm:"):
                raise ValueError(f"{key} must be {plain}, llm or llm:WHERE, not {value!r}")
            if value == "llm:":
                raise ValueError(
                    f"{key}: write where the model is after llm: (a folder, a .gguf file or "
                    "URL#NAME), or llm alone for the language model in use"
                )
        if not 0 < self.faithful_above < 1:
            raise ValueError("threshold_faithful must lie between 0 and 1")
        if self.min_per_class < 0:
            raise ValueError("min_per_class must be 0 or more")
        if self.samples < 2:
            raise ValueError("samples must be 2 or more")
        if not 0 < self.temperature < float("inf"):
            raise ValueError("temperature must be a number above 0")

    @classmethod
    def read(cls, file: Path, *, form: str | None = None) -> Configuration:
        """From a TOML file; its table ``[long]`` or ``[short]`` holds for that form alone.

        Its table ``[bench]`` becomes ``bench``.

        Args:
            file: settings by name.
            form: long, short or auto; None: what the file says.

        Raises:
            OSError: if it cannot be read.
            ValueError: if it is no TOML, or has an unknown key or a wrong value.
        """
        try:
            written = file.read_bytes()
            values = tomllib.loads(written.decode(encoding_of(written)))
            tables = {name: values.pop(name, {}) for name in ("long", "short")}
            kinds = _kinds()
            checked = {name: _checked(table, kinds, name) for name, table in tables.items()}
            bench = _checked(values.pop("bench", {}), BENCH, "bench")
            plain = _checked(values, kinds)
            for name, table in checked.items():
                if "form" in table:
                    raise ValueError(f"form must stand above the tables, not in [{name}]")
                cls(**{**plain, **table, "form": name})  # tells a wrong value for either form
            chosen = form or plain.get("form", "long")
            if chosen == "auto":
                _refuse_with_auto([f"[{name}]" for name, table in checked.items() if table])
            own = checked.get(chosen, {})
            return cls(**{**plain, **own, **({"form": form} if form else {})}, bench=bench)
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None

    def toml(self, usual: Mapping[str, str] | None = None) -> str:
        """As a file for ``--config``; a setting without a value is a comment.

        Args:
            usual: by setting, what stands in that comment after the equals sign.
        """
        lines = [_line(key, value, (usual or {}).get(key)) for key, value in self.plain().items()]
        if self.bench:
            lines += ["", "[bench]", *map(_line, self.bench, self.bench.values())]
        return "\n".join(lines) + "\n"

    def plain(self) -> dict[str, Any]:
        """The settings outside ``[bench]`` by name, None for one without a value."""
        left_out = _NO_SETTINGS if self.note else {*_NO_SETTINGS, "note"}
        return {key: value for key, value in asdict(self).items() if key not in left_out}

    def recorded(self) -> dict[str, Any]:
        """The settings that the command reads, for a file beside its result."""
        return {name: value for name, value in asdict(self).items() if name not in self._left_out}

    @property
    def _left_out(self) -> frozenset[str]:
        # A short answer is one claim, and a claim of a long one has no method that reads samples.
        of_form = {"long": {"samples", "temperature"}, "short": {"claims"}}.get(self.form, set())
        return self.unread | of_form | _NO_SETTINGS | {"note"}

    def check(self) -> None:
        """Refuse settings that no guard can have together.

        Not done at construction: a part of a file need not make sense without the rest.

        Raises:
            ValueError: saying what to do.
        """
        names = ("uq_faith", "uq_unfaith", "calibration", "calibrator")
        named = [name for name in names if getattr(self, name) is not None]
        if self.form == "auto":
            _refuse_with_auto(named)
        if self.uq_faith or self.uq_unfaith:
            from franq_guard.signals.components import components

            form: Any = self.form
            components(form, self.uq_faith, self.uq_unfaith)

    @property
    def faithful_above(self) -> float:
        """P(faithful) above which a claim is faithful, to fit a calibrator with."""
        return 0.5 if self.threshold_faithful is None else self.threshold_faithful

    @property
    def ordinary(self) -> bool:
        """Whether the guard is the default one, apart from its language model and calibrator."""
        default = Configuration()
        others = ("language_model", "calibrator", "min_per_class", "grader", "rewrite")
        return replace(self, **{name: getattr(default, name) for name in others}) == default

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
        made |= {"n_samples": self.samples, "temperature": self.temperature}
        made["franq"] = self._calibrator(fitted)
        return made

    def _calibrator(self, fitted: Calibrator | None) -> Calibrator | None:
        from franq_guard.calibration.store import Calibrator

        if fitted is not None:
            if self.calibration not in (None, fitted.calibration):
                raise ValueError(
                    f"the calibrator's calibration is {fitted.calibration!r}, the settings say "
                    f"{self.calibration!r}: give --calibration {fitted.calibration}, or another "
                    "calibrator"
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
            say(f"warning: {self._threshold} has no effect on the shipped calibrators")
        return None

    def _own_cut(self, fitted: Calibrator) -> Calibrator:
        """The calibrator; where another P(faithful) is set, with that and without its promise."""
        own, chosen = fitted.labels.supported_from, self.threshold_faithful
        if chosen is None or chosen == own:
            return fitted
        said = f"the calibrator {fitted.name!r} was fitted with --threshold-faithful {own:g}"
        if self.strict:
            raise ValueError(
                f"{said}, not {chosen:g}: leave out {self._threshold}, or fit it again"
            )
        say(f"warning: {said}; with {chosen:g} it promises nothing")
        return replace(_cut(fitted, chosen), promise=None)

    @property
    def _threshold(self) -> str:
        """Where ``threshold_faithful`` is set, for a message."""
        if self.threshold_file is None:
            return "the option --threshold-faithful"
        return f"threshold_faithful in {self.threshold_file}"

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


def configured(
    file: Path | None,
    unread: Collection[str] = (),
    *,
    elsewhere: Collection[str] = (),
    bench: Collection[str] | None = None,
    **given: Any,
) -> Configuration:
    """The settings of a file, or the defaults, with the given ones (not None) in their place.

    What cannot be ends the program with a message. Settings of the file in ``unread`` have no
    effect, which a warning says, nor have those in ``elsewhere``, which another command reads from
    the same file. ``bench``: what a command of the benchmark reads of ``[bench]``; the rest is
    warned of, too.
    """
    start = Configuration()
    with _explained(file):
        if file is not None:
            start = Configuration.read(file, form=given.get("form"))
            if start.note:
                say(f"note of {file}: {start.note}")
            named = [key for key in sorted(unread) if _is_set(start, key)]
            if bench is not None:
                named += [f"bench.{key}" for key in start.bench if key not in bench]
            if named:
                say(f"not read by this command: {', '.join(named)} of {file}")
        left_out = frozenset({*unread, *elsewhere})
        if start.threshold_faithful is not None and given.get("threshold_faithful") is None:
            start = replace(start, threshold_file=file)
        usual = {key: getattr(Configuration(), key) for key in left_out}
        kept = {key: value for key, value in given.items() if value is not None}
        chosen = replace(start, **{**usual, **kept}, unread=left_out)
        chosen.check()
    return chosen


def bench_of(file: Path) -> dict[str, Any]:
    """The table ``[bench]`` of a file; a wrong file ends the program with a message."""
    with _explained(file):
        found = dict(Configuration.read(file, form="long").bench)
    return found


@contextmanager
def _explained(file: Path | None) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        fail(f"cannot read {file}: {error.strerror}")
    except ValueError as error:
        fail(str(error))


def _is_set(start: Configuration, key: str) -> bool:
    return bool(getattr(start, key) != getattr(Configuration(), key))


def in_force(
    chosen: Configuration, calibrator: Path | None, language_model: str | None
) -> Configuration:
    """The set-up with the two options that other commands have, too."""
    made = replace(
        chosen,
        calibrator=chosen.calibrator if calibrator is None else str(calibrator),
        language_model=language_model or chosen.language_model,
    )
    try:
        made.check()
    except ValueError as error:
        fail(str(error))
    return made


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


def _refuse_with_auto(named: Collection[str]) -> None:
    if named:
        raise ValueError(
            "form auto takes the default methods and calibrators of both forms: leave out "
            f"{', '.join(named)}, or give --form long or --form short"
        )


def _line(key: str, value: Any, usual: str | None = None) -> str:
    if value is None:
        return f"# {key} = {usual}" if usual else f"# {key} ="
    return f"{key} = {json.dumps(value, ensure_ascii=False)}"


def _kinds() -> dict[str, str]:
    """The settings outside ``[bench]``, and their kinds."""
    known = {f.name: str(f.type).removesuffix(" | None") for f in fields(Configuration)}
    return {name: kind for name, kind in known.items() if name not in _NO_SETTINGS}


def _checked(values: Any, kinds: Mapping[str, str], table: str | None = None) -> dict[str, Any]:
    """Values of the right kinds under known names; ``ValueError`` otherwise."""
    if not isinstance(values, Mapping):
        raise ValueError(f"{table} is a table: [{table}], and settings below it")
    for key, value in values.items():
        if key not in kinds:
            place = f" in [{table}]" if table else ""
            more = "" if table else f"; and the tables {', '.join(f'[{t}]' for t in _TABLES)}"
            raise ValueError(f"unknown setting {key!r}{place}; known: {', '.join(kinds)}{more}")
        wanted: Any = {"bool": bool, "int": int, "float": (int, float)}.get(kinds[key], str)
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            raise ValueError(f"{key} must be {_KINDS[kinds[key]]}, not {value!r}")
    return dict(values)
