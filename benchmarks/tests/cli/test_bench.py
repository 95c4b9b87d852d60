"""``franq bench claims`` and ``faithfulness``: figures, messages."""

import json

import pytest
from typer.testing import CliRunner

from franq_bench.cli.bench import bench


@pytest.fixture
def run():
    return lambda *words: CliRunner().invoke(bench, [str(w) for w in words])


def test_bench_claims_prints_figures_of_the_gold_set_that_comes_along(run, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    rows = [json.loads(line) for line in run("claims", "--json").stdout.splitlines()]
    assert {row["split"] for row in rows} == {"dev", "test"}
    assert all(0 <= row["matched"] <= 1 for row in rows)


def test_bench_of_a_missing_file_says_so(run, tmp_path):
    result = run("faithfulness", "--data", tmp_path / "none.jsonl")
    assert result.exit_code == 2
    assert "no such file" in result.stderr
    result = run("faithfulness", "--data", tmp_path)  # `verdicts --data` takes a folder
    assert result.exit_code == 2
    assert "is a folder: give the files" in " ".join(result.stderr.split())


def test_a_limit_of_no_pairs_is_refused_and_not_taken_from_the_end(run):
    result = run("faithfulness", "--data", "pairs.jsonl", "--limit", -3)
    assert result.exit_code == 2
    assert "Invalid value for '--limit'" in result.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no rows in"),
        ("{broken", "Expecting property name"),
        ('{"answer": "x"}', "documented schema: 'split'"),
    ],
)
def test_bench_claims_of_a_bad_file_says_so(run, tmp_path, content, message):
    file = tmp_path / "gold.jsonl"
    file.write_text(content)
    result = run("claims", "--gold", file)
    assert result.exit_code == 2, result.output
    assert message in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--read", "out.jsonl"], "--read writes what --filter found"),
        (["--filter", "rows.jsonl", "--read", "absent/out.jsonl"], "no folder absent"),
        (["--filter", "rows.jsonl", "--read", "rows.jsonl"], "is read by this command"),
    ],
)
def test_bench_claims_says_what_it_cannot_write_before_it_works(
    run, monkeypatch, tmp_path, words, message
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text('{"answer": "Rome is old. It rained."}\n')
    result = run("claims", *words)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("command", ["short", "claims-factuality", "long-form"])
def test_a_folder_that_cannot_be_written_is_refused_before_the_work(run, tmp_path, command):
    file = tmp_path / "data.jsonl"
    file.write_text("")  # the work would end with "no questions" or "no labelled claim"
    for out in (file, file / "results"):
        result = run(command, "--data", file, "--out", out)
        assert result.exit_code == 2
        assert "give a folder" in result.stderr


def test_ctrl_c_in_bench_short_says_how_to_go_on(run, monkeypatch, tmp_path):
    from franq_bench.cli import short

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(short, "_results", interrupted)
    (tmp_path / "data.jsonl").write_text("")
    result = run("short", "--data", tmp_path / "data.jsonl", "--out", tmp_path / "out")
    assert result.exit_code == 130
    assert "run the same command again to go on" in result.stderr


def test_bench_without_its_model_or_without_pairs_says_so(run, monkeypatch, tmp_path):
    from franq_bench.cli import quality
    from franq_guard.language_model import MissingModelError
    from franq_guard.testing import FakeFaithfulness

    file = tmp_path / "pairs.jsonl"
    file.write_text("")
    monkeypatch.setattr(quality, "scorer", lambda model: FakeFaithfulness())
    result = run("faithfulness", "--data", file)
    assert result.exit_code == 2
    assert "no labelled pairs" in result.stderr

    def missing(*args):
        raise MissingModelError("pip install the-model")

    monkeypatch.setattr(quality, "scorer", missing)
    monkeypatch.setattr(quality, "_bundled_extractor", missing)
    for words in (["faithfulness", "--data", file], ["claims", "--gold", file, "--llm"]):
        result = run(*words)
        assert result.exit_code == 2
        assert result.stderr == "error: pip install the-model\n"
