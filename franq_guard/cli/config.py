"""``franq config``: print the settings in force, as a file for ``--config``."""

from __future__ import annotations

from dataclasses import replace

import typer

from franq_guard.cli.configuration import Configuration, versions
from franq_guard.cli.options import ModelOption
from franq_guard.cli.set_up import with_set_up


@with_set_up
def config(
    chosen: Configuration,
    language_model: ModelOption = None,
) -> None:
    """Print the settings that check and calibrate would use, as TOML, and the versions."""
    chosen = replace(chosen, language_model=language_model or chosen.language_model)
    typer.echo(chosen.toml(), nl=False)
    for package, version in versions().items():
        typer.echo(f"# {package} {version}")
