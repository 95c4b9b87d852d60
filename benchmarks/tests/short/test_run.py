import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from franq_bench.fits.fitted import FITTED, with_fitted, without
from franq_bench.short import generate
from franq_bench.short import statistics as stage
from franq_bench.short.matrix import confidences
from franq_bench.short.run import drawn, first_of_each, run
from franq_bench.short.runtime import runtime_table
from franq_bench.short.statistics import NAMES
from franq_bench.store.statistics import from_json, to_json
from franq_bench.tables.report import write_report
from franq_bench.tables.results import Dataset, Results, metric_rows
from franq_bench.tables.scores import Score, Scores
from franq_guard.calibration.defaults import shipped
from franq_guard.cli.app import app
from franq_guard.cli.console import quiet
from franq_guard.faithfulness.small.tokens import tokens
from franq_guard.franq import franq
from franq_guard.language_model.asking import Asked
from franq_guard.testing import FakeFaithfulness
from franq_guard.uncertainty.methods import compute, find


def _lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_folder_that_anyone_can_recompute(folders, plan):
    results, scores = Results.read(folders[1]), Scores.read(folders[1])
    assert list(results.rows) == metric_rows(scores)
    [dataset] = results.datasets
    assert dataset.n_train + dataset.n_test + dataset.not_attempted == 8
    raw = {name for row in scores.rows for name in row.scores}
    assert set(NAMES) <= raw
    assert len(_lines(folders[1] / "answers.jsonl")) == 8
    for published in ("scores.jsonl", "results.json"):
        text = (folders[1] / published).read_text()
        assert "capital" not in text
        assert "Norway" not in text


def test_a_data_set_without_an_attempt_stands_among_the_others(folders, plan, models, tmp_path):
    refused = lambda *_: "not_attempted"  # noqa: E731
    results = run(plan, models, folders[0], quiet, out=tmp_path, grader=refused)
    assert results.datasets == (Dataset("made", 0, 0, None, 8),)
    _, report = write_report(tmp_path, resamples=2)
    assert "| made | 0 | 0 | - | 8 |" in report.read_text()


def test_a_second_run_asks_no_model(folders, plan, models, monkeypatch, tmp_path):
    def refuse(*_):
        raise AssertionError("made again")

    monkeypatch.setattr(generate, "answer", refuse)
    monkeypatch.setattr(stage, "gather", refuse)
    run(plan, models, folders[0], quiet, out=tmp_path)
    for name in ("results.json", "scores.jsonl", "answers.jsonl"):
        assert (tmp_path / name).read_bytes() == (folders[1] / name).read_bytes()


def test_fitting_again_needs_the_scores_alone(folders, tmp_path):
    for name in ("results.json", "scores.jsonl"):
        (tmp_path / name).write_bytes((folders[1] / name).read_bytes())
    rows = Scores.read(tmp_path).rows
    Scores(tuple(replace(r, scores=without(r.scores, FITTED)) for r in rows)).write(tmp_path)
    done = CliRunner().invoke(app, ["bench", "report", str(tmp_path), "--fit"])
    assert done.exit_code == 0, done.output
    again, first = Results.read(tmp_path), Results.read(folders[1])
    assert again.rows == first.rows
    assert {t.name: t for t in again.tables} == {t.name: t for t in first.tables}
    assert {r.id: r.scores for r in Scores.read(tmp_path).rows} == {r.id: r.scores for r in rows}


def test_a_table_grows_from_a_smaller_run(folders, plan, models, monkeypatch, tmp_path):
    small = replace(plan, train=2, test=3)
    run(small, models, folders[0], quiet, out=tmp_path / "small")
    held = {row.id for row in Scores.read(tmp_path / "small").rows}
    asked = []

    def noted(model, question, settings, answered=generate.answer):
        asked.append(question.id)
        return answered(model, question, settings)

    monkeypatch.setattr(generate, "answer", noted)
    known = replace(plan, known=tmp_path / "small")
    grown = run(known, models, tmp_path / "cache", quiet, out=tmp_path / "grown")
    assert grown is not None
    assert held
    assert set(asked) == {q.id for q in drawn(plan).all} - held
    assert Scores.read(tmp_path / "grown") == Scores.read(folders[1])
    assert grown.datasets == Results.read(folders[1]).datasets


