"""``franq convert-alignscore``: convert a published checkpoint to a format that loads faster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from franq_guard.cli.console import fail, needing, say, working


def convert_alignscore(
    source: Annotated[Path, typer.Argument(help="Checkpoint, such as AlignScore-base.ckpt.")],
    target: Annotated[Path, typer.Argument(help="Folder to write.")],
    backbone: Annotated[
        str | None, typer.Option(help="roberta-base, roberta-large or a folder.")
    ] = None,
) -> None:
    """Convert a published AlignScore checkpoint once: a third of the size, faster to load."""
    with needing("pip install 'franq-guard[offline]'"):
        from franq_guard.faithfulness.alignscore.convert import convert_checkpoint
        from franq_guard.faithfulness.alignscore.files import CheckpointError
        from franq_guard.faithfulness.alignscore.hub import HubUnreachableError

    try:
        with working(f"converting {source.name}"):
            written = convert_checkpoint(source, target, backbone=backbone)
    except (CheckpointError, HubUnreachableError, OSError) as error:
        fail(str(error))
    say(f"written to {written}; load it with AlignScore.from_checkpoint")
