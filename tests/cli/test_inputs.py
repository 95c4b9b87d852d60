"""Files of rows: CSV, Parquet, compressed, in other encodings."""

import csv
import gzip
import io
import json
from pathlib import Path

import pytest
import typer

from franq_guard.cli.inputs import rows_in, total_rows
from franq_guard.records import Trace
from franq_guard.rows.fields import Fields

ROWS = [
    {"id": "7", "question": "Where is Rome?", "passages": ["In Italy."], "answer": "In Italy."},
    {"id": "8", "question": "Who, then?", "passages": ["A", "B, C"], "answer": 'He said "no";\nso'},
]


def read(file):
    with rows_in(file, Fields()) as rows:
        return list(rows)


def as_table(delimiter, end):
    made = io.StringIO()
    table = csv.writer(made, delimiter=delimiter, lineterminator=end)
    table.writerow(["id", "Question", "contexts", "answer", "source"])
    for row in ROWS:
        passages = json.dumps(row["passages"])
        table.writerow([row["id"], row["question"], passages, row["answer"], "mine"])
    return made.getvalue()


def check(found):
    assert [type(row) for row in found] == [Trace, Trace], found
    for row, trace in zip(ROWS, found, strict=True):
        said = (trace.id, trace.question, [p.text for p in trace.passages], trace.generation.text)
        assert said == tuple(row.values())


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_tables_of_spreadsheets_are_read(tmp_path, delimiter, end, encoding):
    file = tmp_path / "rows.csv"
    file.write_bytes(as_table(delimiter, end).encode(encoding))
    check(read(file))
    assert total_rows(file) == 2


def test_a_compressed_file_is_unpacked(tmp_path):
    lines, table = tmp_path / "rows.jsonl.gz", tmp_path / "rows.tsv.gz"
    lines.write_bytes(gzip.compress("\n".join(map(json.dumps, ROWS)).encode()))
    table.write_bytes(gzip.compress(as_table("\t", "\n").encode()))
    for file in (lines, table):
        check(read(file))
        assert total_rows(file) == 2


def test_a_download_that_was_cut_off_is_no_end_of_the_file(tmp_path):
    file = tmp_path / "rows.jsonl.gz"
    file.write_bytes(gzip.compress("\n".join(map(json.dumps, ROWS)).encode())[:-20])
    with pytest.raises(OSError, match="Compressed file ended"):
        read(file)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv"])
def test_a_file_of_windows_with_a_line_in_another_encoding_is_said(run, tmp_path, name):
    """As where a script adds UTF-8 to what PowerShell wrote as UTF-16."""
    file = tmp_path / name
    text = as_table(",", "\n") if name.endswith("csv") else "\n".join(map(json.dumps, ROWS))
    file.write_bytes(text.encode("utf-16") + b"{}\n")
    result = run("check", file)
    assert result.exit_code == 1
    assert f"error: {file}: 'utf-16-le' codec can't decode byte" in " ".join(result.stderr.split())


def test_parquet_is_read(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").Table.from_pylist(ROWS)
    file = tmp_path / "rows.parquet"
    parquet.write_table(table.rename_columns(["id", "Question", "contexts", "answer"]), file)
    check(read(file))
    assert total_rows(file) == 2


def test_rows_of_a_table_that_cannot_be_read_are_errors_in_their_place(tmp_path):
    file = tmp_path / "rows.csv"
    good = b"Where?,In Italy.,In Italy.\r\n"
    file.write_bytes(
        b"question,passages,answer\n"
        + good
        + b"Where?,In Italy.,In Italy, they say.\n"  # row 3: its answer would be cut off
        + b"Where?,In Italy.,It\xe4ly.\n"
        + b'"Where"?,In Italy.,Italy.\n'
        + b"\n,,\n"  # rows 6 and 7 are empty
        + b"Where?,In Italy.\n"
        + good
        + b'Where?,In Italy.,"In Italy.\n'
        + good  # in quotes that are never closed
    )
    found = read(file)
    assert [type(row) is Trace for row in found] == [True, *[False] * 4, True, False]
    errors = [(row.line, row.error) for row in found if not isinstance(row, Trace)]
    assert [line for line, _ in errors] == [3, 4, 5, 8, 10]
    said = ("4 cells, but there are 3", "not UTF-8", "told apart", "'answer' is missing", "apart")
    assert all(words in error for words, (_, error) in zip(said, errors, strict=True))


def test_a_long_passage_fits_into_a_cell(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text(f"question,context,answer\nWhere?,{'Italy ' * 50_000},Italy.\n")
    (trace,) = read(file)
    assert len(trace.passages[0].text) == 300_000


def test_labels_of_a_table_are_read(tmp_path):
    from franq_guard.rows.fields import with_row_label

    file = tmp_path / "rows.csv"
    lines = ["question,context,answer,is_true,is_faithful", "Q?,P,A.,TRUE,", "Q?,P,A.,0,1"]
    lines += ["Q?,P,A.,1.0,", "Q?,P,A.,0.0,0.0"]  # as pandas writes them where others are missing
    file.write_text("\n".join(lines))
    with rows_in(file, lambda row: with_row_label(Fields()(row))) as rows:
        labels = [row.labels[0] for row in rows]
    assert [label.is_true for label in labels] == [True, False, True, False]
    assert [label.is_faithful for label in labels] == [None, True, None, False]


def test_two_columns_of_one_name_are_an_error(tmp_path, run):
    file = tmp_path / "rows.csv"
    file.write_text("id,question,answer,answer ,passages\n1,When?,At 10:00.,At 11:00.,At 10:00.\n")
    result = run("check", file)
    assert result.exit_code == 2
    assert "2 columns are called 'answer'" in result.stderr
    file.write_text("question,answer,passages,,\nWhen?,At 10:00.,At 10:00.,,\n")
    assert run("check", file).exit_code == 0


def test_an_id_in_capitals_is_the_id(tmp_path, run):
    file = tmp_path / "rows.csv"
    file.write_text("ID,Question,Passages,Answer\nA7,When?,At 10:00.,At 10:00.\nA8,,,x,y\n")
    result = run("check", file, "--json")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert rows[0]["id"] == "A7"
    assert "fields read: id from ID, " in result.stderr


def test_a_standard_input_that_is_closed_is_said(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", None)  # as Python has it for `franq check - <&-`
    with pytest.raises(typer.Exit):
        read(Path("-"))
    assert "standard input is closed" in capsys.readouterr().err