def test_rows_of_another_run_are_refused(folders, plan, models, tmp_path):
    judged = replace(
        plan, known=folders[1], more={"configuration": {"grader": "llm", "uq_faith": "sar"}}
    )
    with pytest.raises(ValueError, match=r"another way: grader \(alias there, llm here\). Give"):
        run(judged, models, tmp_path, quiet)
    other = replace(plan, known=folders[1], passages=1)
    with pytest.raises(ValueError, match=r"another way: passages \(5 there, 1 here\)"):
        run(other, models, tmp_path, quiet)
    spoiled = replace(plan, retrieval="shuffled", train=2, test=3)
    run(spoiled, models, tmp_path, quiet, out=tmp_path / "spoiled")
    fewer = replace(spoiled, train=1, known=tmp_path / "spoiled")
    with pytest.raises(ValueError, match=r"train \(2 there, 1 here\)"):
        run(fewer, models, tmp_path, quiet)


def test_shards_make_no_tables(plan, models, folders, tmp_path):
    for i in (1, 2):
        assert run(plan, models, folders[0], quiet, shard=(i, 2), out=tmp_path / "out") is None
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("retrieval", "faith"), [("shuffled", 1), ("corrupted", 2)])
def test_spoiled_retrievals(retrieval, faith, plan):
    spoiled = replace(plan, retrieval=retrieval)
    before, after = drawn(plan), drawn(spoiled)
    pairs = zip(before.train + before.test, after.train + after.test, strict=True)
    for one, other in pairs:
        assert one.id == other.id
        changed = zip(one.passages, other.passages, strict=True)
        assert sum(a != b for a, b in changed) == 1  # of two
    names = ("faithfulness", "semantic-entropy", "parametric-knowledge")
    assert spoiled.chosen_signals[1] == names[faith]
    assert replace(spoiled, signals=names).chosen_signals == names


def test_questions_without_passages_get_them_from_a_pool(plan, questions, tmp_path):
    bare = [{**row, "passages": []} for row in _lines(plan.data[0])]
    data, pool = tmp_path / "bare.jsonl", tmp_path / "pool.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in bare))
    texts = [p.text for q in questions for p in q.passages]
    pool.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    found = drawn(replace(plan, data=(data,), pool=pool, passages=1))
    for question in found.train + found.test:
        city = question.question.split()[-1].strip("?")
        assert [city in p.text for p in question.passages] == [True]


def test_costs_are_measured_on_questions_of_every_data_set(questions):
    one, two, three, *_ = questions
    mixed = [replace(one, dataset="b"), replace(two, dataset="a"), replace(three, dataset="b")]
    assert [q.dataset for q in first_of_each(mixed, 1)] == ["b", "a"]
    assert first_of_each(mixed, 2) == [mixed[0], mixed[2], mixed[1]]


def test_what_methods_cost(folders, models, questions, plan):
    table = runtime_table(questions[:1], models, Scores.read(folders[1]), plan.settings)
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["Max Sequence/Claim Probability"][0] < 0.2  # captured with the answer
    assert rows["Semantic Entropy"][0] > rows["Max Sequence/Claim Probability"][0]
    assert len(rows) == 9 + len(FITTED)
    assert "each method measured alone." in table.note


def test_nothing_is_remembered_from_one_cost_to_the_next(folders, models, questions, plan):
    """Measured are eight methods, Sum of Eigenvalues, FRANQ's three signals, and all: eleven."""
    found = []

    class Remembering(FakeFaithfulness):
        def forget(self):
            found.append((tokens.cache_info().currsize, shipped.cache_info().currsize))
            tokens("Oslo is in Norway.")

    shipped()
    tokens("Oslo is in Norway.")
    judge = replace(models, faithfulness=Remembering())
    runtime_table(questions[:1], judge, Scores.read(folders[1]), plan.settings)
    # texts are forgotten each time, what is loaded once is kept
    assert found == [(0, 1)] * 11


