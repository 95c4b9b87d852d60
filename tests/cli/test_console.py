"""Standard output, whatever the terminal or the shell makes of it."""

import io
import subprocess
import sys

import pytest

from franq_guard import Guard
from franq_guard.cli import console
from franq_guard.cli.answers import Shown
from franq_guard.testing import FakeFaithfulness


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_what_the_encoding_lacks_is_replaced(monkeypatch, encoding):
    guard = Guard(faithfulness=FakeFaithfulness())
    text = "The arrow → means “to”."
    answer = guard.check("What does → mean?", [text], text)
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    console.prepare()
    Shown(guard)("What does → mean?", answer, answer.passages)
    console.tell("→")
    sys.stdout.flush()
    assert "What does ? mean?" in raw.getvalue().decode(encoding)


@pytest.mark.parametrize("words", ["methods", "methods --json", "--version"])
def test_a_closed_output_is_an_error_in_words(words):
    command = f"{sys.executable} -m franq_guard.cli {words} >&-"
    ended = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr == ("error: standard output is closed: nothing can be written to it\n")
