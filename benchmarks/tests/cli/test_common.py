"""What the commands of the benchmark share."""

import pytest
import typer

from franq_bench.cli.common import DType, dtype_of, explained, show
from franq_guard.basics.numbers import native_bfloat16
from franq_guard.cli.console import output
from franq_guard.language_model.asking import NoAnswerError


def test_a_server_that_does_not_answer_ends_the_program_with_a_message(capfd):
    with pytest.raises(typer.Exit), explained():
        raise NoAnswerError("http://judge is busy: status 503")
    said = " ".join(capfd.readouterr().err.split())
    assert "http://judge is busy: status 503 what was made is kept" in said


def test_auto_is_the_data_type_of_this_processor():
    assert dtype_of(None) is None
    assert dtype_of(DType.bfloat16) == "bfloat16"
    assert dtype_of(DType.auto) == ("bfloat16" if native_bfloat16() else "float32")


ROW = {"method": "condition-calibrated", "figure": "calibration"}


def test_a_narrow_terminal_cuts_no_name_short(capsys, monkeypatch):
    monkeypatch.setattr(output, "_width", 24)  # rich reads COLUMNS once, at its start
    monkeypatch.setattr(output, "_force_terminal", True)
    show([ROW])
    printed = capsys.readouterr().out
    assert "…" not in printed
    assert "condition-" in printed


def test_in_a_file_or_a_pipe_no_word_is_cut(capsys, monkeypatch):
    monkeypatch.setattr(output, "_width", 24)
    show([ROW])
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["method", "figure"],
        ["condition-calibrated", "calibration"],
    ]
