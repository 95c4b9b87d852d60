"""Every example of this integration runs, with the bundled models."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from franq_guard import Guard

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def guard(smollm2):
    guard = Guard.offline()
    return guard.using(language_model=smollm2)


def run(name, guard):
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](guard)


def test_every_example_is_run_here():
    names = {path.stem for path in EXAMPLES.glob("langchain_*.py")}
    tests = [name for name in globals() if name.startswith("test_langchain_")]
    tested = {name.removeprefix("test_") for name in tests}
    assert names == tested


def test_langchain_lcel(guard, capsys):
    assert run("langchain_lcel", guard)
    assert "P(true) 0." in capsys.readouterr().out


def test_langchain_retrieval_chain(guard, capsys):
    output = run("langchain_retrieval_chain", guard)
    assert output["franq"]["status"] == "ok"
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["now here: input", "now here: context", "now here: answer, franq"]


def test_langchain_graph(guard):
    assert run("langchain_graph", guard)["franq"]["status"] == "ok"


def test_langchain_agent(guard):
    report = run("langchain_agent", guard).response_metadata["franq"]
    assert report["status"] == "ok"
    assert len(report["verdicts"]) >= 2


def test_langchain_regenerate(guard, capsys):
    assert run("langchain_regenerate", guard)
    assert 1 <= capsys.readouterr().out.count("  -> ") <= 2
