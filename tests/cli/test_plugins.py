"""Commands of other distributions: there, absent, broken."""

import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest
import typer
from typer.testing import CliRunner

from franq_guard.cli.app import make_app
from franq_guard.cli.plugins import GROUP, KNOWN

INSTALL = {
    "demo": "this command needs langchain-franq: pip install 'langchain-franq[local]'",
    "bench": "this command needs franq-bench: pip install franq-bench",
    "compare": "this command needs franq-bench: pip install franq-bench",
}


def several():
    made = typer.Typer(help="Commands of a neighbour.")

    @made.command()
    def here(times: int = 1):
        """What the neighbour does here."""
        typer.echo("here " * times)

    @made.command()
    def there():
        """What the neighbour does there."""
        raise typer.Exit(3)

    return made


def alone(name: str, loud: bool = False) -> None:
    """Greet."""
    typer.echo(f"hello {name}{'!' if loud else ''}")


@pytest.fixture
def neighbour(monkeypatch):
    module = ModuleType("neighbour")
    module.several, module.alone, module.number = several(), alone, 7
    monkeypatch.setitem(sys.modules, "neighbour", module)


def run(entries, *words):
    found = [EntryPoint(name, value, GROUP) for name, value in entries.items()]
    return CliRunner().invoke(make_app(found), words)


def test_a_typer_is_a_group_of_commands(neighbour):
    entries = {"bench": "neighbour:several"}
    assert run(entries, "bench", "here", "--times", "2").stdout == "here here \n"
    assert run(entries, "bench", "there").exit_code == 3
    help_text = run(entries, "bench", "--help").stdout
    assert "Commands of a neighbour." in help_text
    assert "bench [OPTIONS] COMMAND" in help_text


def test_a_function_is_a_command_and_its_options_are_its_own(neighbour):
    entries = {"greet": "neighbour:alone"}
    assert run(entries, "greet", "Ann", "--loud").stdout == "hello Ann!\n"
    assert "--loud" in run(entries, "greet", "--help").stdout
    wrong = run(entries, "greet", "--quiet", "Ann")
    assert wrong.exit_code == 2
    assert "--quiet" in wrong.stderr


def test_one_that_nobody_knows_beforehand_is_listed_with_where_it_is_from(neighbour):
    assert "A command of neighbour." in run({"greet": "neighbour:alone"}, "--help").stdout


@pytest.mark.parametrize("name", KNOWN)
def test_an_absent_one_says_what_to_install(name):
    for words in ([name], [name, "--help"], [name, "x", "--y"]):
        result = run({}, *words)
        assert result.exit_code == 2
        assert result.stderr == f"error: {INSTALL[name]}\n"


def test_the_help_says_what_is_not_installed_and_lists_the_demo_first(neighbour):
    offered = {}, {"bench": "neighbour:several"}
    # As one line; a line may have ended at a hyphen.
    listed = (" ".join(run(one, "--help").stdout.split()) for one in offered)
    without, beside = (text.replace("- ", "-") for text in listed)
    for known in KNOWN.values():
        assert f"{known.help} (not installed: {known.install})" in without
    assert "not installed: pip install 'langchain-franq[local]'" in beside
    assert f"{KNOWN['bench'].help} (not" not in beside
    assert without.index(" demo ") < without.index(" ask ") < without.index(" bench ")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("json:no_such_name", "AttributeError: module 'json' has no attribute 'no_such_name'"),
        ("neighbour:number", "TypeError: a function or a typer.Typer is wanted, not int"),
        ("neighbour.fails:x", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_broken_one_says_why_and_costs_no_other(neighbour, monkeypatch, tmp_path, value, why):
    (tmp_path / "fails.py").write_text("1 / 0")
    sys.modules["neighbour"].__path__ = [str(tmp_path)]
    entries = {"bench": value, "greet": "neighbour:alone"}
    result = run(entries, "bench", "short")
    assert result.exit_code == 2
    assert result.stderr == f"error: bench cannot be loaded from {value}: {why}\n"
    assert run(entries, "greet", "Ann").exit_code == 0
    assert run(entries, "--help").exit_code == 0


def test_one_whose_own_needs_are_not_met_says_what_to_install():
    known = run({"bench": "no_such_module.cli:bench"}, "bench")
    assert known.exit_code == 2
    assert known.stderr == "error: this command needs no_such_module: pip install franq-bench\n"
    other = run({"greet": "no_such_module:greet"}, "greet")
    assert other.exit_code == 2
    assert "this command needs no_such_module" in other.stderr


def test_a_command_of_our_own_is_not_replaced(neighbour):
    assert "semantic-entropy" in run({"methods": "neighbour:alone"}, "methods").stdout
