import json
from contextlib import contextmanager
from dataclasses import replace

import pytest

from franq_bench.data.labelled_answers import read_labelled
from franq_bench.fits.fitted import FITTED
from franq_bench.long import statistics as stage
from franq_bench.long.run import Plan, run, unseen
from franq_bench.tables.report import write_report
from franq_bench.tables.results import Results, metric_rows
from franq_bench.tables.scores import Scores
from franq_guard.testing import FakeFaithfulness


@contextmanager
def silent(what):
    yield lambda done, total: None


def ran(rows, models, written, folder, **options):
    file = written(rows)
    plan = Plan("claims-factuality", (file,), **options)
    return run(plan, read_labelled([file]), models, folder / "cache", silent, out=folder / "out")


def table(results, name):
    return next(t for t in results.tables if t.name == name)


def test_a_folder_that_anyone_can_recompute(rows, models, written, tmp_path, claim_row):
    made = ran([*rows, claim_row(0, "Cows eat grass", "true")], models, written, tmp_path)
    out = tmp_path / "out"
    results, scores = Results.read(out), Scores.read(out)
    assert results == made
    assert list(results.rows) == metric_rows(scores)
    assert results.settings["form"] == "long"
    assert results.settings["target"] == "made: factuality"
    assert "did not write" in results.settings["white_box"]
    assert results.settings["claims_not_found_in_their_answer"] == 1
    [dataset] = results.datasets
    assert (dataset.n_train, dataset.n_test) == (6, 10)  # round(0.4 * 8) = 3 questions of 2 claims
    answers = [json.loads(line) for line in (out / "answers.jsonl").read_text().splitlines()]
    assert [len(answer["claims"]) for answer in answers] == [2] * 8
    published = (out / "scores.jsonl").read_text() + (out / "results.json").read_text()
    assert "sells" not in published


def test_fitted_methods_and_the_signals_they_take(rows, models, written, tmp_path):
    results = ran(rows, models, written, tmp_path)
    found = {row.method: row for row in results.rows if row.dataset == "made"}
    assert set(FITTED) <= set(found)
    # The fake model knows the words of the passage, and only true claims stand there.
    assert found["max-probability"].auroc == 1.0
    assert found["max-probability"].ece is None  # a log-probability
    assert found["franq-none"].ece is not None
    assert found["franq-none"].auroc == 1.0
    (row,) = [r for r in Scores.read(tmp_path / "out").rows if r.id.endswith("/0")][:1]
    assert row.scores["max-probability"] <= 0


def test_uncalibrated_franq_is_the_formula_of_the_stored_signals(rows, models, written, tmp_path):
    from math import exp

    ran(rows, models, written, tmp_path)
    for row in Scores.read(tmp_path / "out").part("made").rows:
        p, faith, unfaith = (
            row.scores[m] for m in ("faithfulness", "max-probability", "parametric-knowledge")
        )
        expected = p * exp(faith) + (1 - p) * exp(unfaith)
        assert row.scores["franq-none"] == pytest.approx(expected)


def test_a_second_run_asks_no_model(rows, models, written, tmp_path, monkeypatch):
    ran(rows, models, written, tmp_path)
    first = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    monkeypatch.setattr(stage, "gather", lambda *_, **__: pytest.fail("measured again"))
    ran(rows, models, written, tmp_path)
    assert {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()} == first


def test_a_run_that_was_killed_goes_on(rows, models, written, tmp_path, monkeypatch, countries):
    gather, asked = stage.gather, []

    def dies_at_the_third(requests, models):
        asked.extend(request.trace.question for request in requests)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return gather(requests, models)

    monkeypatch.setattr(stage, "gather", dies_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        ran(rows, models, written, tmp_path)
    ran(rows, models, written, tmp_path)
    assert len(asked) == len(countries) + 1  # only the one that was cut short is asked for twice


def test_another_judge_measures_anew(rows, models, written, tmp_path, monkeypatch, countries):
    ran(rows, models, written, tmp_path)
    judge = FakeFaithfulness()
    judge.fingerprint = "another"
    calls = []
    gather = stage.gather
    monkeypatch.setattr(stage, "gather", lambda *a, **o: calls.append(1) or gather(*a, **o))
    ran(rows, replace(models, faithfulness=judge), written, tmp_path)
    assert len(calls) == len(countries)


def test_unfaithful_claims_have_a_table_of_their_own(
    models, written, tmp_path, claim_row, countries
):
    rows = [
        claim_row(i, claim.format(country), label)
        for i, country in enumerate(countries)
        for claim, label in (("{} sells fish", "true"), ("old maps", "false"), ("maps", "true"))
    ]
    results = ran(rows, models, written, tmp_path)
    shown = table(results, "unfaithful-made")
    assert shown.title == "made: unfaithful claims only (P(faithful) < 0.5), factuality"
    # 5 test answers, of which the two claims about maps stand in no passage; one of them is false.
    assert shown.note.startswith("10 test claims, 5 of them not true")
    counts = table(results, "claims").rows[0]
    assert counts[:3] == ("made", "factuality: true in the world", "scripted")
    assert counts[3:] == (3, 5, 9, 15, 0)


def test_the_report_is_written_from_the_folder(rows, models, written, tmp_path):
    ran(rows, models, written, tmp_path)
    page, text = write_report(tmp_path / "out", resamples=20)
    assert "sells old maps" in page.read_text()
    assert "sells" not in text.read_text()


def test_answers_over_passages_that_the_small_model_has_seen_are_left_out(
    rows, written, countries, monkeypatch
):
    known = {f"{c} sells fish." for c in countries[:2]}
    monkeypatch.setattr("franq_bench.long.run.seen", known.__contains__)
    answers = read_labelled([written(rows)])
    kept = {answer.trace.passages[0].text for answer in unseen(answers)}
    assert kept == {f"{c} sells fish." for c in countries} - known
