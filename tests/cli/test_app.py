"""The program as a whole: its commands, its help, what it says where it cannot start."""

import json
import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest
from typer.testing import CliRunner

from franq_guard.cli.app import make_app
from franq_guard.cli.plugins import GROUP

OWN = ("ask", "check", "calibrate", "convert-alignscore", "methods", "serve")


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_help_names_every_command(command):
    text = command("--help").stdout
    for name in ("demo", *OWN, "bench", "compare"):
        assert name in text
    for name in OWN:
        assert command(name, "--help").exit_code == 0


def test_the_program_finds_what_is_installed_and_its_help_imports_none_of_it():
    done = python(
        "import sys, json; from franq_guard.cli import main\n"
        "sys.argv = ['franq', '--help']\n"
        "try: main()\n"
        "except SystemExit as end: code = end.code\n"
        "heavy = {'franq_bench', 'langchain_franq', 'langchain_core', 'torch', 'numpy'}\n"
        "print(json.dumps([code, sorted(heavy & set(sys.modules))]))"
    )
    assert json.loads(done.stdout.splitlines()[-1]) == [0, []]


def test_without_typer_the_program_says_what_to_install():
    done = python(
        "import sys; sys.modules['typer'] = None\nfrom franq_guard.cli import main\nmain()"
    )
    assert done.returncode == 1
    assert done.stderr == "the command line needs typer: pip install 'franq-guard[cli]'\n"


def test_the_module_runs_like_the_program():
    done = subprocess.run(
        [sys.executable, "-m", "franq_guard.cli", "methods", "--json"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert "semantic-entropy" in done.stdout


@pytest.mark.parametrize("word", ["benhc", "demos"])
def test_a_slip_of_the_pen_is_told_the_nearest_command_of_all(word):
    offered = [EntryPoint(name, "nowhere:none", GROUP) for name in ("bench", "demo")]
    result = CliRunner().invoke(make_app(offered), [word])
    assert result.exit_code == 2
    assert f"Did you mean '{'bench' if word == 'benhc' else 'demo'}'" in result.stderr


def test_the_short_options_of_every_program(command):
    from franq_guard import __version__

    assert command("--version").stdout == f"franq {__version__}\n"
    assert command("-h").stdout == command("--help").stdout
    assert command("check", "-h").exit_code == 0


def test_the_help_leaves_an_options_description_most_of_a_narrow_terminal(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = command("check", "--help").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("Look for the words in the passages that bear" in line for line in lines)
    listed = command("--help").stdout
    assert "Check the answers in a file; each row has a question," in listed
    assert "..." not in listed.partition("Commands:")[2]


def test_the_commands_are_there_before_the_rules_of_claims_are_read():
    done = python("import sys, franq_guard.cli.app; print('franq_guard.claims' in sys.modules)")
    assert done.stdout == "False\n", done.stderr


def test_ctrl_c_while_the_program_starts_is_no_traceback(monkeypatch):
    from franq_guard import cli

    def stopped():
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_run", stopped)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 130
