"""The folder of a data set's results: what it was made from, which rows it has, what they say.

    DIR/rows/*.parquet      the results, columns PLACE and RESULTS
    DIR/_checkpoint/        the keys of the rows that are done, kept by Ray Data
    DIR/_inputs.json        the files and settings that the results are of

Readers of Parquet leave out names that start with ``_``, so that they can be given DIR itself.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyarrow import fs
from pyarrow.dataset import dataset

from franq_guard.batch.inputs import Source, place

__all__ = ["Outputs"]

_SCHEMA = "franq.dataset/1"
_UNFINISHED = ".pending.parquet"  # Ray Data's name for what it has not finished
_UNWRITTEN = "_inputs.json.part"
_NAMED = 3  # files or settings in a message


@dataclass(frozen=True)
class Outputs:
    """The results in a folder or under a URI."""

    path: str

    @cached_property
    def full(self) -> str:
        """The folder's absolute path, or its URI."""
        path = self.path.rstrip("/")
        return path if "://" in path else place(path)[1]

    @property
    def rows(self) -> str:
        """Where the results are."""
        return f"{self.full}/rows"

    @property
    def checkpoint(self) -> str:
        """Where Ray Data keeps which rows are done."""
        return f"{self.full}/_checkpoint"

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Make the folder, and keep other runs out of it: they would do its rows a second time.

        Runs of other machines, and those in a store (``s3://``), are not noticed.

        Raises:
            ValueError: if another run is under way.
            OSError: if the folder cannot be made.
        """
        system, inside = place(self.full)
        system.create_dir(inside, recursive=True)
        if sys.platform == "win32" or not isinstance(system, fs.LocalFileSystem):
            yield
            return
        import fcntl  # Windows has none

        folder = os.open(inside, os.O_RDONLY)  # a kill closes it, too
        try:
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ValueError(
                    f"another run writes to {self.path}: wait until it has ended, or name another "
                    "folder"
                ) from None
            except OSError:
                pass  # a file system without locks
            yield
        finally:
            os.close(folder)

    def begin(self, sources: Sequence[Source], settings: Mapping[str, str]) -> None:
        """Write down what the results are of, or see that it is the same as in the earlier run.

        The folder is there (:meth:`alone` makes it).

        Raises:
            ValueError: if the folder holds something else, or results of other files or settings.
        """
        system, inside = place(self.full)
        wanted = {
            "schema": _SCHEMA,
            "files": [source.to_dict() for source in sources],
            "settings": dict(settings),
        }
        record = f"{inside}/_inputs.json"
        if system.get_file_info(record).type == fs.FileType.File:
            with system.open_input_stream(record) as stream:
                self._compare(json.loads(stream.read()), wanted)
            return
        there = system.get_file_info(fs.FileSelector(inside))
        if any(info.base_name != _UNWRITTEN for info in there):
            raise ValueError(f"{self.path} holds something else: name another folder")
        # Under another name first: a run that is killed here must not leave half of it.
        with system.open_output_stream(f"{inside}/{_UNWRITTEN}") as stream:
            stream.write(json.dumps(wanted, indent=1).encode())
        system.move(f"{inside}/{_UNWRITTEN}", record)

    def _compare(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        old, new = before.get("settings", {}), now["settings"]
        other = {
            "files": [file["path"] for file in now["files"] if file not in before.get("files", ())],
            "settings": sorted(key for key in {*old, *new} if old.get(key) != new.get(key)),
        }
        for what in ("schema", "files", "settings"):
            if before.get(what) != now[what]:
                names = ", ".join(other.get(what, ())[:_NAMED])
                raise ValueError(
                    f"{self.path} was begun with other {what}{f' ({names})' if names else ''}: to "
                    "go on, give the same files, unchanged, and the same options; or name another "
                    "folder"
                )

    def done(self) -> NDArray[np.int64]:
        """The keys of the rows that are done, sorted; a file that was not finished has none."""
        found = [self._read(path).column("key").to_numpy() for path in self._committed()]
        return np.sort(np.concatenate(found)) if found else np.zeros(0, np.int64)

    def counting(self) -> Callable[[], int]:
        """A function that says how many rows are done; it reads each file once."""
        rows: dict[str, int] = {}

        def count() -> int:
            for path in self._committed():
                if path not in rows:
                    rows[path] = self._read(path).num_rows
            return sum(rows.values())

        return count

    def keys(self) -> NDArray[np.int64]:
        """The keys of the rows in the results, sorted; each is there once."""
        found = [batch.column(0).to_numpy() for batch in self._scan("key")]
        return np.sort(np.concatenate(found)) if found else np.zeros(0, np.int64)

    def labels(self) -> Counter[str]:
        """How many claims have which label; text that is not a claim is not counted."""
        counted: Counter[str] = Counter()
        for batch in self._scan("verdicts"):
            labels = pc.struct_field(pc.list_flatten(batch.column(0)), "label")
            for pair in pc.value_counts(labels).to_pylist():
                counted[str(pair["values"])] += pair["counts"]
        counted.pop("not-a-claim", None)
        return counted

    def errors(self) -> Counter[str]:
        """How many rows have which error."""
        texts = (text for batch in self._scan("error") for text in batch.column(0).to_pylist())
        return Counter(text for text in texts if text is not None)

    def forget_errors(self) -> None:
        """Take the rows that have an error out of the results: the next pass checks them again.

        If this is stopped on its way, call it again.
        """
        for path in self._files(self.rows):
            self._keep(path, lambda table: pc.is_null(table["error"]))
        # Only afterwards: a row that has a result but is not known as done would be there twice.
        there = self.keys()
        for path in self._committed():
            self._keep(path, lambda table: pa.array(np.isin(table["key"].to_numpy(), there)))

    def _keep(self, path: str, wanted: Callable[[pa.Table], Any]) -> None:
        """Keep the rows of a Parquet file for which ``wanted`` is true; without any, no file."""
        system, table = place(self.full)[0], self._read(path)
        kept = table.filter(wanted(table))
        if not len(kept):
            system.delete_file(path)
        elif len(kept) < len(table):
            folder, _, name = path.rpartition("/")
            written = f"{folder}/_{name}"  # readers leave it out until it takes the other's place
            pq.write_table(kept, written, filesystem=system)
            system.move(written, path)

    def _scan(self, column: str) -> Iterator[pa.RecordBatch]:
        if paths := self._files(self.rows):
            system = place(self.rows)[0]
            yield from dataset(paths, filesystem=system).to_batches(columns=[column])

    def _committed(self) -> list[str]:
        names = self._files(self.checkpoint)
        return [name for name in names if not name.endswith(_UNFINISHED)]

    def _files(self, folder: str) -> list[str]:
        system, inside = place(folder)
        listed = system.get_file_info(fs.FileSelector(inside, allow_not_found=True))
        names = (info.path for info in listed if info.type == fs.FileType.File)
        return [name for name in names if not name.rpartition("/")[2].startswith("_")]

    def _read(self, path: str) -> pa.Table:
        return pq.read_table(path, filesystem=place(self.checkpoint)[0])
