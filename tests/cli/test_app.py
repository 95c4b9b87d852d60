"""The command line on a guard of fakes: rows, exit codes, messages."""

import json

import pytest
from typer.testing import CliRunner

from franq_guard.cli import app as cli

ROW = {
    "question": "Where is Rome?",
    "passages": ["Rome is in Italy."],
    "answer": "Rome is in Italy.",
}


@pytest.fixture
def run(monkeypatch, fake_guard):
    monkeypatch.setattr(cli, "_guard", lambda *args, **options: fake_guard)
    return lambda *words, **options: CliRunner().invoke(cli.app, [str(w) for w in words], **options)


@pytest.fixture
def rows(tmp_path):
    file = tmp_path / "rows.jsonl"
    lines = [json.dumps(ROW | {"id": "a"}), "{broken", json.dumps({"id": "b"}), "", json.dumps(ROW)]
    file.write_text("\n".join(lines))
    return file


def test_check_json_reports_a_bad_row_in_its_place_and_goes_on(run, rows):
    result = run("check", rows, "--json")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["schema"] for row in found] == [
        "franq.answer/1",
        "franq.error/1",
        "franq.error/1",
        "franq.answer/1",
    ]
    assert [row.get("id") for row in found] == ["a", None, "b", None]
    assert found[1]["line"] == 2
    assert "'question' is missing" in found[2]["error"]
    assert result.exit_code == 1
    assert "2 row(s) could not be checked" in result.stderr


def test_check_of_good_rows_exits_0_and_shows_a_table(run, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(ROW))
    result = run("check", file)
    assert result.exit_code == 0
    assert "P(true)" in result.stdout
    assert "supported" in result.stdout


def test_check_reads_standard_input(run):
    result = run("check", "-", "--json", input=json.dumps(ROW) + "\n")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["status"] == "ok"


def test_check_of_a_missing_file_says_so(run, tmp_path):
    result = run("check", tmp_path / "none.jsonl")
    assert result.exit_code == 2
    assert "cannot read" in result.stderr


@pytest.mark.parametrize("files", [[], ["data.csv"], ["empty.txt"]])
def test_ask_of_a_folder_without_text_says_so(run, tmp_path, files):
    for name in files:
        (tmp_path / name).write_text("")
    result = run("ask", "--docs", tmp_path, "Where?")
    assert result.exit_code == 2
    assert "no text found" in " ".join(result.stderr.split())


def test_ask_of_no_folder_or_no_question_says_so(run, tmp_path):
    assert "is not a folder" in " ".join(
        run("ask", "--docs", tmp_path / "x", "Where?").stderr.split()
    )
    result = run("ask", "--docs", tmp_path, " ")
    assert result.exit_code == 2
    assert "the question is empty" in " ".join(result.stderr.split())


def test_wrong_policy_and_damaged_calibrator_end_with_the_reason(tmp_path, rows):
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    for words, message in (
        (["--policy", "erase"], "'annotate', 'filter', 'block'"),
        (["--threshold", "2"], "0 <= false_below"),
        (["--calibrator", str(bad)], "not a usable"),
        (["--calibrator", str(tmp_path / "none.json")], "none.json"),
    ):
        result = CliRunner().invoke(cli.app, ["check", str(rows), *words])
        assert result.exit_code == 2, words
        assert message in " ".join(result.stderr.split())


def test_methods_lists_every_method(run):
    from franq_guard.uncertainty.methods import methods

    found = [json.loads(line) for line in run("methods", "--json").stdout.splitlines()]
    assert {row["name"] for row in found} >= {m.name for m in methods()}
    assert all(row["level"] and row["cost"] and row["source"] for row in found)
    assert "semantic-entropy" in run("methods").stdout


