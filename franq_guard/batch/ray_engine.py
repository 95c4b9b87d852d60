"""One pass over a data set with Ray Data: read, check on an actor pool, write, keep what is done.

Which rows are done is kept by Ray Data itself (``DataContext.checkpoint_config``, "beta" in Ray
2.60): before a file of results is written the keys of its rows go to a file that is marked as
pending, and the mark is taken off afterwards. A later run removes what is still marked, and reads
past the rows of the others. It needs a column of unique keys in the data that is read: hence the
datasource of our own.
"""

from __future__ import annotations

import logging
import os
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import ray
from ray import cloudpickle
from ray.data import ActorPoolStrategy, DataContext, Datasource, ReadTask
from ray.data.block import BlockMetadata
from ray.data.checkpoint import CheckpointConfig
from ray.util.annotations import RayDeprecationWarning

from franq_guard.basics.threads import SETTING, set_up_torch, usable_cores
from franq_guard.batch.inputs import READ, Source, read_source
from franq_guard.batch.schema import PLACE, results_table
from franq_guard.batch.tables import checked_rows
from franq_guard.rows.fields import Fields
from franq_guard.rows.lines import RowError, trace_of_line

if TYPE_CHECKING:
    from franq_guard.batch.outputs import Outputs
    from franq_guard.batch.settings import DatasetSettings, Pass
    from franq_guard.guard import Guard

__all__ = ["configured", "packed", "run_pass", "started"]

_log = logging.getLogger(__name__)
_ASIDE = 3  # cores, on paper: leaving out rows that are done, cutting batches, reading and writing
_LITTLE = 0.1  # the share of a core that reading and writing take
_STARTS = 3  # how often Ray is started before we give up
_RETRIES = 2  # how often a batch is tried again after its process ended
_EVERY = 5.0  # seconds between two counts of the rows done
_ENDED = "the process that checked this row ended each time: out of memory, or a crash of a library"


def packed(guard: Guard) -> bytes:
    """The guard as it is sent to the actors.

    Raises:
        TypeError: if it holds a loaded model that cannot be sent; says what to do.
    """
    return bytes(cloudpickle.dumps(guard))


