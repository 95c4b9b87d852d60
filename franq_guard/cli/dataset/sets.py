"""Opens the claim set that is named on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from franq_guard.cli.console import fail, say

if TYPE_CHECKING:
    from franq_guard.datasets.claim_set import ClaimSet

SetArgument = Annotated[
    Path, typer.Argument(help="Folder of the set (made by `franq dataset build`).")
]


def opened(folder: Path) -> ClaimSet:
    """Open the set in ``folder``; end the program if there is none or it has no answers."""
    from franq_guard.datasets.claim_set import ClaimSet

    try:
        found = ClaimSet(folder)
    except ValueError as error:
        fail(str(error))
    if not found.answers():
        fail(f"{folder} holds no answer yet: run `franq dataset build` first")
    return found


@contextmanager
def resumable() -> Iterator[None]:
    """At Ctrl-C, say that nothing is lost and how to go on, and end with exit code 130."""
    try:
        yield
    except KeyboardInterrupt:
        say("stopped: what was done is kept; run the same command again to go on")
        raise typer.Exit(130) from None
