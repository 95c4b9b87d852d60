"""What makes the answers of a benchmark: processes of this machine, or Ray's on many."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from franq_guard.cli.check_dataset import AddressOption
from franq_guard.cli.console import fail

__all__ = ["AddressOption", "By", "Engine", "EngineOption", "WorkersOption", "checked"]


class Engine(StrEnum):
    """``local``: this process, or several of this machine; ``ray``: actors of Ray Data."""

    local = "local"
    ray = "ray"


EngineOption = Annotated[
    Engine,
    typer.Option(help="Ray Data also uses other machines (pip install 'franq-bench[ray]')."),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(min=1, help="Parallel processes; default: one, or with Ray as many as fit."),
]


@dataclass(frozen=True, slots=True)
class By:
    """An engine and its settings.

    Attributes:
        engine: what makes the answers.
        address: of a Ray cluster; None: this machine.
        workers: processes besides this one; None: none, or with Ray as many as fit.
    """

    engine: Engine
    address: str | None
    workers: int | None


def checked(engine: Engine, address: str | None, workers: int | None, *, whole: bool) -> By:
    """The options together; a combination that cannot work ends the program with a message.

    Args:
        engine: as given.
        address: as given.
        workers: as given.
        whole: whether all questions are asked for, not one part of them (``--shard``).
    """
    if address is not None and engine is not Engine.ray:
        fail("--address is of a Ray cluster: give --engine ray, too")
    if engine is Engine.ray:
        if not whole:
            fail("give --engine ray or --shard (one part, of several machines), not both")
        return By(engine, address, workers)
    several = workers if (workers or 1) > 1 else None
    if several and not whole:
        fail("give --workers (processes here) or --shard (one part, of several machines), not both")
    return By(engine, None, several)
