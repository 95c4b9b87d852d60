"""``franq check``: files it writes, runs that go on, what it says at the end."""

import json
import os

import pytest

from franq_guard.cli.inputs import total_rows


@pytest.fixture
def good(tmp_path, row):
    file = tmp_path / "good.jsonl"
    texts = ("Rome is in Italy.", "Elephants swim far.", "")
    lines = (json.dumps(row | {"id": str(i), "answer": text}) for i, text in enumerate(texts))
    file.write_text("\n".join(lines))
    return file


@pytest.fixture
def chosen(monkeypatch):
    """The offline guard with a fake model, and with the options of the command."""
    from franq_guard import Guard
    from franq_guard.testing import FakeFaithfulness

    def offline(policy, franq, **others):
        return Guard(faithfulness=FakeFaithfulness(), policy=policy, **others)

    monkeypatch.setattr(Guard, "offline", offline)


def test_json_goes_to_its_file_and_a_page_beside_it(run, good, tmp_path):
    out, page = tmp_path / "out.jsonl", tmp_path / "page.html"
    result = run("check", good, "--out", out, "--html", page, "--with-passages")
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["id"] for row in rows] == ["0", "1", "2"]
    assert rows[0]["passages"] == [{"text": "Rome is in Italy."}]
    html = page.read_text()
    assert html.count("<article") == 3
    assert "Checked answers: good.jsonl" in html
    assert "3 answers in" in result.stderr
    assert "1 with a flagged claim; 1 empty" in result.stderr


def test_a_run_that_ended_early_is_resumed_where_it_stopped(run, good, tmp_path):
    out = tmp_path / "out.jsonl"
    assert run("check", good, "--out", out).exit_code == 0
    whole = out.read_text()
    first = whole.index("\n") + 1
    out.write_text(whole[: first + 40])  # the second row was not finished
    result = run("check", good, "--out", out, "--resume")
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["id"] for row in rows] == ["0", "1", "2"]
    assert out.read_text()[:first] == whole[:first]
    assert "1 row(s) were done before" in result.stderr
    assert "2 answers in" in result.stderr
    again = run("check", good, "--out", out, "--resume")
    assert again.exit_code == 0
    assert "3 row(s) were done before" in again.stderr


def test_ctrl_c_says_where_the_rows_are_and_how_to_go_on(
    run, fake_guard, good, tmp_path, monkeypatch
):
    out, check_many, calls = tmp_path / "out.jsonl", type(fake_guard).check_many, []

    def stopped(guard, traces, **options):
        calls.append(traces)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return check_many(guard, traces, **options)

    monkeypatch.setattr(type(fake_guard), "check_many", stopped)
    page = tmp_path / "page.html"
    result = run("check", good, "--out", out, "--html", page, "--batch-size", 1)
    assert result.exit_code == 130
    assert f"stopped: the rows that were done are in {out}; add --resume" in result.stderr
    assert f"; {page} shows what was done" in result.stderr
    assert page.read_text().count("<article") == 1
    assert len(out.read_text().splitlines()) == 1
    assert run("check", good, "--out", out, "--resume").exit_code == 0
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == ["0", "1", "2"]


def test_a_resumed_run_tries_again_what_failed_before(run, rows, row, tmp_path):
    out = tmp_path / "out.jsonl"
    assert run("check", rows, "--out", out).exit_code == 1
    before = out.read_text().splitlines()
    result = run("check", rows, "--out", out, "--resume")
    assert result.exit_code == 1
    assert "2 row(s) could not be checked" in result.stderr
    assert out.read_text().splitlines() == before
    rows.write_text(rows.read_text().replace("{broken", json.dumps(row | {"id": "mended"})))
    result = run("check", rows, "--out", out, "--resume")
    assert "2 row(s) were done before" in result.stderr
    assert "1 row(s) could not be checked" in result.stderr
    after = out.read_text().splitlines()
    assert [json.loads(line).get("id") for line in after] == ["a", "mended", "b", None]
    assert [after[i] for i in (0, 2, 3)] == [before[i] for i in (0, 2, 3)]
    assert [file.name for file in tmp_path.glob("*.part")] == []


FAILED = {"label": "unverified", "reason": "error", "claim": {}}


