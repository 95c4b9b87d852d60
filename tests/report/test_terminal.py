"""What reaches a terminal, a file and a pipe: the real program on a guard of fakes."""

import io
import json
import os
import pty
import subprocess
import sys

import pytest
from rich.console import Console

from franq_guard.cli import console as cli_io
from franq_guard.records import Claim, GuardedAnswer, Passage, Verdict
from franq_guard.report.terminal import print_answer, shown

PROGRAM = """
from franq_guard import Calibrator, Guard
from franq_guard.cli import main
from franq_guard.calibration.store import Knots
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel
curve = Knots((-9.0, 0.0), (0.0, 1.0))
made_for = {"language_model": "another"}
other = Calibrator("global", faith=curve, unfaith=curve, fingerprint=made_for, name="other")
fakes = Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness(), franq=other)
Guard.offline = lambda **settings: fakes
main()
"""
ROW = {
    "question": "Where is Rome?",
    "passages": ["Rome is in Italy."],
    "answer": "Rome is in Italy.",
}


@pytest.fixture
def rows(tmp_path):
    def write(count):
        file = tmp_path / "rows.jsonl"
        file.write_text((json.dumps(ROW) + "\n") * count)
        return file

    return write


def start(*words, **streams):
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "200"}
    command = [sys.executable, "-c", PROGRAM, *map(str, words)]
    return subprocess.Popen(command, env=environment, **streams)


def seen_on(terminal):
    text = b""
    try:
        while part := os.read(terminal, 65536):
            text += part
    except OSError:  # how Linux tells that the other side was closed
        pass
    os.close(terminal)
    return text.decode()


def test_rows_go_to_their_file_while_a_terminal_shows_the_progress(rows, tmp_path):
    terminal, side = pty.openpty()
    with (tmp_path / "out.jsonl").open("w") as out:
        process = start("check", rows(3), "--json", stdout=out, stderr=side)
        os.close(side)
        shown_aside = seen_on(terminal)
    assert process.wait() == 0
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["schema"] for row in found] == ["franq.answer/1"] * 3
    assert "answers checked" in shown_aside
    # the calibrator fits nothing: said once, as a plain line above the progress
    assert shown_aside.count("warning: calibrator other: language model: fitted for") == 1
    assert "franq.answer/1" not in shown_aside


def test_no_live_line_runs_into_results_on_the_same_terminal(rows):
    terminal, side = pty.openpty()
    process = start("check", rows(2), stdout=side, stderr=side)
    os.close(side)
    seen = seen_on(terminal)
    assert process.wait() == 0
    assert seen.count("Where is Rome?") == 2
    assert "answers checked" not in seen


@pytest.mark.parametrize("as_json", [["--json"], []])
def test_a_reader_that_leaves_ends_the_program_quietly(rows, as_json):
    # 600 answers are more than a pipe holds, so the program is still writing when it closes
    process = start(
        "check", rows(600), *as_json, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert "Rome" in process.stdout.readline()
    process.stdout.close()
    complaints = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 141
    assert [line for line in complaints.splitlines() if not line.startswith("warning: ")] == []


def test_a_full_disk_is_said(rows):
    with open("/dev/full", "w") as full:
        process = start("check", rows(1), "--json", stdout=full, stderr=subprocess.PIPE, text=True)
        _, complaints = process.communicate()
    assert process.returncode == 1
    assert complaints.splitlines()[-1] == "error: No space left on device"


def test_shown_replaces_controls_and_surrogates_only():
    assert shown("a\tb\nc\r\nä🙂 [red]") == "a\tb\nc\r\nä🙂 [red]"
    assert shown("\x1b[31m \x00 \x7f \x9b \r \ud800") == "�[31m � � � � �"
    assert shown("".join(map(chr, range(0x11000)))).encode()


def test_an_answer_cannot_steer_the_terminal():
    evil = "x\x1b]0;owned\x07\ud800"
    verdict = Verdict(Claim(evil, ((0, len(evil)),)), 0.9, 0.9, 0.9, 0.9, {}, "supported", None)
    answer = GuardedAnswer(evil, evil, (verdict,), "ok", calibrator=evil)
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    print_answer(Console(file=stream, width=100), evil, answer, [Passage(evil)])
    stream.flush()
    text = stream.buffer.getvalue().decode()
    assert "\x1b" not in text
    assert "\x07" not in text
    assert text.count("x�]0;owned��") == 4  # question, answer, claim, calibrator


def test_messages_are_printed_as_they_are(capsys):
    message = "[bold] :smile: \x1b[2J " + "long " * 60 + "end"
    cli_io.say(message)
    assert capsys.readouterr().err == message.replace("\x1b", "�") + "\n"


def test_in_a_narrow_terminal_every_line_of_the_summary_is_indented():
    claims = tuple(
        Verdict(Claim(f"Claim {i}.", ()), 0.9, 0.9, None, None, {}, "supported", None)
        for i in (1, 2)
    )
    answer = GuardedAnswer("Claim 1. Claim 2.", "Claim 1. Claim 2.", claims, "ok", "any writer")
    out = io.StringIO()
    print_answer(Console(file=out, width=40), "?", answer, [])
    lines = out.getvalue().rstrip().splitlines()
    first = next(i for i, line in enumerate(lines) if "all 2 claims checked" in line)
    assert len(lines) - first > 1
    assert all(line.startswith("   ") for line in lines[first:])