def test_the_command(folders, plan, tmp_path):
    runner = CliRunner()
    common = ["bench", "short", "--data", str(plan.data[0]), "--out", str(tmp_path / "out")]
    wrong = runner.invoke(app, [*common, "--shard", "3/2"])
    assert wrong.exit_code != 0
    assert "--shard must be like 2/4" in wrong.output
    few = runner.invoke(app, [*common, "--train", "9", "--test", "9"])
    assert few.exit_code != 0
    assert "made has 8 questions" in few.output
    (tmp_path / "empty.jsonl").write_text("")
    empty = ["bench", "short", "--data", str(tmp_path / "empty.jsonl"), "--out", "x"]
    assert "no questions in" in runner.invoke(app, empty).output
    nowhere = runner.invoke(app, [*common, "--language-model", "nowhere"])
    assert "no language model 'nowhere'" in nowhere.output
    sizes = ["--train", "4", "--test", "4", "--temperature", "0"]
    frozen = [*common, *sizes, "--cache", str(tmp_path)]
    assert "must be a number above 0" in " ".join(runner.invoke(app, frozen).output.split())
    missing = runner.invoke(app, ["bench", "short", "--data", "no.jsonl", "--out", "x"])
    assert "no such file" in missing.output


@pytest.mark.slow
def test_the_command_by_two_workers(plan, tmp_path):
    options = {"--data": plan.data[0], "--out": tmp_path / "out", "--cache": tmp_path / "cache",
               "--train": 2, "--test": 2, "--samples": 2, "--max-new-tokens": 3}  # fmt: skip
    given = [str(part) for pair in options.items() for part in pair]
    command = ["bench", "short", *given, "--json"]
    done = CliRunner().invoke(app, [*command, "--workers", "2"])
    assert done.exit_code == 0, done.output
    results = Results.read(tmp_path / "out")
    assert [json.loads(line) for line in done.stdout.splitlines()] == results.to_dict()["rows"]
    for kind in ("answers", "statistics"):
        made = {f.name: len(_lines(f)) for f in (tmp_path / "cache" / kind).iterdir()}
        assert {name: n for name, n in made.items() if n} == {"1-of-2.jsonl": 2, "2-of-2.jsonl": 2}
    both = CliRunner().invoke(app, [*command, "--workers", "2", "--shard", "1/2"])
    assert "not both" in both.output