def test_help_names_every_command(run):
    text = run("--help").stdout
    for command in ("demo", "ask", "check", "methods", "calibrate", "bench"):
        assert command in text
        assert run(command, "--help").exit_code == 0


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
    file.write_text("\n".join([*labelled(60), "{broken"]))
    result = run("calibrate", file, "--out", out, "--plot", plot, "--threshold-for", "fpr=0.1")
    assert result.exit_code == 1, result.output
    assert "line 61" in result.stderr
    assert "1 row(s) could not be read and were left out" in result.stderr
    assert "auroc" in result.stdout
    assert "threshold" in result.stdout
    assert plot.read_text().startswith("<svg")
    fitted = Calibrator.load(out)
    assert fitted.fingerprint["language_model"] == "fake-language-model"
    assert fitted.fingerprint["n_train"] == 60
    # the fakes tell the two kinds apart without error
    assert fitted.figures["auroc"] == 1.0
    assert f"--threshold {fitted.figures['threshold']['value']}" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--calibration", "bogus"], "condition, global or none, not 'bogus'"),
        (["--threshold-for", "fpr:0.1"], "want fpr=S, precision=S or kept=S"),
        (["--plot", "absent/plot.svg"], "no folder absent"),
        (["--out", "absent/mine.json"], "no folder absent"),
        (["--out", "."], "it is a folder"),
    ],
)
def test_calibrate_finds_a_wrong_option_before_any_model_runs(
    monkeypatch, tmp_path, words, message
):
    def no_model(*args):
        raise AssertionError("a guard was made")

    monkeypatch.setattr(cli, "_guard", no_model)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli.app, ["calibrate", "rows.jsonl", "--out", "mine.json", *words])
    assert result.exit_code == 2
    assert message in result.stderr


def test_calibrate_of_readable_rows_exits_0(run, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(labelled(60)))
    result = run("calibrate", file, "--out", tmp_path / "mine.json", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["auroc"] == 1.0
    assert "--threshold" not in result.stderr


def test_check_takes_the_threshold_of_the_calibrator_unless_one_is_given(monkeypatch, tmp_path):
    from franq_guard import Calibrator, Guard

    monkeypatch.setattr(Guard, "offline", lambda policy, franq: policy.threshold)
    plain, tuned = tmp_path / "plain.json", tmp_path / "tuned.json"
    Calibrator().save(plain)
    Calibrator(figures={"threshold": {"value": 0.125}}).save(tuned)
    assert cli._guard("annotate", None) == 0.5
    assert cli._guard("annotate", None, plain) == 0.5
    assert cli._guard("annotate", None, tuned) == 0.125
    assert cli._guard("annotate", 0.75, tuned) == 0.75


@pytest.mark.parametrize("as_json", [["--json"], []])
def test_check_counts_an_answer_whose_check_failed_and_still_shows_it(
    monkeypatch, tmp_path, as_json
):
    from franq_guard import Guard
    from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

    def broken():
        raise OSError("out of order")

    guard = Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness(fail=broken))
    monkeypatch.setattr(cli, "_guard", lambda *args: guard)
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(ROW) + "\n" + json.dumps(ROW | {"answer": ""}))
    result = CliRunner().invoke(cli.app, ["check", str(file), *as_json])
    assert result.exit_code == 1
    # the empty answer holds no claim, so nothing about it failed
    assert "1 row(s) could not be checked" in result.stderr
    assert "Rome is in Italy" in result.stdout
    assert "unverified" in result.stdout


def test_check_reads_a_byte_order_mark_and_bytes_that_are_no_text(run, tmp_path):
    file = tmp_path / "rows.jsonl"
    row = json.dumps(ROW).replace("Where", "Wh\xe9re").encode("latin-1")
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(ROW).encode() + b"\n" + row)
    result = run("check", file, "--json")
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == 2
    assert run("check", "-", "--json", input=file.read_bytes()).exit_code == 0


def test_an_error_of_the_check_is_not_called_an_unreadable_file(monkeypatch, run, rows):
    def broken(*args, **options):
        raise OSError("no space")

    monkeypatch.setattr("franq_guard.rows.check.check_rows", broken)
    result = run("check", rows)
    assert isinstance(result.exception, OSError)
    assert "cannot read" not in result.stderr


def test_calibrate_refuses_with_the_reason_when_there_are_too_few_labels(run, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(labelled(6)))
    result = run("calibrate", file, "--out", tmp_path / "mine.json")
    assert result.exit_code == 1
    assert "3 true and 3 false claims" in " ".join(result.stderr.split())
    assert not (tmp_path / "mine.json").exists()


def test_bench_claims_prints_figures_of_the_gold_set(run):
    from pathlib import Path

    gold = Path(__file__).parents[1] / "fixtures" / "claims_gold.jsonl"
    rows = [
        json.loads(line)
        for line in run("bench", "claims", "--gold", gold, "--json").stdout.splitlines()
    ]
    assert {row["split"] for row in rows} == {"dev", "test"}
    assert all(0 <= row["matched"] <= 1 for row in rows)


def test_bench_of_a_missing_file_says_so(run, tmp_path):
    result = run("bench", "faithfulness", "--data", tmp_path / "none.jsonl")
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
    result = run("bench", "claims", "--gold", file)
    assert result.exit_code == 2, result.output
    assert message in result.stderr


