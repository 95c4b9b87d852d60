"""Tables that show condition-calibrated FRANQ name its fallback, and only what is true of them."""

from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from franq_bench.cli.common import show_table
from franq_bench.fits import long_form, short_form
from franq_bench.fits.calibrations import faithfulness_calibration, pooled
from franq_bench.fits.fallback import fallback_note, fallback_table
from franq_bench.fits.fitted import FITTED, with_fitted
from franq_bench.fits.robustness import Setting, robustness
from franq_bench.tables.compare import compare, comparison_sections
from franq_bench.tables.fallback_note import fallback_named
from franq_bench.tables.report import sections
from franq_bench.tables.results import Results, metric_rows
from franq_bench.tables.scores import GOLD, TRAINED_ON, Score, Scores
from franq_bench.tables.summary import form_of
from franq_guard.cli.app import app
from franq_guard.report.tables import Column, Table

RESULTS = Path(__file__).parents[2] / "results"
FOLDERS = sorted(file.parent for file in RESULTS.rglob("results.json"))
CONDITION = "FRANQ, condition-calibrated"
ANSWER = "faithfulness-answer"
BRANCHES = {"UQ_faith": 1, "UQ_unfaith": 0}


def text_of(table):
    cells = [str(row[0]) for row in table.rows]
    return " ".join([table.title, table.note, *(column.title for column in table.columns), *cells])


def shows_condition(table):
    grid = table.name.startswith("uq-grid")
    return grid or "condition-calibrated" in text_of(table).lower()


def names_fallback(table):
    return "curve of all rows" in table.note or f"Fallback of {CONDITION}: none" in table.note


def expected(scores, p):
    """The sentence on the fallback, counted by hand: below 5 true or false rows in a condition."""
    found = []
    for branch, faithful in BRANCHES.items():
        fell = []
        for name in scores.datasets:
            rows = [r for r in scores.rows if (r.dataset, r.split) == (name, "train")]
            counts = Counter(r.is_true for r in rows if (r.scores[p] > 0.5) == faithful)
            if min(counts[True], counts[False]) < 5:
                fell.append(name)
        if fell:
            found.append(f"{branch} on {', '.join(fell)} ({len(fell)} of {len(scores.datasets)})")
    return " and ".join(found)


@pytest.fixture
def quick(monkeypatch):
    """The tables of a folder's scores; what needs a learned fit or a tree has figures of .5."""
    for module in ("variants", "training_size"):
        stub = lambda method, train, test, *given, **options: [0.5] * len(test)  # noqa: E731
        monkeypatch.setattr(f"franq_bench.fits.{module}.fitted_scores", stub)
    monkeypatch.setattr("franq_bench.fits.first_tree._leaves", lambda *given: [])
    for module in (long_form, short_form):
        monkeypatch.setattr(module, "training_sizes", partial(module.training_sizes, sizes=()))
    monkeypatch.setattr(short_form, "chosen_table", partial(short_form.chosen_table, folds=2))

    def made(folder):
        results, scores = Results.read(folder), few(Scores.read(folder), Results.read(folder))
        builder = long_form if form_of(results) == "long" else short_form
        signals = results.settings["signals"]
        tables = builder.ablation_tables(scores, signals=signals, draws=1, resamples=0)
        rows = tuple(metric_rows(scores, resamples=0))
        return replace(results, rows=rows, tables=tuple(tables)), scores

    return made


def few(scores, results):
    """All training rows, eight true and eight false test rows of each data set, few methods."""
    kept = {*FITTED, *results.settings["signals"], ANSWER, GOLD, TRAINED_ON}
    seen, rows = Counter(), []
    for row in scores.rows:
        seen[row.dataset, row.split, row.is_true] += 1
        if row.split == "train" or seen[row.dataset, row.split, row.is_true] <= 8:
            values = {name: value for name, value in row.scores.items() if name in kept}
            rows.append(replace(row, scores=values))
    return Scores(tuple(rows))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: str(f.relative_to(RESULTS)))
def test_every_table_with_condition_calibrated_franq_names_its_fallback(folder, quick):
    results, scores = quick(folder)
    made = [
        block
        for section in sections(results, scores, resamples=2)
        if section.title != "The paper's own figures"
        for block in section.blocks
        if isinstance(block, Table)
    ]
    assert {"summary", "prr", "significance", "one-change", "uq-grid-prr"} <= {t.name for t in made}
    assert [t.name for t in made if shows_condition(t) and not names_fallback(t)] == []

    signals = results.settings["signals"]
    of_run, by_name = expected(scores, signals[0]), {table.name: table for table in made}
    for name in ("summary", "prr", "significance", "one-change", "uq-grid-prr", "thresholded"):
        assert (of_run or f"Fallback of {CONDITION}: none") in by_name[name].note
    if "faithfulness-inputs" in by_name:
        of_answer, note = expected(scores, ANSWER), by_name["faithfulness-inputs"].note
        if not of_answer and not of_run:
            assert note.count(f"Fallback of {CONDITION}: none") == 1
        elif of_answer == of_run:
            assert note.count("(fewer than") == 1
            assert f": {of_run}. " in note
        else:
            assert f"{of_run} with P_faithful of question and answer" in note
            assert f"{of_answer or 'none'} with P_faithful of answer alone" in note
    if "pooled" in by_name:  # with all training rows together both conditions have enough
        both = f"{of_run} with a fit per data set; none with one"
        assert (both if of_run else f"Fallback of {CONDITION}: none") in by_name["pooled"].note