def failing(out, *numbers):
    """Make results of an earlier run failed ones."""
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    for number in numbers:
        lines[number]["verdicts"] = [FAILED]
    out.write_text("".join(json.dumps(line) + "\n" for line in lines))


def many(tmp_path, row):
    file = tmp_path / "many.jsonl"
    file.write_text("\n".join(json.dumps(row | {"id": str(i)}) for i in range(5)))
    return file


def test_checks_that_failed_are_made_again_in_their_places(run, row, tmp_path):
    file, out = many(tmp_path, row), tmp_path / "out.jsonl"
    assert run("check", file, "--out", out).exit_code == 0
    whole = [json.loads(line)["verdicts"] for line in out.read_text().splitlines()]
    out.write_text("\n".join(out.read_text().splitlines()[:4]) + "\n")  # the last was not reached
    failing(out, 1, 3)
    result = run("check", file, "--out", out, "--resume")
    assert result.exit_code == 0, result.output
    assert "2 row(s) were done before" in result.stderr
    assert "3 answers in" in result.stderr
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["id"] for line in found] == list("01234")
    assert [line["verdicts"] for line in found] == whole


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_who_may_read_the_results_stays_as_it_was(run, row, tmp_path):
    file, out = many(tmp_path, row), tmp_path / "out.jsonl"
    assert run("check", file, "--out", out).exit_code == 0
    failing(out, 1)
    out.chmod(0o600)
    assert run("check", file, "--out", out, "--resume").exit_code == 0
    assert out.stat().st_mode & 0o777 == 0o600


def test_a_file_of_another_program_is_not_taken_for_the_rest_of_a_run(run, row, tmp_path):
    file, out, part = many(tmp_path, row), tmp_path / "out.jsonl", tmp_path / "out.jsonl.part"
    assert run("check", file, "--out", out).exit_code == 0
    failing(out, 1)
    before = out.read_text()
    part.write_text("a download\nof mine\n")
    result = run("check", file, "--out", out, "--resume")
    assert (result.exit_code, "out.jsonl.part is in the way" in result.stderr) == (2, True)
    assert (out.read_text(), part.read_text()) == (before, "a download\nof mine\n")


@pytest.mark.parametrize("killed", [False, True])
def test_a_run_that_tries_again_may_be_stopped_and_loses_nothing(
    run, fake_guard, row, tmp_path, monkeypatch, killed
):
    file, out = many(tmp_path, row), tmp_path / "out.jsonl"
    assert run("check", file, "--out", out).exit_code == 0
    whole = out.read_text()
    failing(out, 0, 2, 3)
    check_many, calls = type(fake_guard).check_many, []

    def stopped(guard, traces, **options):
        calls.append(traces)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return check_many(guard, traces, **options)

    with monkeypatch.context() as patch:
        patch.setattr(type(fake_guard), "check_many", stopped)
        if killed:  # what is done at the end of a run is not done
            patch.setattr("franq_guard.cli.resuming._complete", lambda out: None)
        words = ("check", file, "--out", out, "--resume", "--batch-size", 1)
        assert run(*words).exit_code == 130
    if killed:
        with (tmp_path / "out.jsonl.part").open("a") as part:
            part.write('{"schema": "franq.ans')
    else:
        states = [json.loads(line)["verdicts"] == [FAILED] for line in out.read_text().splitlines()]
        assert states == [False, False, True, True, False]
    result = run("check", file, "--out", out, "--resume")
    assert result.exit_code == 0, result.output
    assert "2 answers in" in result.stderr
    ours, theirs = ([json.loads(line) for line in t.splitlines()] for t in (out.read_text(), whole))
    assert [line["verdicts"] for line in ours] == [line["verdicts"] for line in theirs]
    assert not (tmp_path / "out.jsonl.part").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--resume"], "--resume goes on with the file that --out names"),
        (["--out", "old.jsonl", "--resume", "--html", "x.html"], "and without --html"),
        (["--out", "old.jsonl"], "old.jsonl holds something: give --resume"),
        (["--out", "old.jsonl", "--resume"], "row 1 of --out is of another answer"),
        (["--out", "no.jsonl", "--resume"], "no.jsonl was not written by franq check --out"),
        (["--out", "good.jsonl"], "good.jsonl is read by this command: name another file"),
        (["--html", "good.jsonl"], "good.jsonl is read by this command"),
        (["--html", "link.jsonl"], "link.jsonl is read by this command"),
        (["--out", "x", "--html", "./x"], "x is named for two outputs"),
        (["--out", "cut.jsonl", "--resume"], "cut.jsonl was not written by franq check --out"),
        (["--out", "trace.jsonl", "--resume"], "trace.jsonl was not written by franq check"),
        (["--html", "nowhere/x.html"], "there is no folder nowhere"),
        (["--with-passages"], "--with-passages is for JSON: give --json or --out, too"),
        (["--map", "question"], "--map must be NAME=FIELD"),
        (["--map", "title=x"], "map question, passages, answer or id"),
    ],
)
def test_what_cannot_work_is_said_and_nothing_is_written_over(
    run, good, tmp_path, monkeypatch, words, message
):
    monkeypatch.chdir(tmp_path)
    old = json.dumps({"schema": "franq.answer/1", "original": "Another.", "verdicts": []}) + "\n"
    (tmp_path / "old.jsonl").write_text(old)
    (tmp_path / "no.jsonl").write_text("[1]\n")
    (tmp_path / "cut.jsonl").write_text('{"notes": "of mine"}')  # no line break at its end
    (tmp_path / "trace.jsonl").write_text('{"schema": "franq.trace/1", "verdicts": []}\n{"mi')
    (tmp_path / "link.jsonl").symlink_to(good)
    before = {file.name: file.read_text() for file in tmp_path.iterdir()}
    result = run("check", "good.jsonl", *words)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    for name, text in before.items():
        assert (tmp_path / name).read_text() == text, name


