"""``franq config``: print the settings in force, as a file for ``--config``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franq_guard.cli.configuration import Configuration, versions
from franq_guard.cli.console import emit, tell
from franq_guard.cli.options import ModelOption
from franq_guard.cli.set_up import with_set_up

if TYPE_CHECKING:
    from franq_guard.calibration.store import Calibrator
    from franq_guard.signals.components import Components


@with_set_up
def config(
    chosen: Configuration,
    language_model: ModelOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of TOML.")] = False,
) -> None:
    """Print the settings that check and calibrate would use, as TOML, and the versions.

    Of settings without a value the comments of the TOML say what is used; in JSON they are null.
    """
    chosen = replace(chosen, language_model=language_model or chosen.language_model)
    if as_json:
        bench = {"bench": dict(chosen.bench)} if chosen.bench else {}
        emit({"settings": {**chosen.plain(), **bench}, "versions": versions()})
        return
    installed = (f"# {package} {version}\n" for package, version in versions().items())
    tell("".join((chosen.toml(_usual(chosen)), *installed)).rstrip("\n"))


def _usual(chosen: Configuration) -> dict[str, str]:
    """What is used in the place of the methods and the calibrator that are not set."""
    calibrator = {"calibrator": f"({_calibrator(chosen)})"}
    if chosen.form == "auto":
        return calibrator
    used, whose = _used(chosen), _whose(chosen)
    named = {"uq_faith": used.uq_faith, "uq_unfaith": used.uq_unfaith}
    return calibrator | {key: f'"{name}"  ({whose})' for key, name in named.items()}


def _used(chosen: Configuration) -> Components:
    """The methods that are set; for those that are not, the calibrator's or the form's."""
    from franq_guard.signals.components import components

    form: Any = chosen.form
    return components(form, chosen.uq_faith, chosen.uq_unfaith, _given(chosen))


def _whose(chosen: Configuration) -> str:
    """Whose methods these are, and which commands use them."""
    from franq_guard.signals.components import components_of

    given = _given(chosen)
    if given is not None and given.evidence_only:
        return "default of franq calibrate; franq check reads none: the calibrator uses none"
    if given is not None and components_of(given) is not None:
        return "of the calibrator; franq calibrate: the paper's"
    if _by_name(chosen) or chosen.calibrator or chosen.calibration:
        return "default"
    return "default of franq calibrate; franq check: see calibrator"


def _calibrator(chosen: Configuration) -> str:
    """What ``franq check`` uses without a calibrator of the user's."""
    if chosen.calibration == "none":
        return "none: the formula without a calibrator"
    if chosen.calibration:
        return "franq check needs one"
    if (chosen.faithfulness, chosen.nli, chosen.claims) != ("small", None, "rules"):
        own = _in_its_folder(chosen)
        if own:
            return "of the faithfulness model's folder, where one fits: " + "; ".join(own)
        alone = "" if _by_name(chosen) else "the passages alone decide, and "
        return f"none shipped for these models: {alone}P(true) is uncalibrated"
    from franq_guard.calibration.defaults import shipped

    fit = [c for c in shipped() if chosen.form in ("auto", c.form)]
    if _by_name(chosen):
        fit = [c for c in fit if c.fingerprint["methods"] == _used(chosen).methods]
    if not fit:
        return "none shipped for these methods: P(true) is uncalibrated"
    return "shipped: " + "; ".join(f"{c.name}, methods {_methods(c)}" for c in fit)


def _in_its_folder(chosen: Configuration) -> list[str]:
    """Names of the calibrators beside the weights of the faithfulness model; loads no weights."""
    from franq_guard.calibration.defaults import in_folder
    from franq_guard.faithfulness.larger import folder_named
    from franq_guard.language_model.base import MissingModelError

    if chosen.faithfulness == "small" or chosen.nli:
        return []
    try:
        folder = folder_named(chosen.faithfulness)
    except MissingModelError:  # said by the commands that use it
        return []
    return [c.name for c in in_folder(folder) if chosen.form in ("auto", c.form)]


def _methods(calibrator: Calibrator) -> str:
    return "none" if calibrator.evidence_only else str(calibrator.fingerprint["methods"])


def _by_name(chosen: Configuration) -> bool:
    return bool(chosen.uq_faith or chosen.uq_unfaith)


def _given(chosen: Configuration) -> Calibrator | None:
    """The user's calibrator; None where none is named, or its file is none for this form."""
    if chosen.calibrator is None:
        return None
    from franq_guard.calibration.store import Calibrator

    try:
        found = Calibrator.load(Path(chosen.calibrator))
    except (OSError, ValueError):  # said by the commands that use it
        return None
    return found if found.form == chosen.form else None
