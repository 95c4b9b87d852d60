"""``franq bench claims`` and ``faithfulness``: figures, messages."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from franq_bench.cli.bench import bench


@pytest.fixture
def run():
    return lambda *words: CliRunner().invoke(bench, [str(w) for w in words])


def test_bench_claims_prints_figures_of_the_gold_set(run):
    gold = Path(__file__).parents[3] / "tests" / "fixtures" / "claims_gold.jsonl"
    rows = [
        json.loads(line) for line in run("claims", "--gold", gold, "--json").stdout.splitlines()
    ]
    assert {row["split"] for row in rows} == {"dev", "test"}
    assert all(0 <= row["matched"] <= 1 for row in rows)


def test_bench_of_a_missing_file_says_so(run, tmp_path):
    result = run("faithfulness", "--data", tmp_path / "none.jsonl")
    assert result.exit_code == 2
    assert "no such file" in result.stderr


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


def test_bench_claims_away_from_the_repository_says_where_the_gold_set_is(
    run, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    result = run("claims")
    assert result.exit_code == 2
    assert "in the repository" in result.stderr
    assert "--gold" in result.stderr


def test_bench_without_its_model_or_without_pairs_says_so(run, monkeypatch, tmp_path):
    from franq_bench.cli import bench as cli_bench
    from franq_guard.language_model import MissingModelError
    from franq_guard.testing import FakeFaithfulness

    file = tmp_path / "pairs.jsonl"
    file.write_text("")
    monkeypatch.setattr(cli_bench, "scorer", lambda model: FakeFaithfulness())
    result = run("faithfulness", "--data", file)
    assert result.exit_code == 2
    assert "no labelled pairs" in result.stderr

    def missing(*args):
        raise MissingModelError("pip install the-model")

    monkeypatch.setattr(cli_bench, "scorer", missing)
    monkeypatch.setattr(cli_bench, "_bundled_extractor", missing)
    for words in (["faithfulness", "--data", file], ["claims", "--gold", file, "--llm"]):
        result = run(*words)
        assert result.exit_code == 2
        assert result.stderr == "error: pip install the-model\n"