def test_a_run_by_one_settings_file(plan, tmp_path, monkeypatch):
    """The paper's short form from examples/paper.toml, graded and corrupted by a language model."""
    asked = []

    def model_at(where, **_):
        def reply(request):
            asked.append(where)
            if "Reply with A, B or C" in request:
                return "A"
            # With a number that was not there, so that it counts as changed.
            text = request.rpartition("\n\n")[2]
            return re.sub(r"19\d\d", "1800", text)

        return Asked(where, reply)

    monkeypatch.setattr("franq_guard.language_model.asking.ask_from", model_at)
    monkeypatch.chdir(Path(__file__).parents[3])
    options = {"--data": plan.data[0], "--out": tmp_path / "out", "--cache": tmp_path / "cache",
               "--train": 2, "--test": 2, "--samples": 2, "--max-new-tokens": 3,
               "--config": "examples/paper.toml", "--retrieval": "corrupted",
               "--threshold-faithful": 0.4,
               "--grader": "llm:http://judge#j", "--rewrite": "llm:http://writer#w"}  # fmt: skip
    command = ["bench", "short", *(str(part) for pair in options.items() for part in pair)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    said = Results.read(tmp_path / "out").settings
    assert said["signals"] == [
        "faithfulness",
        "semantic-entropy:lm-polygraph",
        "eigenvalues-entail",
    ]
    assert said["nli_and_faithfulness"].startswith("alignscore:")
    assert (said["configuration"]["form"], said["threshold_faithful"]) == ("short", 0.4)
    assert all(row.is_true for row in Scores.read(tmp_path / "out").rows)  # the judge says so
    assert sum(said["passages_rewritten"].values()) >= 4  # a passage of each question
    assert said["passages_rewritten"]["changed"] >= 1
    same = said["answers_graded_as_by_alias"]["same"]
    assert sum(said["answers_graded_as_by_alias"].values()) == 4
    assert f"the grader agrees with the aliases on {same} of 4 answers" in done.stderr
    assert "all training answers are graded true" in done.stderr
    assert {"http://judge#j", "http://writer#w"} == set(asked)
    asked.clear()
    again = CliRunner().invoke(app, command)
    assert (again.exit_code, asked) == (0, [])  # replies are kept
    assert Results.read(tmp_path / "out").settings == said


@pytest.mark.slow
def test_the_measured_model_itself_grades_and_rewrites(plan, tmp_path):
    """Whatever a model of 135 million parameters replies: every outcome is counted."""
    options = {"--data": plan.data[0], "--out": tmp_path / "out", "--cache": tmp_path / "cache",
               "--train": 2, "--test": 2, "--samples": 2, "--max-new-tokens": 3,
               "--retrieval": "corrupted", "--grader": "llm", "--rewrite": "llm"}  # fmt: skip
    given = [str(part) for pair in options.items() for part in pair]
    done = CliRunner().invoke(app, ["bench", "short", *given])
    assert done.exit_code == 0, done.output
    said = Results.read(tmp_path / "out").settings
    outcomes = said["passages_rewritten"]
    assert set(outcomes) <= {"changed", "unchanged", "empty", "other length"}
    assert sum(outcomes.values()) >= 4
    assert sum(said["answers_graded_as_by_alias"].values()) == 4
    print(outcomes, said["answers_graded_as_by_alias"])


def test_runs_of_one_kind_are_not_put_side_by_side(folders):
    result = CliRunner().invoke(app, ["bench", "robustness", str(folders[1]), str(folders[1])])
    assert result.exit_code != 0
    assert "runs of the same kind" in result.output


def test_runs_side_by_side_keep_their_own_signals(folders, tmp_path):
    results = Results.read(folders[1])
    signals = ["faithfulness", "parametric-knowledge", "eigenvalues-entail"]
    settings = {**results.settings, "retrieval": "corrupted", "signals": signals}
    del settings["parametric_knowledge_prompt"]  # as runs had it that showed the titles there
    replace(results, settings=settings).write(tmp_path)
    Scores.read(folders[1]).write(tmp_path)
    command = ["bench", "robustness", str(folders[1]), str(tmp_path), "--json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    tables = [json.loads(line) for line in done.stdout.splitlines()]
    assert [table["name"] for table in tables] == ["robustness-prr", "robustness-pr-auc"]
    for table in tables:
        assert "true; UQ_faith Semantic Entropy." in table["note"]
        assert "true; UQ_faith Parametric Knowledge." in table["note"]
        assert "the answer, in: corrupted." in table["note"]


def test_statistics_survive_the_cache(folders, models, questions, plan):
    from franq_bench.short.generate import answers_of
    from franq_bench.short.statistics import statistics_of
    from franq_bench.store.cache import Cache

    answers = answers_of(
        models.language_model, questions, plan.settings, Cache(folders[0] / "answers")
    )
    found = statistics_of(questions, answers, models, Cache(folders[0] / "statistics"))
    for statistics in found.values():
        again = from_json(json.loads(json.dumps(to_json(statistics))))
        one, two = compute(NAMES, statistics), compute(NAMES, again)
        assert all(np.array_equal(one[n], two[n], equal_nan=True) for n in NAMES)
        values = confidences(statistics)
        for name in NAMES:
            assert values[name] is None or not find(name).has_scale or 0 <= values[name] <= 1


def _row(i, split, true, p, faith, unfaith):
    scores = {"faithfulness": p, "semantic-entropy": faith, "eigenvalues-entail": unfaith}
    return Score(f"{split}{i}", "d", split, true, scores)


def test_franq_without_calibration_is_the_formula():
    rng = np.random.default_rng(0)
    rows = [
        _row(i, "train" if i % 2 else "test", bool(i % 3), *rng.random(3).tolist())
        for i in range(60)
    ]
    scores = with_fitted(Scores(tuple(rows)))
    for row in scores.rows:
        if row.split == "train":
            assert not set(FITTED) & set(row.scores)
            continue
        signals = [np.array([row.scores[n]]) for n in list(row.scores)[:3]]
        assert row.scores["franq-none"] == pytest.approx(float(franq(*signals)[0]))
        assert all(0 <= row.scores[name] <= 1 for name in FITTED)
    assert with_fitted(scores) == scores


def test_labels_of_one_class_leave_nothing_to_fit():
    rows = [_row(i, s, s == "train", 0.5, 0.5, 0.5) for i in range(6) for s in ("train", "test")]
    scores = with_fitted(Scores(tuple(rows)))
    assert all(row.scores[name] is None for row in scores.part("d").rows for name in FITTED)
