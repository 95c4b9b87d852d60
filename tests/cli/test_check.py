"""``franq check``: rows, exit codes, messages."""

import gzip
import json

import pytest

from franq_guard.cli.rows import check_rows


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


def test_check_of_good_rows_exits_0_and_shows_a_table(run, tmp_path, row):
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(row))
    result = run("check", file)
    assert result.exit_code == 0
    assert "P(true)" in result.stdout
    assert "supported The passages appear to say this." in " ".join(result.stdout.split())
    assert result.stderr.splitlines()[-1] == "1 claim: 1 supported; 0 flagged"


@pytest.mark.parametrize(("weak", "flagged"), [([], 2), (["--weak", "false,doubtful"], 0)])
def test_check_counts_what_the_policy_flags(command, monkeypatch, rows, weak, flagged):
    from franq_guard import Guard
    from franq_guard.testing import FakeGuard

    def unsupported(policy, franq):
        return FakeGuard(label="unsupported", reason="prior", policy=policy)

    monkeypatch.setattr(Guard, "offline", unsupported)
    result = command("check", rows, *weak)
    assert f"2 claims: 2 unsupported; {flagged} flagged" in result.stderr
    assert result.stdout.count("(prior)") == 3  # beside two claims, and once explained


@pytest.mark.parametrize(("own", "told"), [([], 1), (["--threshold", "0.4"], 0)])
def test_check_ends_with_what_the_calibrator_promises(command, monkeypatch, rows, own, told):
    from franq_guard import Calibrator, Guard
    from franq_guard.testing import FakeFaithfulness

    promised = Calibrator(promise={"at_most_flagged": 0.1, "of": "claims", "confidence": 0.9})

    def offline(policy, franq):
        return Guard(faithfulness=FakeFaithfulness(), franq=promised, policy=policy)

    monkeypatch.setattr(Guard, "offline", offline)
    result = command("check", rows, *own)
    said = "promise: at most 10 % of the claims are flagged, at 90 % confidence"
    assert " ".join(result.stdout.split()).count(said) == told
    assert "promise" not in command("check", rows, "--json").stdout


def test_check_reads_standard_input(run, row):
    result = run("check", "-", "--json", input=json.dumps(row) + "\n")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["status"] == "ok"


def test_check_of_a_missing_file_says_so(run, tmp_path):
    result = run("check", tmp_path / "none.jsonl")
    assert result.exit_code == 2
    assert "cannot read" in result.stderr


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("rows.csv", "'passages' is missing; the row has 'question', 'answer'"),
        ("rows.PARQUET", "cannot read"),
        ("rows.xlsx", "save the sheet as CSV UTF-8"),
        ("rows.jsonl.gz", "Not a gzipped file"),
        ("damaged.jsonl.gz", "Error -3 while decompressing"),
        ("folder", "franq check-dataset reads folders"),
        ("saved", "load_from_disk(FOLDER).to_json"),
    ],
)
def test_a_file_that_holds_no_rows_is_told_once_with_what_to_do(run, tmp_path, name, hint):
    if name.endswith("PARQUET"):
        pytest.importorskip("pyarrow")  # without it the hint is to install it
    (tmp_path / "folder").mkdir()
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "dataset_info.json").touch()
    damaged = gzip.compress(b"{}")[:10] + b"\xff" * 20
    if "." in name:
        told = damaged if name.startswith("damaged") else b"question,answer\nWhere?,Rome.\n"
        (tmp_path / name).write_bytes(told)
    result = run("check", tmp_path / name)
    assert result.exit_code == 2
    assert name in result.stderr
    assert hint in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("as_json", [["--json"], []])
def test_check_counts_an_answer_whose_check_failed_and_still_shows_it(
    command, offline, tmp_path, row, as_json
):
    from franq_guard import Guard
    from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

    def broken():
        raise OSError("out of order")

    guard = Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness(fail=broken))
    offline(guard)
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(row) + "\n" + json.dumps(row | {"answer": ""}))
    result = command("check", file, *as_json)
    assert result.exit_code == 1
    # the empty answer holds no claim, so nothing about it failed
    assert "1 row(s) could not be checked" in result.stderr
    assert "Rome is in Italy" in result.stdout
    assert "unverified" in result.stdout


def test_check_reads_a_byte_order_mark_and_says_which_bytes_are_no_text(run, tmp_path, row):
    file = tmp_path / "rows.jsonl"
    odd = json.dumps(row | {"question": "\xe4Where?"}, ensure_ascii=False)
    broken = odd.replace("Where", "Wh\xe9re").encode("latin-1")  # as an editor of old saved it
    good = odd.encode()
    file.write_bytes(b"\xef\xbb\xbf" + b"\n".join([good, broken, good]))
    for words, given in ((file,), None), (("-",), file.read_bytes()):
        result = run("check", *words, "--json", input=given)
        assert result.exit_code == 1, result.output
        first, error, last = map(json.loads, result.stdout.splitlines())
        assert first["status"] == last["status"] == "ok"
        # {"question": " has 14 characters, all before the first byte that is no UTF-8
        assert error == {"schema": "franq.error/1", "line": 2} | {
            "error": "not UTF-8: byte 14 of the row"
        }


@pytest.mark.parametrize("to_file", [False, True])
def test_a_full_disk_is_said_with_what_to_do(monkeypatch, run, rows, tmp_path, to_file):
    def full(*args, **options):
        yield next(check_rows(*args, **options))
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("franq_guard.cli.rows.check_rows", full)
    out = tmp_path / "out.jsonl"
    result = run("check", rows, *(("--out", out) if to_file else ()))
    assert result.exit_code == 1
    go_on = f": the rows that were done are in {out}; add --resume to go on with it"
    said = f"error: No space left on device{go_on if to_file else ''}"
    assert result.stderr.splitlines()[-1] == said


def test_what_given_claims_leave_out_is_checked(run, row, tmp_path):
    file = tmp_path / "rows.jsonl"
    more = {"answer": "Rome is in Italy. Rome costs 999 pounds.", "claims": ["Rome is in Italy."]}
    file.write_text(json.dumps(row | more))
    result = run("check", file, "--json")
    assert result.exit_code == 0, result.output
    found = [verdict["claim"]["text"] for verdict in json.loads(result.stdout)["verdicts"]]
    assert found == ["Rome is in Italy.", "Rome costs 999 pounds."]
