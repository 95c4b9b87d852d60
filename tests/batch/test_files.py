"""The files of a data set, without an engine: keys, rows, the folder of results."""

import gzip
import json
import subprocess
import sys

import pytest

pa = pytest.importorskip("pyarrow")

import pyarrow.parquet as pq  # noqa: E402
from pyarrow import fs  # noqa: E402

from franq_guard.batch.inputs import READ, Source, read_source, sources_in  # noqa: E402
from franq_guard.batch.outputs import Outputs  # noqa: E402
from franq_guard.batch.schema import PLACE, results_table  # noqa: E402
from franq_guard.batch.settings import DatasetSettings  # noqa: E402
from franq_guard.rows.lines import RowError  # noqa: E402

ROWS = [{"question": f"Which {n}?", "passages": ["é"], "answer": "That."} for n in range(300)]


@pytest.fixture
def folder(tmp_path):
    """Three files with 300 rows each: lines (two of them blank), compressed lines, Parquet."""
    made = tmp_path / "in"
    (made / "_old").mkdir(parents=True)
    lines = [json.dumps(row, ensure_ascii=False) for row in ROWS]
    (made / "a.jsonl").write_text("\ufeff" + "\n\n".join(lines[:3]) + "\n" + "\n".join(lines[3:]))
    (made / "b.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    pq.write_table(pa.Table.from_pylist(ROWS), made / "c.parquet")
    (made / "_old" / "d.parquet").write_text("not to be read")
    (made / "notes.txt").write_text("nor this")
    return made


def test_each_row_has_a_key_of_its_own_and_the_same_values_from_every_kind(folder):
    sources = sources_in([str(folder)])
    assert [source.path.rpartition("/")[2] for source in sources] == [
        *("a.jsonl", "b.jsonl.gz", "c.parquet")
    ]
    assert [source.rows for source in sources] == [300, 300, 300]
    keys = []
    for number, source in enumerate(sources):
        tables = list(read_source(source.path, number))
        read = pa.concat_tables(tables)
        assert read.schema.equals(READ)
        assert len(tables) > 1  # no file is read as a whole
        assert [json.loads(text) for text in read["data"].to_pylist()] == ROWS
        keys += read["key"].to_pylist()
        assert set(read["file"].to_pylist()) == {source.path}
        first = [1, 3, 5, 6] if number == 0 else [1, 2, 3, 4]  # numbers of lines, with blank ones
        assert read["row"].to_pylist()[:4] == first
    assert len(set(keys)) == 900


def test_a_line_that_is_no_json_is_passed_on_as_it_is(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"{broken\n\xff\xfe\n[1, 2]\n")
    (read,) = read_source(str(file), 0)
    texts = [text.strip() for text in read["data"].to_pylist()]
    assert texts == [b"{broken", b"\xff\xfe", b"[1, 2]"]


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        (["nowhere"], "there is no"),
        (["in/notes.txt"], "must end with"),
        (["in/a.jsonl", "in/a.jsonl"], "named twice"),
        (["in", "in/a.jsonl"], "named twice"),
        (["in/_old"], "holds no file"),
    ],
)
def test_paths_that_cannot_be_used_are_refused(folder, paths, said, monkeypatch):
    (folder / "_old" / "d.parquet").unlink()
    monkeypatch.chdir(folder.parent)
    with pytest.raises(ValueError, match=said):
        sources_in(paths)


@pytest.mark.parametrize("end", ["", "/"])
def test_a_folder_under_a_uri_is_read_by_the_uris_of_its_files(folder, end):
    """As s3://bucket/answers/: its files were looked for in s3://bbucket."""
    (folder / "c.parquet").rename(folder / "c d=é %.parquet")
    uri = folder.as_uri()
    sources = sources_in([uri + end], leaving_out=f"{uri}/results")
    names = ["a.jsonl", "b.jsonl.gz", "c%20d=%C3%A9%20%25.parquet"]
    assert [source.path for source in sources] == [f"{uri}/{name}" for name in names]
    assert [source.rows for source in sources] == [300, 300, 300]
    assert sources_in([sources[2].path]) == sources[2:]


def test_the_results_of_a_run_below_its_files_are_none_of_them(folder):
    before = sources_in([str(folder)])
    results = folder / "results" / "rows"
    results.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(ROWS), results / "x-0.parquet")
    assert sources_in([str(folder)], leaving_out=str(folder / "results")) == before
    assert len(sources_in([str(folder)])) == len(before) + 1


@pytest.mark.parametrize("name", ["b.jsonl.gz", "c.parquet"])
def test_a_file_that_was_cut_off_is_named(folder, name):
    file = folder / name
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(ValueError, match=rf"{name} cannot be read: "):
        sources_in([str(folder)])


def begin(outputs, *of):
    with outputs.alone():
        outputs.begin(*of)


