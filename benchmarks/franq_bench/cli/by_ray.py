"""Answers and measures questions with Ray Data, on this machine or a cluster (``--engine ray``).

Each actor loads the models once and takes one question at a time. What it makes comes back to this
process, which keeps it at once: a run that was killed goes on with the same command, by any engine.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from franq_bench.progress import Bar
from franq_guard.basics.threads import SETTING, set_up_torch, usable_cores
from franq_guard.cli.console import fail, needing

if TYPE_CHECKING:
    from franq_bench.cli.common import Names
    from franq_bench.short.answers import Settings
    from franq_bench.short.apart import Item, Row, Stores
    from franq_guard.datasets.questions import Question
    from franq_guard.signals.request import Models

__all__ = ["make_all"]

INSTALL = "pip install 'franq-bench[ray]'"
_RETRIES = 2  # how often a question is tried again after its process ended


def make_all(
    questions: Sequence[Question],
    settings: Settings,
    names: Names,
    models: Models,
    cache: Path,
    progress: Bar,
    *,
    address: str | None,
    actors: int | None,
) -> None:
    """Make every answer and all statistics that the cache lacks.

    Args:
        questions: those of the run, with the passages to show.
        settings: how answers are written and sampled.
        names: of the models, for the actors to load.
        models: the same, loaded: they tell what is missing.
        cache: the run's folder of kept results.
        progress: takes the name of a stage; yields ``show(done, total)``.
        address: of a Ray cluster; None: Ray is started on this machine and ended afterwards.
        actors: processes, each with models of its own; None: as many as fit.

    Raises:
        ValueError: if the actors' models are others than ``models``.
    """
    from franq_bench.short.apart import missing
    from franq_bench.store.cache import Cache

    stores: Stores = {
        name: Cache(cache / name, part="by-ray") for name in ("answers", "statistics")
    }
    lacking = partial(missing, questions, models, settings, stores)
    if lacking():
        with needing(INSTALL, what="--engine ray"):
            import ray.data  # noqa: F401 - told before Ray is started
        with progress("answering and measuring") as show:
            _run(lacking, questions, settings, names, stores, address, actors, show)


def _run(
    lacking: Callable[[], list[Item]],
    questions: Sequence[Question],
    settings: Settings,
    names: Names,
    stores: Stores,
    address: str | None,
    actors: int | None,
    show: Any,
) -> None:
    import ray

    from franq_bench.short.apart import check_used, store
    from franq_guard.batch.ray_engine import configured, started
    from franq_guard.batch.settings import DatasetSettings

    threads = max(1, usable_cores() // (actors or usable_cores())) if address is None else 1
    chosen = DatasetSettings(address=address, num_actors=actors, threads=threads)
    items, done = lacking(), 0
    show(done, len(items))
    try:
        # Ray tells of processes that ended on standard output, which is for results.
        with redirect_stdout(sys.stderr), started(chosen) as fitting, configured({}):
            constructed = {"questions": questions, "settings": settings, "names": names}
            pool = min(fitting, len(items))
            made = _made(items, constructed, pool, threads)
            for block in made.iter_batches(
                batch_size=None, batch_format="pyarrow", prefetch_batches=0
            ):
                rows = block.to_pylist()
                store(rows, stores)
                if rows and not done:
                    check_used(items, lacking())
                done += sum(row["store"] == "statistics" for row in rows)
                show(done, len(items))
    except (ray.exceptions.RayError, RuntimeError, ConnectionError) as error:
        said = [line for line in str(error).splitlines() if line.strip()]
        why = said[-1].strip() if said else repr(error)
        fail(f"{why}\nwhat was made is kept: the same command goes on from there")


def _made(items: Sequence[Item], constructed: dict[str, Any], actors: int, threads: int) -> Any:
    """The rows of all items, as a data set of Ray; nothing is done before they are read."""
    import ray
    from ray.data import ActorPoolStrategy
    from ray.util.annotations import RayDeprecationWarning

    rows = [{"at": item.at, "answered": item.answered} for item in items]
    asked = ray.data.from_items(rows, override_num_blocks=len(rows))
    with warnings.catch_warnings():
        # Ray 2.60 has no other way to limit the retries, and says that this one will end with 2.64.
        warnings.simplefilter("ignore", RayDeprecationWarning)
        return asked.flat_map(
            Maker,
            # One task in flight: a question that ends its process takes no other with it.
            compute=ActorPoolStrategy(size=actors, max_tasks_in_flight_per_actor=1),
            fn_constructor_kwargs={**constructed, "threads": threads},
            num_cpus=threads,
            max_task_retries=_RETRIES,
        )


class Maker:
    """An actor: loads the models once, then answers and measures one question at a time."""

    def __init__(
        self, *, questions: Sequence[Question], settings: Settings, names: Names, threads: int
    ) -> None:
        os.environ[SETTING] = str(threads)
        set_up_torch()  # before torch is loaded, and so before the models are
        from franq_bench.cli.common import load_models

        self._questions, self._settings = questions, settings
        self._models = load_models(*names)

    def __call__(self, row: dict[str, Any]) -> list[Row]:
        from franq_bench.short.apart import Item, made

        item = Item(int(row["at"]), str(row["answered"]))
        return made(item, self._questions[item.at], self._models, self._settings)