def made_rows(dataset, counts, split="train"):
    """Rows by (P_faithful, gold, true): as many as counted."""
    return [
        Score(
            f"{split}{p}{gold}{true}{i}", dataset, split, bool(true),
            {"faithfulness": p, "semantic-entropy": 0.5 + i / 99, "parametric-knowledge": 0.1,
             "eigenvalues-entail": 0.3 + i / 99, GOLD: gold},
        )
        for (p, gold, true), n in counts.items() for i in range(n)
    ]  # fmt: skip


ENOUGH = {(0.9, 1, 1): 6, (0.9, 1, 0): 6, (0.1, 0, 1): 6, (0.1, 0, 0): 6}
# By P_faithful 3 of the faithful rows are false, too few; by gold faithfulness 9 are, but 3 others.
TORN = {(0.9, 1, 1): 9, (0.9, 1, 0): 3, (0.1, 1, 0): 6, (0.1, 0, 1): 6, (0.1, 0, 0): 3}


def test_fits_on_other_rows_and_labels_say_their_own():
    test = {(0.9, 1, 1): 3, (0.1, 0, 0): 3}
    rows = [
        row
        for name, train in (("a", ENOUGH), ("b", TORN))
        for part in (made_rows(name, train), made_rows(name, test, "test"))
        for row in part
    ]
    scores = Scores(tuple(rows))
    note = faithfulness_calibration(scores, resamples=0).note
    assert (
        "UQ_faith on b (1 of 2) with branches by P_faithful; UQ_unfaith on b (1 of 2) with" in note
    )
    # together 15 true and 9 false faithful rows, 12 true and 15 false others
    note = pooled(scores, resamples=0).note
    assert "UQ_faith on b (1 of 2) with a fit per data set; none with one fit for all" in note


def test_variants_that_fell_back_alike_are_said_once():
    fell, none = {"a": ("faith", "unfaith"), "b": ("unfaith",)}, {"a": (), "b": ()}
    note = fallback_note({"x": fell, "y": none, "z": fell})
    where = "UQ_faith on a (1 of 2) and UQ_unfaith on a, b (2 of 2) with x, z; none with y."
    assert where in note
    assert "with" not in fallback_note({"x": fell, "z": fell})
    assert fallback_note({"x": none}).startswith(f"Fallback of {CONDITION}: none (nowhere fewer")


def test_the_runs_fallback_is_not_said_of_other_fits():
    """Tables that an older version stored say nothing rather than what is not so."""
    said = f"Fallback of {CONDITION}: none (no data set)."
    for name, want in (("chosen-signals", ""), ("uq-grid-prr", ""), ("held-out-passages", said)):
        table = Table(name, "a title", (Column("method"),), ((CONDITION,),))
        assert fallback_named(table, said).note == want


def test_robustness_names_the_fallback_of_both_pairs():
    # two of the six faithful and false rows lack Parametric Knowledge: four are too few
    rows = made_rows("a", ENOUGH) + made_rows("a", {(0.9, 1, 1): 3, (0.1, 0, 0): 3}, "test")
    for row in rows[6:8]:
        row.scores["parametric-knowledge"] = None
    [table, _] = robustness({"original": Setting(Scores(tuple(rows)))}, resamples=0)
    pairs = (
        "none with the signals in use, Semantic Entropy; UQ_faith on a (1 of 1) with Parametric "
        "Knowledge."
    )
    assert pairs in table.note


def test_a_comparison_names_the_fallback_of_both_runs():
    rows = made_rows("a", ENOUGH) + made_rows("a", {(0.9, 1, 1): 3, (0.1, 0, 0): 3}, "test")
    scores = with_fitted(Scores(tuple(rows)))
    table = fallback_table(scores)
    runs = [
        Results({}, {}, (), (), (replace(table, note=f"Fallback of {CONDITION}: {at}."),))
        for at in ("none", "all")
    ]
    differences = compare(scores, scores, resamples=2)
    for section in comparison_sections(differences, ("one", "other"), runs):
        for block in section.blocks:
            if block.name.startswith("difference"):
                assert f"one: Fallback of {CONDITION}: none. other: Fallback" in block.note
    assert "Fallback" not in str(list(comparison_sections(differences, ("one", "other"))))


def test_the_terminal_shows_the_note_of_a_table(capfd):
    columns = (Column("method"), Column("PRR"))
    show_table(Table("t", "T", columns, (("it", 0.5),), note="Fallback: [none]."))
    assert capfd.readouterr().out.split() == ["method", "PRR", "it", ".50", "Fallback:", "[none]."]
    show_table(Table("t", "T", columns, (), note="Nothing."))
    assert capfd.readouterr().out.split() == ["Nothing."]


def test_commands_name_the_fallback_below_their_tables():
    fell = str(RESULTS / "long-form")
    for args in (
        ["compare", fell, fell],
        ["bench", "report", fell, "--html", "/dev/null", "--markdown", "/dev/null"],
    ):
        done = CliRunner().invoke(app, [*args, "--resamples", "2"])
        assert done.exit_code == 0, done.output
        printed = " ".join(done.output.split())
        assert "UQ_unfaith on squad1.1 (XQuAD-en) (1 of 2)" in printed
    # the last one: `franq bench report` prints these two as well, headings between rows included
    assert "FRANQ minus the best other method, and its rank" in printed
    assert "PRR; best other: " in printed
    assert "What decides: one thing changed at a time" in printed
    as_json = CliRunner().invoke(app, ["compare", fell, fell, "--resamples", "2", "--json"])
    assert "Fallback" not in as_json.output
