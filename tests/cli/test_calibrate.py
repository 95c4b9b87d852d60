"""``franq calibrate``: what it fits, writes, refuses."""

import json

import pytest


def labelled(count):
    for i in range(count):
        true = i % 2 == 0
        answer = f"Town {i} is in Italy." if true else f"Town {i} is on the moon."
        claims = [{"text": answer, "spans": [[0, len(answer)]], "is_true": true}]
        row = {"id": str(i), "question": "Where?", "passages": [f"Town {i} is in Italy."]}
        yield json.dumps(row | {"answer": answer, "claims": claims})


def test_calibrate_fits_stores_and_reports(run, tmp_path):
    from franq_guard import Calibrator

    file, out, plot = tmp_path / "rows.jsonl", tmp_path / "mine.json", tmp_path / "plot.svg"
    file.write_text("\n".join([*labelled(140), "{broken"]))
    result = run("calibrate", file, "--out", out, "--plot", plot, "--at-most-flagged", 0.2)
    assert result.exit_code == 1, result.output
    assert "line 141" in result.stderr
    assert "1 row(s) could not be read and were left out" in result.stderr
    assert "auroc" in result.stdout
    said = " ".join(result.stdout.split())
    assert "at most 20 % of the true claims are flagged, at 90 % confidence" in said
    assert plot.read_text().startswith("<svg")
    fitted = Calibrator.load(out)
    assert fitted.fingerprint["language_model"] == "fake-language-model"
    assert fitted.fingerprint["n_train"] + fitted.promise["n"] + fitted.promise["others"] == 140
    # the fakes tell the two kinds apart without error
    assert fitted.figures["auroc"] == 1.0
    assert fitted.promise["data"] == "rows.jsonl"
    assert f"threshold {fitted.labels.threshold:.3f}" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--calibration", "bogus"], "condition, global or none, not 'bogus'"),
        (["--at-most-flagged", "20"], "--at-most-flagged must lie between 0 and 1, not 20"),
        (["--confidence", "1"], "--confidence must lie between 0 and 1, not 1"),
        (["--plot", "absent/plot.svg"], "no folder absent"),
        (["--out", "absent/mine.json"], "no folder absent"),
        (["--out", "."], "it is a folder"),
    ],
)
def test_calibrate_finds_a_wrong_option_before_any_model_runs(
    command, monkeypatch, tmp_path, words, message
):
    from franq_guard import Guard

    def no_model(**settings):
        raise AssertionError("a guard was made")

    monkeypatch.setattr(Guard, "offline", no_model)
    monkeypatch.chdir(tmp_path)
    result = command("calibrate", "rows.jsonl", "--out", "mine.json", *words)
    assert result.exit_code == 2
    assert message in result.stderr


def test_calibrate_of_readable_rows_exits_0(run, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(labelled(60)))
    result = run("calibrate", file, "--out", tmp_path / "mine.json", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["auroc"] == 1.0
    assert json.loads(result.stdout)["promise"] is None


def test_calibrate_refuses_with_the_reason_when_there_are_too_few_labels(run, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(labelled(6)))
    result = run("calibrate", file, "--out", tmp_path / "mine.json")
    assert result.exit_code == 1
    assert "3 true and 3 false claims" in " ".join(result.stderr.split())
    assert not (tmp_path / "mine.json").exists()