def test_bench_claims_away_from_the_repository_says_where_the_gold_set_is(
    run, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    result = run("bench", "claims")
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
    result = run("bench", "faithfulness", "--data", file)
    assert result.exit_code == 2
    assert "no labelled pairs" in result.stderr

    def missing(*args):
        raise MissingModelError("pip install the-model")

    monkeypatch.setattr(cli_bench, "scorer", missing)
    monkeypatch.setattr(cli_bench, "_bundled_extractor", missing)
    for words in (["faithfulness", "--data", file], ["claims", "--gold", file, "--llm"]):
        result = run("bench", *words)
        assert result.exit_code == 2
        assert result.stderr == "error: pip install the-model\n"


def test_convert_alignscore_writes_what_the_guard_can_load(run, tmp_path):
    from pathlib import Path

    from franq_guard.faithfulness import AlignScore

    fixture = Path(__file__).parents[1] / "fixtures" / "alignscore"
    words = [fixture / "tiny-align.ckpt", tmp_path / "out", "--backbone", fixture / "tiny-roberta"]
    result = run("convert-alignscore", *words)
    assert result.exit_code == 0, result.output
    assert (
        0
        <= AlignScore.from_checkpoint(tmp_path / "out").score(["Rome is big."], ["It is."])[0]
        <= 1
    )
    result = run("convert-alignscore", tmp_path / "none.ckpt", tmp_path / "out2")
    assert result.exit_code == 2
    assert "none.ckpt" in result.stderr


class TestLanguageModel:
    """--language-model: what scores the answers in place of the bundled model."""

    @pytest.mark.parametrize(
        ("where", "message"),
        [
            ("gpt-9", "no language model 'gpt-9': give bundled, a .gguf file"),
            ("none.gguf", "there is no file none.gguf"),
            ("http://127.0.0.1:9/v1#smol", "is the server running"),
        ],
    )
    @pytest.mark.parametrize("command", ["check", "calibrate"])
    def test_one_that_is_not_there_ends_with_the_reason(
        self, monkeypatch, tmp_path, rows, command, where, message
    ):
        monkeypatch.chdir(tmp_path)
        words = [command, str(rows), "--language-model", where]
        out = ["--out", "mine.json"] if command == "calibrate" else []
        result = CliRunner().invoke(cli.app, [*words, *out])
        assert result.exit_code == 2
        assert message in " ".join(result.stderr.split())

    def test_the_guard_has_it_beside_the_small_faithfulness_model(self, monkeypatch):
        from franq_guard.language_model import loading
        from franq_guard.testing import FakeLanguageModel

        asked = []

        def load(where, *, api_key):
            asked.append((where, api_key))
            return FakeLanguageModel()

        monkeypatch.setattr(loading, "language_model_from", load)
        monkeypatch.setenv("FRANQ_API_KEY", "secret")
        guard = cli._guard("annotate", 0.3, None, "http://localhost:8000/v1")
        assert asked == [("http://localhost:8000/v1", "secret")]
        assert guard.language_model.fingerprint == "fake-language-model"
        assert guard.policy.threshold == 0.3

    def test_each_kind_by_its_word(self, monkeypatch, tmp_path):
        from franq_guard.language_model import LlamaCppModel, TransformersModel, loading
        from franq_guard.language_model.server import model as server_model
        from franq_guard.language_model.transformers import smollm2

        monkeypatch.setattr(smollm2, "load_bundled", lambda notify, dtype: f"bundled {dtype}")
        monkeypatch.setattr(LlamaCppModel, "from_gguf", lambda path: ("gguf", path))
        monkeypatch.setattr(TransformersModel, "from_pretrained", lambda path, dtype: (path, dtype))
        monkeypatch.setattr(
            server_model, "ServerModel", lambda url, name, api_key: (url, name, api_key)
        )
        assert loading.language_model_from("bundled") == "bundled float32"
        assert loading.language_model_from("bundled", dtype="bfloat16") == "bundled bfloat16"
        assert loading.language_model_from("a/b.gguf") == ("gguf", "a/b.gguf")
        assert loading.language_model_from(str(tmp_path)) == (str(tmp_path), "auto")
        with pytest.raises(ValueError, match="leave out --dtype"):
            loading.language_model_from("a/b.gguf", dtype="float32")
        assert loading.language_model_from("https://x/v1#a/b", api_key="k") == (
            "https://x/v1",
            "a/b",
            "k",
        )
        assert loading.language_model_from("http://x/v1") == ("http://x/v1", None, None)
