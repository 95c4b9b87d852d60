"""Checks a data set of many files on an actor pool of Ray Data, so that a killed run can go on.

Up to three passes go over the rows that have no result yet. The first is the run itself. If
checking a row ends its process (out of memory, a crash in native code), the row and those checked
together with it have no result then; the second pass checks these one by one. Rows that end their
process again get an error as their result in the third.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from franq_guard.batch.inputs import sources_in
from franq_guard.batch.outputs import Outputs
from franq_guard.batch.settings import DatasetSettings, Pass
from franq_guard.guard import Guard

__all__ = ["DatasetSettings", "Report", "check_dataset"]

_FEW = 100
_SMALL_SHARE = 0.01
Progress = Callable[[int, int], None]
"""Called with the number of rows done and of all rows."""


@dataclass(frozen=True)
class Report:
    """What is in the folder of results after a run.

    Attributes:
        total: rows of all files.
        before: rows that were done before this run.
        done: rows that have a result now, errors included.
        errors: how many rows have which error.
        labels: how many claims have which label.
    """

    total: int
    before: int
    done: int
    errors: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)

    @property
    def missing(self) -> int:
        """Rows without a result: the same call goes on with them."""
        return self.total - self.done


def check_dataset(
    paths: Iterable[str],
    out: str,
    *,
    guard: Guard | None = None,
    fields: Mapping[str, str] | None = None,
    settings: DatasetSettings | None = None,
    named: Mapping[str, str] | None = None,
    retry_errors: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Check the answers in files and write Parquet; the same call again goes on with a killed run.

    Args:
        paths: files of Parquet or JSON Lines (``.jsonl``, ``.ndjson``, also ``.gz``) or folders of
            them, local or as URIs (``s3://``). Each machine of a cluster must see the same ones.
        out: a folder for the results, new or of a run to go on with; seen by each machine, too.
        guard: what checks; it is sent to the actors, so that a model given as a function is loaded
            there. None: ``Guard.offline()``.
        fields: your names of question, passages, answer and id.
        settings: how many processes, and the sizes of what they pass on.
        named: what else the results depend on, by name; a run goes on only with the same.
        retry_errors: check again the rows whose result is an error; once all rows have a result.
        progress: called every few seconds.

    Returns:
        The counts of everything in ``out``.

    Raises:
        ValueError: if a path or ``out`` cannot be used, a file cannot be read, ``out`` is of other
            files or another run writes to it, or errors are to be retried before all rows have a
            result.
        TypeError: if the guard holds a model that cannot be sent to the actors.
        ConnectionError: if there is no Ray cluster at ``settings.address``.
        ModuleNotFoundError: if Ray is not installed.
        RuntimeError: if the actors cannot start, or ``out`` does not hold each finished row once.
    """
    from franq_guard.batch.ray_engine import packed, run_pass, started

    chosen, outputs = settings or DatasetSettings(), Outputs(out)
    sources = sources_in(paths, leaving_out=outputs.full)
    total = sum(source.rows for source in sources)
    names = dict(fields or {})
    with outputs.alone():
        outputs.begin(sources, {**(named or {}), **{f"field {k}": v for k, v in names.items()}})
        if retry_errors:
            if (left := total - len(outputs.done())) > 0:  # files of a killed run may be unfinished
                raise ValueError(f"{left} row(s) have no result yet: go on without retrying errors")
            outputs.forget_errors()
        before = done = len(outputs.done())
        if before < total:
            sent = packed(guard or Guard.offline())
            passes = Pass(sent, chosen.batch_rows), Pass(sent, 1), Pass(None, 1)
            with started(chosen) as actors:
                for number, go in enumerate(passes):
                    if done == total or (number and not _few(total - done, total)):
                        break
                    run_pass(go, sources, outputs, chosen, names, actors, _shown(progress, total))
                    done = len(outputs.done())
        return _report(outputs, total, before)


def _few(missing: int, total: int) -> bool:
    """Whether so few rows have no result that the cause is in them and not in the machines."""
    return missing <= max(_FEW, _SMALL_SHARE * total)


def _shown(progress: Progress | None, total: int) -> Callable[[int], None]:
    return lambda done: progress(done, total) if progress else None


def _report(outputs: Outputs, total: int, before: int) -> Report:
    done, keys = outputs.done(), outputs.keys()
    if not np.isin(done, keys).all() or len(np.unique(keys)) != len(keys):
        raise RuntimeError(
            f"{outputs.path} does not hold each row once: {len(keys)} rows, "
            f"{len(np.unique(keys))} different ones, {len(done)} finished; begin in another folder"
        )
    return Report(total, before, len(done), outputs.errors(), outputs.labels())