def test_a_folder_of_results_goes_on_only_with_the_same_files_and_settings(tmp_path):
    files, outputs = [Source("a.jsonl", 3), Source("b.jsonl", 1)], Outputs(str(tmp_path / "out"))
    settings = {"policy": "x", "evidence": "True"}
    begin(outputs, files, settings)
    begin(outputs, files, settings)
    with pytest.raises(ValueError, match=r"other files \(b.jsonl\)"):
        begin(outputs, [Source("a.jsonl", 3), Source("b.jsonl", 4)], settings)
    with pytest.raises(ValueError, match=r"other files: to go on"):  # their order gives the keys
        begin(outputs, files[::-1], settings)
    with pytest.raises(ValueError, match=r"other settings \(policy\)"):
        begin(outputs, files, settings | {"policy": "y"})
    with pytest.raises(ValueError, match=r"other settings \(evidence\)"):
        begin(outputs, files, {"policy": "x"})
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").touch()
    with pytest.raises(ValueError, match="something else"):
        begin(Outputs(str(tmp_path / "mine")), files, {})


_FULL = """
import resource, sys
from franq_guard.batch.inputs import Source
from franq_guard.batch.outputs import Outputs
resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))  # as on a disk that is full
Outputs(sys.argv[1]).begin([Source("a.jsonl", 3)], {})
"""


def test_a_run_that_could_not_write_down_its_inputs_leaves_no_half_of_them(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", _FULL, str(tmp_path)], capture_output=True, text=True
    )
    assert "File too large" in ended.stderr
    outputs = Outputs(str(tmp_path))
    begin(outputs, [Source("a.jsonl", 3)], {})
    assert [file.name for file in tmp_path.iterdir()] == ["_inputs.json"]


def test_two_runs_do_not_write_to_one_folder(tmp_path):
    out = str(tmp_path / "out")
    with (
        Outputs(out).alone(),
        pytest.raises(ValueError, match=r"another run writes to .*: wait until it has ended, or"),
        Outputs(out).alone(),
    ):
        pass
    with Outputs(out).alone():  # the first has ended
        pass


def written(outputs, name, keys):
    """Results of these rows, as a pass writes them."""
    for folder in (outputs.rows, outputs.checkpoint):
        fs.LocalFileSystem().create_dir(folder)
    found = results_table(RowError(key, f"bad {key % 2}") for key in keys)
    places = [pa.array(keys), pa.array(["f"] * len(keys)), pa.array(keys)]
    schema = pa.schema([*PLACE, *found.schema])
    table = pa.table([*places, *found.columns], schema=schema)
    pq.write_table(table, f"{outputs.rows}/{name}-0.parquet")
    pq.write_table(pa.table({"key": keys}), f"{outputs.checkpoint}/{name}.parquet")


def test_rows_count_as_done_once_their_file_is_finished(tmp_path):
    outputs = Outputs(str(tmp_path / "out"))
    count = outputs.counting()
    assert (count(), len(outputs.done()), len(outputs.keys())) == (0, 0, 0)
    written(outputs, "x", [5, 1])
    written(outputs, "y", [2])
    pq.write_table(pa.table({"key": [9]}), f"{outputs.checkpoint}/z.pending.parquet")
    assert count() == 3
    assert outputs.done().tolist() == outputs.keys().tolist() == [1, 2, 5]
    assert outputs.errors() == {"bad 1": 2, "bad 0": 1}
    assert outputs.labels() == {}


def test_rows_with_an_error_can_be_forgotten_and_no_others(tmp_path):
    outputs = Outputs(str(tmp_path / "out"))
    written(outputs, "x", [5, 1])
    written(outputs, "y", [2, 3, 4])
    file = f"{outputs.rows}/y-0.parquet"
    table = pq.read_table(file)
    good = pa.array([None, "bad", None])
    pq.write_table(table.set_column(table.column_names.index("error"), "error", good), file)
    for _ in range(2):  # a second time, as after a stop, changes nothing
        outputs.forget_errors()
        assert outputs.done().tolist() == outputs.keys().tolist() == [2, 4]
        assert outputs.errors() == {}
    assert len(list((tmp_path / "out").rglob("*.parquet"))) == 2
    assert pq.read_schema(file).equals(table.schema)


def test_a_stop_after_the_results_were_taken_out_is_mended_by_the_next_call(tmp_path):
    outputs = Outputs(str(tmp_path / "out"))
    written(outputs, "x", [5, 1])
    (tmp_path / "out" / "rows" / "x-0.parquet").unlink()
    outputs.forget_errors()
    assert outputs.done().tolist() == []


@pytest.mark.parametrize("wrong", [{"num_actors": 0}, {"threads": 0}, {"num_gpus": -1}])
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match="must"):
        DatasetSettings(**wrong)
