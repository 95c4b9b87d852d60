"""What is done about rows without a result, with an engine that leaves some out."""

import json
import sys
from contextlib import contextmanager
from types import ModuleType

import pytest

pa = pytest.importorskip("pyarrow")

import pyarrow.parquet as pq  # noqa: E402
from pyarrow import fs  # noqa: E402

from franq_guard.batch import DatasetSettings, check_dataset  # noqa: E402
from franq_guard.batch.inputs import read_source  # noqa: E402
from franq_guard.batch.outputs import Outputs  # noqa: E402
from franq_guard.batch.schema import PLACE, results_table  # noqa: E402
from franq_guard.rows.lines import RowError  # noqa: E402

ROWS = 300


@pytest.fixture
def engine(monkeypatch):
    """Stands for Ray: ``left_out(number of the pass, row)`` says which rows get no result."""
    made = ModuleType("franq_guard.batch.ray_engine")
    made.passes = []

    def run_pass(go, sources, outputs, settings, fields, actors, progress):
        made.passes.append((go.guard, go.batch_rows, actors))
        read = pa.concat_tables(read_source(sources[0].path, 0))
        before = set(outputs.done().tolist())
        keep = [
            key not in before and not made.left_out(len(made.passes), row)
            for key, row in zip(read["key"].to_pylist(), read["row"].to_pylist(), strict=True)
        ]
        places = read.filter(pa.array(keep)).select(PLACE.names)
        write(outputs, str(len(made.passes)), places)
        progress(len(outputs.done()))

    made.run_pass, made.packed = run_pass, lambda guard: b"guard"
    made.started = contextmanager(lambda settings: iter([settings.num_actors]))
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


def write(outputs, name, places):
    """Results of these rows and, as Ray Data does, their keys."""
    for folder in (outputs.rows, outputs.checkpoint):
        fs.LocalFileSystem().create_dir(folder)
    found = results_table(RowError(row, "bad") for row in places["row"].to_pylist())
    schema = pa.schema([*PLACE, *found.schema])
    table = pa.table([*places.columns, *found.columns], schema=schema)
    pq.write_table(table, f"{outputs.rows}/{name}-0.parquet")
    pq.write_table(places.select(["key"]), f"{outputs.checkpoint}/{name}.parquet")


@pytest.fixture
def run(tmp_path, fake_guard):
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps({"id": n}) + "\n" for n in range(ROWS)))
    settings = DatasetSettings(num_actors=2, batch_rows=16)
    out = str(tmp_path / "out")
    return lambda **more: check_dataset(
        [str(file)], out, guard=fake_guard, settings=settings, **more
    )


def test_rows_that_end_their_process_are_checked_alone_then_get_an_error(engine, run):
    left_out = {1: range(17, 33), 2: [20], 3: []}
    engine.left_out = lambda number, row: row in left_out[number]
    told = []
    report = run(progress=lambda done, total: told.append((done, total)))
    assert engine.passes == [(b"guard", 16, 2), (b"guard", 1, 2), (None, 1, 2)]
    assert (report.before, report.done, report.missing) == (0, ROWS, 0)
    assert told == [(ROWS - 16, ROWS), (ROWS - 1, ROWS), (ROWS, ROWS)]


def test_many_missing_rows_are_no_fault_of_theirs_and_the_same_call_goes_on(engine, run):
    engine.left_out = lambda number, row: number == 1 and row > 150
    report = run()
    assert (report.done, report.missing, len(engine.passes)) == (150, 150, 1)
    report = run()
    assert (report.before, report.done, len(engine.passes)) == (150, ROWS, 2)
    assert run().before == ROWS
    assert len(engine.passes) == 2  # nothing is left to do: no engine is started


def test_a_second_run_is_refused_before_it_checks_anything(engine, run, tmp_path):
    engine.left_out = lambda number, row: False
    with (
        Outputs(str(tmp_path / "out")).alone(),
        pytest.raises(ValueError, match="another run"),
    ):
        run()
    assert not engine.passes
    assert run().done == ROWS


def test_a_row_that_is_there_twice_is_told(engine, run, tmp_path):
    engine.left_out = lambda number, row: False
    run()
    (written,) = (tmp_path / "out" / "rows").iterdir()
    written.with_name("again.parquet").write_bytes(written.read_bytes())
    with pytest.raises(RuntimeError, match="does not hold each row once: 600 rows, 300 different"):
        run()