@pytest.mark.parametrize("text", ["", "\n\n", "[]"])
def test_a_file_without_rows_is_an_error_and_an_old_page_stays(run, tmp_path, text):
    file, page = tmp_path / "empty.jsonl", tmp_path / "page.html"
    file.write_text(text)
    page.write_text("of yesterday")
    result = run("check", file, "--html", page)
    assert result.exit_code == 2
    assert "empty.jsonl holds no rows" in result.stderr
    assert page.read_text() == "of yesterday"


def test_a_first_row_that_was_not_finished_is_written_again(run, good, tmp_path):
    out = tmp_path / "out.jsonl"
    assert run("check", good, "--out", out).exit_code == 0
    out.write_text(out.read_text()[:30])
    assert run("check", good, "--out", out, "--resume").exit_code == 0
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--policy", "filter"], "policy"),
        (["--threshold", "0.9"], "policy"),
        (["--weak", "false"], "policy"),
        (["--no-evidence"], "evidence"),
    ],
)
def test_a_run_goes_on_only_with_its_own_settings(command, chosen, good, tmp_path, words, named):
    out, beside = tmp_path / "out.jsonl", tmp_path / "out.jsonl.settings.json"
    assert command("check", good, "--out", out).exit_code == 0
    kept, said = out.read_text().splitlines(keepends=True)[0], beside.read_text()
    out.write_text(kept)
    result = command("check", good, "--out", out, "--resume", *words)
    assert result.exit_code == 2
    assert f"begun with other settings ({named})" in " ".join(result.stderr.split())
    assert (out.read_text(), beside.read_text()) == (kept, said)


def test_a_run_with_another_calibrator_under_the_same_name_does_not_go_on(run, good, tmp_path):
    from franq_guard import Calibrator

    out, file = tmp_path / "out.jsonl", tmp_path / "mine.json"
    Calibrator().save(file)
    words = ("check", good, "--out", out, "--calibrator", file)
    assert run(*words).exit_code == 0
    assert run(*words, "--resume").exit_code == 0
    Calibrator(name="another").save(file)
    result = run(*words, "--resume")
    assert result.exit_code == 2
    assert "other settings (calibrator_sha256)" in " ".join(result.stderr.split())


def test_the_settings_name_the_calibrator_that_decides(run, good, tmp_path):
    out = tmp_path / "out.jsonl"
    assert run("check", good, "--out", out).exit_code == 0
    row = json.loads(out.read_text().splitlines()[0])
    said = json.loads((tmp_path / "out.jsonl.settings.json").read_text())["fingerprint"]
    assert said["calibrator"] == row["calibrator"]
    # The passages alone decide, whatever model the guard could ask.
    assert row["likelihoods"] == said["language_model"] == "none"
    assert said["methods"] == "evidence + prior"


