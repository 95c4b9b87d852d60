"""``franq check-dataset``: what reaches the engine, exit codes, the summary."""

import json
import sys
from collections import Counter

import pytest

pytest.importorskip("pyarrow")

from franq_guard.batch import dataset


@pytest.fixture
def called(monkeypatch):
    """Stands for the engine; ``report`` is what it answers."""
    seen = {}

    def check(paths, out, **options):
        seen.update(options, paths=paths, out=out)
        return seen["report"]

    monkeypatch.setattr(dataset, "check_dataset", check)
    return seen


def test_the_settings_reach_the_engine_and_the_counts_are_told(run, called):
    called["report"] = dataset.Report(5, 2, 5, Counter(), Counter(supported=4, false=1))
    words = ("in", "--out", "out", "--num-actors", "3", "--map", "id=key", "--batch-rows", "7")
    result = run("check-dataset", *words, "--no-evidence")
    assert result.exit_code == 0, result.output
    assert called["settings"] == dataset.DatasetSettings(num_actors=3, batch_rows=7)
    assert (called["paths"], called["out"]) == (["in"], "out")
    assert called["fields"] == {"id": "key"}
    assert called["named"]["evidence"] == "False"
    assert "5 of 5 rows done, 2 before; 3 in" in result.stderr
    assert "5 claims: 4 supported, 1 false" in result.stderr


def test_the_set_up_reaches_the_guard_and_a_run_goes_on_only_with_it(command, called, tmp_path):
    called["report"] = dataset.Report(1, 0, 1, Counter(), Counter())
    file = tmp_path / "set-up.toml"
    file.write_text('form = "short"\nuq_unfaith = "semantic-entropy"')
    words = ("check-dataset", "in", "--out", "out", "--config", file)
    assert command(*words).exit_code == 0
    assert called["guard"].form == "short"
    first = called["named"]
    assert "semantic-entropy" in first["set-up"]
    assert command(*words, "--calibration", "none").exit_code == 0
    assert called["named"] != first
    assert command(*words[:-2]).exit_code == 0
    assert "set-up" not in called["named"]  # as runs were written down before


def test_errors_and_missing_rows_are_told_and_end_with_1(run, called):
    errors = Counter({f"error {n}": n for n in range(1, 8)})
    called["report"] = dataset.Report(40, 0, 38, errors, Counter())
    result = run("check-dataset", "in", "--out", "out")
    assert result.exit_code == 1
    assert "28 row(s) could not be checked" in result.stderr
    assert "  7 x error 7" in result.stderr
    assert "2 other errors" in result.stderr
    assert "2 row(s) have no result: the same command goes on with them" in result.stderr
    assert "--retry-errors" not in result.stderr  # first those without a result

    called["report"] = dataset.Report(1, 0, 1, Counter(error=1), Counter())
    result = run("check-dataset", "in", "--out", "out", "--retry-errors")
    assert called["retry_errors"]
    assert "with --retry-errors the same command checks these rows again" in result.stderr


def test_without_ray_the_command_tells_what_to_install(run, tmp_path, row, monkeypatch):
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(row))
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "franq_guard.batch.ray_engine", raising=False)
    result = run("check-dataset", file, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "needs ray: pip install 'franq-guard[offline,ray]'" in result.stderr
    assert not (tmp_path / "out").exists()
