"""Every example of this integration runs, with the bundled models."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from franq_guard import Guard

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def guard(smollm2):
    return Guard.offline().using(language_model=smollm2)


def run(name, guard):
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](guard)


def test_every_example_is_run_here():
    names = {path.stem for path in EXAMPLES.glob("llama_index_*.py")}
    tests = [name for name in globals() if name.startswith("test_llama_index_")]
    assert names == {name.removeprefix("test_") for name in tests}


def test_llama_index_query_engine(guard, capsys):
    report = run("llama_index_query_engine", guard).metadata["franq"]
    assert report["status"] == "ok"
    assert "Golden Gate Bridge.txt[" in capsys.readouterr().out


def test_llama_index_chat_engine(guard):
    chat = run("llama_index_chat_engine", guard)
    assert [message.role.value for message in chat.chat_history] == ["user", "assistant"] * 2


def test_llama_index_streaming(guard, capsys):
    assert run("llama_index_streaming", guard)["status"] == "ok"
    assert capsys.readouterr().out.startswith("report so far: {}\n")


@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
def test_llama_index_agent(guard, capsys):
    report = run("llama_index_agent", guard).response.additional_kwargs["franq"]
    assert report["status"] == "ok"
    assert len(report["verdicts"]) >= 2
    assert capsys.readouterr().out.count("streamed: ") == 1
