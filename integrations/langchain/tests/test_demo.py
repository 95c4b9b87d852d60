"""``franq demo``: the built-in questions through the guarded chain."""

import json
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from tomllib import loads

import pytest
from typer.testing import CliRunner

from franq_guard import Guard
from franq_guard.cli.app import make_app
from franq_guard.cli.plugins import GROUP, KNOWN
from franq_guard.datasets.demo import corpus, questions
from franq_guard.datasets.local_rag import local_rag
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel
from langchain_franq import local
from langchain_franq.demo import demo

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


@pytest.fixture
def run():
    offered = loads(PYPROJECT.read_text())["project"]["entry-points"][GROUP]
    app = make_app([EntryPoint(name, value, GROUP) for name, value in offered.items()])
    return lambda *words: CliRunner().invoke(app, ["demo", *words])


@pytest.fixture
def fakes(monkeypatch):
    """A guard of fakes, and a chain that needs no model of transformers."""
    model = FakeLanguageModel(answers=lambda prompt: "It is so.")
    guard = Guard(language_model=model, faithfulness=FakeFaithfulness())
    asked = []

    def chain(passages, guard):
        asked.append((passages, guard))
        return local_rag(passages, guard)

    monkeypatch.setattr(Guard, "offline", lambda **settings: guard)
    monkeypatch.setattr(local, "guarded_local_rag", chain)
    return guard, asked


def test_every_question_is_asked_of_the_corpus(run, fakes):
    guard, asked = fakes
    result = run("--json")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 0
    assert [row["question"] for row in rows] == [q.question for q in questions()[:6]]
    assert {row["original"] for row in rows} == {"It is so."}
    assert asked == [(corpus(), guard)]


def test_a_table_for_each_answer(run, fakes):
    text = run("--questions", "2").stdout
    assert text.count("Q  ") == text.count("A  It is so") == 2


def test_a_setting_that_cannot_work_is_said(run):
    result = run("--policy", "erase")
    assert result.exit_code == 2
    assert "annotate, filter or block" in result.stderr


def test_without_the_local_parts_it_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "langchain_franq.local", None)
    result = run()
    assert result.exit_code == 2
    assert result.stderr.endswith(": pip install 'langchain-franq[local]'\n")


def test_the_help_of_the_program_has_its_words():
    assert demo.__doc__ == KNOWN["demo"].help


def test_the_chain_and_the_plain_way_write_and_check_the_same(smollm2):
    guard = Guard(language_model=smollm2, faithfulness=FakeFaithfulness())
    asked = questions()[0].question
    ways = (local.guarded_local_rag, local_rag)
    chain, plain = (way(corpus(), guard, k=2, max_new_tokens=24)(asked) for way in ways)
    # titles and ids go through a Document's metadata and back
    assert [p.id for p in chain.passages] == [p.id for p in plain.passages]
    assert chain.answer.original == plain.answer.original
    for one, other in zip(chain.answer.verdicts, plain.answer.verdicts, strict=True):
        assert one.claim == other.claim
        assert one.raw == pytest.approx(other.raw, abs=1e-4)
