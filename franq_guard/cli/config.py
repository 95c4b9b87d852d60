"""``franq config``: print the settings in force, as a file for ``--config``."""

from __future__ import annotations

import typer

from franq_guard.cli.configuration import (
    CalibrationOption,
    ClaimsOption,
    ConfigOption,
    FaithfulAboveOption,
    FaithfulnessOption,
    FormOption,
    NliOption,
    StrictFlag,
    UqFaithOption,
    UqUnfaithOption,
    configured,
    versions,
)
from franq_guard.cli.options import ModelOption


def config(
    config: ConfigOption = None,
    language_model: ModelOption = None,
    faithfulness: FaithfulnessOption = None,
    nli: NliOption = None,
    claims: ClaimsOption = None,
    form: FormOption = None,
    uq_faith: UqFaithOption = None,
    uq_unfaith: UqUnfaithOption = None,
    calibration: CalibrationOption = None,
    threshold_faithful: FaithfulAboveOption = None,
    strict: StrictFlag = None,
) -> None:
    """Print the settings that check and calibrate would use, as TOML, and the versions."""
    chosen = configured(
        config,
        language_model=language_model,
        faithfulness=faithfulness,
        nli=nli,
        claims=claims,
        form=form,
        uq_faith=uq_faith,
        uq_unfaith=uq_unfaith,
        calibration=calibration,
        threshold_faithful=threshold_faithful,
        strict=strict,
    )
    typer.echo(chosen.toml(), nl=False)
    for package, version in versions().items():
        typer.echo(f"# {package} {version}")
