"""The program's commands, run as a user does, and rows to give them."""

import json

import pytest
from typer.testing import CliRunner

from franq_guard.cli.app import make_app


@pytest.fixture
def command():
    """Runs the command of these words on the models they name."""
    app = make_app([])
    return lambda *words, **options: CliRunner().invoke(app, [str(w) for w in words], **options)


@pytest.fixture
def offline(monkeypatch):
    """Puts a guard in the place of the offline one."""
    from franq_guard import Guard

    return lambda guard: monkeypatch.setattr(Guard, "offline", lambda **settings: guard)


@pytest.fixture
def run(command, offline, fake_guard):
    """Runs the command of these words on a guard of fakes."""
    offline(fake_guard)
    return command


@pytest.fixture
def row():
    return {
        "question": "Where is Rome?",
        "passages": ["Rome is in Italy."],
        "answer": "Rome is in Italy.",
    }


@pytest.fixture
def rows(tmp_path, row):
    file = tmp_path / "rows.jsonl"
    lines = [json.dumps(row | {"id": "a"}), "{broken", json.dumps({"id": "b"}), "", json.dumps(row)]
    file.write_text("\n".join(lines))
    return file