def test_the_settings_are_there_before_the_first_row(command, chosen, good, tmp_path, monkeypatch):
    def broken(*args, **options):
        raise OSError("killed")

    monkeypatch.setattr("franq_guard.cli.rows.check_rows", broken)
    command("check", good, "--out", tmp_path / "out.jsonl", "--threshold", "0.75")
    said = json.loads((tmp_path / "out.jsonl.settings.json").read_text())["settings"]
    assert said["policy"]["threshold"] == 0.75
    assert (said["evidence"], said["passages"]) == (True, False)


@pytest.mark.parametrize(
    "change", [{"question": "Where is Oslo?"}, {"passages": ["Rome is on the moon."]}]
)
def test_a_row_with_the_same_answer_to_something_else_is_not_taken_as_done(
    run, good, tmp_path, change
):
    out = tmp_path / "out.jsonl"
    assert run("check", good, "--out", out).exit_code == 0
    rows = [json.loads(line) for line in good.read_text().splitlines()]
    good.write_text("\n".join(map(json.dumps, [rows[0], rows[1] | change, rows[2]])))
    result = run("check", good, "--out", out, "--resume")
    assert result.exit_code == 2
    assert "row 2 of --out is of another question, other passages or claims" in " ".join(
        result.stderr.split()
    )


def test_half_an_emoji_is_written_as_every_reader_of_json_takes_it(run, row, tmp_path):
    """A log cuts an answer inside one; jq ends at the row whose JSON has half of it."""
    good, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    good.write_text(json.dumps(row | {"id": "a\ud83d", "answer": "Rome is in Italy. \ud83d"}))
    said = run("check", good, "--json", "--with-passages").stdout
    assert run("check", good, "--out", out).exit_code == 0
    for line in (said, out.read_text()):
        read = json.loads(line)
        assert (read["id"], read["original"]) == ("a\ufffd", "Rome is in Italy. \ufffd")
        assert "\\ud83d" not in line
    again = run("check", good, "--out", out, "--resume")
    assert again.exit_code == 0, again.output
    assert "1 row(s) were done before" in again.stderr


def test_other_names_of_fields_are_read_and_said(run, tmp_path):
    file = tmp_path / "ragas.json"
    row = {"user_input": "Where?", "retrieved_contexts": ["Rome is in Italy."], "text": "Rome."}
    file.write_text(json.dumps([row], indent=1))
    result = run("check", file, "--map", "answer=text", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["original"] == "Rome."
    said = "answer from text, question from user_input, passages from retrieved_contexts"
    assert said in result.stderr


def test_without_evidence_there_is_none(command, chosen, good):
    for words, found in ([], True), (["--no-evidence"], False):
        first = json.loads(command("check", good, "--json", *words).stdout.splitlines()[0])
        assert bool(first["verdicts"][0]["evidence"]) is found


def test_models_that_cannot_be_loaded_are_said_before_any_row(command, offline, good):
    from franq_guard import Guard

    def broken():
        raise OSError("no such weights")

    offline(Guard(faithfulness=broken))
    result = command("check", good)
    assert result.exit_code == 2
    assert "the models cannot be loaded: OSError: no such weights" in result.stderr


def test_the_number_of_rows_is_known_before_they_are_read(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text('\n{"a": 1}\n\n{broken\n')
    assert total_rows(file) == 2
    file.write_text("[\n1, 2]")
    assert total_rows(file) is None
    assert total_rows(tmp_path / "none") is None


def test_a_folder_that_takes_no_file_is_refused_before_the_models_load(run, good, monkeypatch):
    may = os.access  # whoever runs the tests may write everywhere as root
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and may(path, mode))
    for option in ("--out", "--html"):
        result = run("check", good, option, good.parent / "new")
        assert result.exit_code == 2
        assert result.stderr == f"error: cannot write {good.parent / 'new'}: permission denied\n"


def test_rows_are_said_to_be_done_only_where_some_are(run, good, tmp_path):
    (tmp_path / "out.jsonl.settings.json").mkdir()  # which cannot be written then
    result = run("check", good, "--out", tmp_path / "out.jsonl")
    assert result.exit_code == 1
    assert "Is a directory" in result.stderr
    assert "rows that were done" not in result.stderr
