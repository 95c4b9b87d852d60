import json
from contextlib import contextmanager
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from franq_bench.cli import long as cli_bench_claims
from franq_bench.data.labelled_answers import read_labelled
from franq_bench.long.own import labelled, own_answers, write_traces
from franq_bench.long.run import Plan, run
from franq_bench.tables.results import Results
from franq_bench.tables.scores import GOLD, Scores
from franq_guard.claims import RuleSplitter
from franq_guard.cli.app import app


@contextmanager
def silent(what):
    yield lambda done, total: None


@pytest.fixture
def questions(countries, written):
    rows = [
        {
            "id": f"made{i}",
            "dataset": "made",
            "question": f"What is the capital of {country}?",
            "answers": [f"City{i}"],
            "passages": [{"title": country, "text": f"City{i} is its capital.", "is_gold": True}],
        }
        for i, country in enumerate(countries)
    ]
    return written(rows, "questions.jsonl")


@pytest.fixture
def model(countries, scripted):
    """Right about every other country."""

    def reply(prompt):
        asked = prompt.rpartition("Questions:\n")[2].splitlines()[:4]
        at = [countries.index(line.rpartition(" ")[2].rstrip("?")) for line in asked]
        return "\n".join(
            f"{n}. The capital of {countries[i]} is {f'City{i}' if i % 2 else 'Mox'}."
            for n, i in enumerate(at, 1)
        )

    return scripted(answers=reply)


def test_own_answers_have_gold_faithfulness(questions, model, models, tmp_path):
    steps = []
    made = own_answers(
        [questions],
        model,
        tmp_path / "store.jsonl",
        prompts=5,
        progress=lambda *step: steps.append(step),
    )
    assert len(made) == 2  # eight questions, four a prompt
    assert steps[-1] == (2, 2)
    answers = list(map(labelled, made))
    claims = [claim for answer in answers for claim in answer.claims]
    assert {claim.is_true for claim in claims} == {True, False}
    assert all(claim.is_faithful is not None for claim in claims)
    for answer in answers:
        assert answer.dataset == "made"
        assert answer.trace.contrast_prompt != answer.trace.generation.prompt
    plan = Plan("long-form", (questions,), train_share=0.5, white_box="own")
    measured = replace(models, language_model=model)
    results = run(plan, answers, measured, tmp_path, silent, out=tmp_path / "out")
    assert results.settings["white_box"] == "own"
    assert any("share faithful (gold)" in [c.title for c in t.columns] for t in results.tables)
    assert all(row.scores[GOLD] in (0, 1) for row in Scores.read(tmp_path / "out").rows)
    assert GOLD not in {row.method for row in results.rows}


def test_the_set_can_be_read_again(questions, model, tmp_path):
    made = own_answers([questions], model, tmp_path / "store.jsonl", prompts=5)
    write_traces(made, tmp_path / "traces.jsonl")
    for first, again in zip(
        map(labelled, made), read_labelled([tmp_path / "traces.jsonl"]), strict=True
    ):
        assert (first.id, first.dataset, first.target) == (again.id, again.dataset, again.target)
        assert first.claims == again.claims
        assert first.trace.metadata == again.trace.metadata
        assert first.trace.generation.prompt == again.trace.generation.prompt


def test_too_few_questions_for_a_prompt(questions, model, tmp_path):
    file = tmp_path / "one.jsonl"
    file.write_text(questions.read_text().splitlines()[0])
    with pytest.raises(ValueError, match="too few questions"):
        own_answers([file], model, tmp_path / "store.jsonl", prompts=5)


def bench(monkeypatch, models, *arguments):
    monkeypatch.setattr(cli_bench_claims, "load_models", lambda *_: models)
    return CliRunner().invoke(app, ["bench", *map(str, arguments)])


def test_the_command_for_given_answers(monkeypatch, rows, written, models, tmp_path):
    out, options = tmp_path / "out", ("--limit", 6, "--cache", tmp_path / "cache", "--json")
    found = bench(
        monkeypatch, models, "claims-factuality", "--data", written(rows), "--out", out, *options
    )
    assert found.exit_code == 0, found.output
    methods = {json.loads(line)["method"] for line in found.stdout.splitlines()}
    assert "franq-condition" in methods
    results = Results.read(out)
    assert results.settings["limit"] == 6
    assert results.settings["answers"] == 6
    assert (out / "report.html").is_file()


def test_the_command_for_own_answers(monkeypatch, questions, model, models, tmp_path):
    out, measured = tmp_path / "out", replace(models, language_model=model)
    options = ("--prompts", 2, "--train-share", 0.5, "--cache", tmp_path / "cache")
    found = bench(monkeypatch, measured, "long-form", "--data", questions, "--out", out, *options)
    assert found.exit_code == 0, found.output
    settings = Results.read(out).settings
    assert settings["labels"]["questions"] == 8
    assert settings["claims"] == RuleSplitter().fingerprint
    assert len((out / "traces.jsonl").read_text().splitlines()) == 2


def test_data_that_is_not_there(monkeypatch, models, tmp_path):
    found = bench(
        monkeypatch, models, "claims-factuality", "--data", tmp_path / "no", "--out", tmp_path
    )
    assert found.exit_code == 2
    assert "no such file" in found.stderr