@contextmanager
def started(settings: DatasetSettings) -> Iterator[int]:
    """Ray, on this machine or on the cluster named; yields the number of actors.

    A Ray that the application has started is used and left running.

    Ray's reports of its use are switched off, unless ``RAY_USAGE_STATS_ENABLED`` is set.

    Raises:
        ConnectionError: if there is no cluster at the address.
        RuntimeError: if Ray cannot be started on this machine.
    """
    if ray.is_initialized():  # the application's own: it stays as it is
        yield settings.num_actors or _that_fit(ray.cluster_resources(), settings)
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if settings.address is None:
        actors = settings.num_actors or max(1, usable_cores() // settings.threads)
        cores = actors * settings.threads + _ASIDE
        _start_here(address="local", num_cpus=cores, include_dashboard=False, **options)
    else:
        ray.init(address=settings.address, **options)
        actors = settings.num_actors or _that_fit(ray.cluster_resources(), settings)
    try:
        yield actors
    finally:
        ray.shutdown()


def _start_here(**options: Any) -> None:
    """Start Ray; it gives its own processes half a minute, which a busy machine may need twice."""
    for attempt in range(1, _STARTS + 1):
        try:
            ray.init(**options)
            return
        except Exception as error:  # Ray raises no class of its own here
            ray.shutdown()
            if attempt == _STARTS:
                raise RuntimeError(f"Ray did not start: {error}") from error


def _that_fit(resources: Mapping[str, float], settings: DatasetSettings) -> int:
    """The number of actors that the cores, and the GPUs if they need some, suffice for."""
    fit = (resources.get("CPU", 1) - _ASIDE) / settings.threads
    if settings.num_gpus:
        fit = min(fit, resources.get("GPU", 0) / settings.num_gpus)
    return max(1, int(fit))


def run_pass(
    go: Pass,
    sources: Sequence[Source],
    outputs: Outputs,
    settings: DatasetSettings,
    fields: Mapping[str, str],
    actors: int,
    progress: Callable[[int], None],
) -> None:
    """Check the rows that have no result yet; a batch that fails is left out.

    Raises:
        RuntimeError: if the actors cannot start, for example because a model cannot be loaded.
    """
    checker = {
        "guard": go.guard,
        "fields": dict(fields),
        "threads": settings.threads,
        "batch_size": min(settings.batch_size, go.batch_rows),
    }
    try:
        with configured(_checkpointing(outputs)), _reasons_told(), _counted(outputs, progress):
            _checked(go, sources, settings, checker, actors).write_parquet(
                outputs.rows,
                min_rows_per_file=settings.file_rows,
                ray_remote_args={"num_cpus": _LITTLE},
            )
    except ray.exceptions.RayError as error:
        raise RuntimeError(f"Ray ended the run: {_reason(error)}") from error


def _reason(error: BaseException) -> str:
    """The last line of what Ray says: the error itself, after the traceback of another process."""
    said = [line for line in str(error).splitlines() if line.strip()]
    return said[-1].strip() if said else repr(error)


class _Reasons(logging.Handler):
    """Tells in one line, and once, why rows have no result; Ray shows its code for each batch."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._told: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        reason = _reason(error) if error else record.getMessage()
        if reason not in self._told:
            self._told.add(reason)
            _log.warning("rows are left without a result for now: %s", reason)


@contextmanager
def _reasons_told() -> Iterator[None]:
    """What Ray says of batches that failed is told by us, on the terminal alone."""
    logger, reasons = logging.getLogger("ray.data"), _Reasons()
    shown = [(one, one.level) for one in logger.handlers if isinstance(one, logging.StreamHandler)]
    for handler, _ in shown:
        handler.setLevel(logging.CRITICAL)
    logger.addHandler(reasons)
    try:
        yield
    finally:
        logger.removeHandler(reasons)
        for handler, level in shown:
            handler.setLevel(level)


def _checked(
    go: Pass,
    sources: Sequence[Source],
    settings: DatasetSettings,
    checker: Mapping[str, Any],
    actors: int,
) -> ray.data.Dataset:
    """The rows read and checked; nothing is done before they are written."""
    columns = Fields(checker["fields"]).columns
    # What waits behind a batch that ends its process is tried again with it, and given up with it.
    waiting = 1 if go.batch_rows == 1 else None
    read = ray.data.read_datasource(
        _Rows(sources, columns), num_cpus=_LITTLE, override_num_blocks=len(sources)
    )
    with warnings.catch_warnings():
        # Ray 2.60 has no other way to limit the retries, and says that this one will end with 2.64.
        warnings.simplefilter("ignore", RayDeprecationWarning)
        return read.repartition(target_num_rows_per_block=go.batch_rows).map_batches(
            _Checker,
            batch_size=go.batch_rows,
            batch_format="pyarrow",
            compute=ActorPoolStrategy(size=actors, max_tasks_in_flight_per_actor=waiting),
            fn_constructor_kwargs=checker,
            num_cpus=settings.threads,
            num_gpus=settings.num_gpus,
            max_task_retries=_RETRIES,
        )


def _checkpointing(outputs: Outputs) -> dict[str, Any]:
    """Ray Data's settings for one pass."""
    kept = CheckpointConfig("key", outputs.checkpoint, delete_checkpoint_on_success=False)
    kept.checkpoint_actor_pool_max_size = 1
    return {
        "checkpoint_config": kept,
        # The other way of reading Parquet starts 32 processes, whatever the size of the files: a
        # run that goes on took up to 50 seconds to read which rows are done, on two busy cores.
        "use_datasource_v2": False,
        "max_errored_blocks": -1,  # without limit: the next pass tries their rows again
    }


@contextmanager
def configured(wanted: Mapping[str, Any]) -> Iterator[None]:
    """Ray Data with these settings, without its own progress; afterwards they are what they were.

    Args:
        wanted: attributes of ``DataContext`` and their values.
    """
    for handler in logging.getLogger("ray.data").handlers:
        if isinstance(handler, logging.StreamHandler):  # the other one writes Ray's own log file
            handler.setLevel(logging.ERROR)
    context = DataContext.get_current()
    chosen = {"enable_progress_bars": False, **wanted}
    before = {name: getattr(context, name) for name in chosen}
    try:
        for name, value in chosen.items():
            setattr(context, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(context, name, value)


@contextmanager
def _counted(outputs: Outputs, progress: Callable[[int], None]) -> Iterator[None]:
    """Tell the number of rows done every few seconds, and at the end."""
    count, over = outputs.counting(), threading.Event()

    def tell() -> None:
        while not over.wait(_EVERY):
            progress(count())

    teller = threading.Thread(target=tell, name="franq-progress", daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
    progress(count())


class _Rows(Datasource):  # type: ignore[misc]  # Ray is not installed where mypy runs
    """The rows of the files, each file read by one task."""

    def __init__(self, sources: Sequence[Source], columns: frozenset[str]) -> None:
        super().__init__()
        self._sources, self._columns = sources, columns

    def estimate_inmemory_data_size(self) -> int | None:
        return None

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
    ) -> list[ReadTask]:
        return [
            ReadTask(
                partial(read_source, source.path, number, self._columns),
                BlockMetadata(source.rows, None, None, None, input_files=(source.path,)),
                schema=READ,
                per_task_row_limit=per_task_row_limit,
            )
            for number, source in enumerate(self._sources)
        ]


class _Checker:
    """An actor of the pool: loads the models once, then checks tables of rows that were read."""

    def __init__(
        self, *, guard: bytes | None, fields: dict[str, str], threads: int, batch_size: int
    ) -> None:
        os.environ[SETTING] = str(threads)
        set_up_torch()  # before torch is loaded, and so before the guard is
        self._guard: Guard | None = None if guard is None else _loaded(guard)
        self._fields, self._batch_size = Fields(fields), batch_size

    def __call__(self, table: pa.Table) -> pa.Table:
        rows = zip(table["row"].to_pylist(), table["data"].to_pylist(), strict=True)
        if self._guard is None:
            results = results_table(RowError(row, _ENDED) for row, _ in rows)
        else:
            read = ((row, data.decode("utf-8", "surrogateescape")) for row, data in rows)
            traces = [trace_of_line(row, line, self._fields) for row, line in read]
            results = results_table(checked_rows(self._guard, traces, batch_size=self._batch_size))
        columns = [*table.select(PLACE.names).columns, *results.columns]
        return pa.Table.from_arrays(columns, schema=pa.schema([*PLACE, *results.schema]))


def _loaded(packed: bytes) -> Guard:
    """The guard with the models that given answers need; others are loaded by a row that asks."""
    guard: Guard = cloudpickle.loads(packed)
    _ = guard.calibrator  # choosing it needs the models' fingerprints
    return guard
