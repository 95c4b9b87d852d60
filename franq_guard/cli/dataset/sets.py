"""Opens the claim set that is named on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from franq_guard.cli.console import fail, message_of, say

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
    except (ValueError, OSError) as error:
        fail(message_of(error))
    if not found.answers():
        fail(f"{folder} holds no answer yet: run `franq dataset build` first")
    return found


_GO_ON = "what was done is kept; run the same command again to go on"


@contextmanager
def resumable() -> Iterator[None]:
    """At Ctrl-C, on a full disk or without the server, say that nothing is lost and how to go on.

    The exit code is 130 after Ctrl-C, else 1.
    """
    from franq_guard.language_model.server.completions import ServerError

    try:
        yield
    except KeyboardInterrupt:
        say(f"stopped: {_GO_ON}")
        raise typer.Exit(130) from None
    except (OSError, ServerError) as error:
        say(f"error: {message_of(error)}")
        say(_GO_ON)
        raise typer.Exit(1) from None
