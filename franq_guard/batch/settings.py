"""How a data set is checked: processes, and the sizes of what they pass on."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DatasetSettings", "Pass"]


@dataclass(frozen=True, kw_only=True)
class DatasetSettings:
    """How a data set is checked; none of these changes a result.

    Attributes:
        address: of a Ray cluster; None: Ray is started on this machine and ended afterwards.
        num_actors: processes that check, each with models of its own; None: as many as fit.
        num_gpus: GPUs of each actor; may be a fraction.
        threads: of each actor's forward passes; the cores that Ray reserves for it.
        batch_rows: rows that an actor gets at a time.
        batch_size: answers scored together.
        file_rows: rows of a file of results, at least. A killed run loses what is not yet in one.
    """

    address: str | None = None
    num_actors: int | None = None
    num_gpus: float = 0.0
    threads: int = 1
    batch_rows: int = 32
    batch_size: int = 8
    file_rows: int = 1000

    def __post_init__(self) -> None:
        counts = (self.num_actors or 1, self.threads, self.batch_rows, self.batch_size)
        if min(*counts, self.file_rows) < 1 or self.num_actors == 0:
            raise ValueError("the numbers of actors, threads and rows must be at least 1")
        if self.num_gpus < 0:
            raise ValueError("num_gpus must not be negative")


@dataclass(frozen=True)
class Pass:
    """One go over the rows that have no result yet.

    Attributes:
        guard: what checks them, packed; None: each gets ``error`` as its result.
        batch_rows: how many rows an actor gets at a time.
    """

    guard: bytes | None
    batch_rows: int
