"""What a calibrator from documents alone is worth: the statements, and the table."""

import json
from pathlib import Path

import numpy as np
import pytest

from franq_bench.calibrator import from_documents
from franq_bench.calibrator.from_documents import (
    DRAWS,
    REAL,
    Judged,
    _cells,
    compared,
    documents,
    made_rows,
    main,
    quality,
    rows_of,
    scores,
)
from franq_bench.data.folds import Folds
from franq_bench.data.read_claims import labels
from franq_bench.tables.scores import Scores
from franq_guard import Guard
from franq_guard.calibration.defaults import shipped
from franq_guard.calibration.labels import labelled
from franq_guard.datasets.labelled import SignalStore
from franq_guard.records import Passage
from franq_guard.report.calibration_words import warnings_of
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel


def test_every_sentence_is_stated_once_and_changed_once(tmp_path):
    passages = [Passage(f"The Arden bridge {i} was opened in {1900 + i}.") for i in range(8)]
    guard = Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())
    made = made_rows(guard, passages, 5, SignalStore(tmp_path / "signals.jsonl"))
    assert {row["source"] for row in made} == {"edit"}
    assert len({row["group"] for row in made}) == 10
    assert {row["is_true"] for row in made} == {True, False}
    # What is written holds numbers alone, and is read again as it was.
    Scores(tuple(scores("squad", made, "train"))).write(tmp_path)
    assert "Arden" not in (tmp_path / "scores.jsonl").read_text()
    read = list(rows_of(Scores.read(tmp_path).rows, "squad", "edit"))
    np.testing.assert_allclose(labelled(read).signals, labelled(made).signals)
    assert not list(rows_of(Scores.read(tmp_path).rows, "clapnq", "edit"))


def test_documents_are_gold_passages_of_the_fitting_fold(tmp_path):
    rows = [
        {
            "id": str(i),
            "dataset": "nq-open",
            "question": f"Who built tower {i}?",
            "answers": ["x"],
            "passages": [
                {"title": f"T{i}", "text": f"Text of the tower {i} alone.", "is_gold": True},
                {"title": f"O{i}", "text": f"Another text {i}, not about it.", "is_gold": False},
            ],
        }
        for i in range(60)
    ]
    (tmp_path / "rag_qa_nq.jsonl").write_text("\n".join(map(json.dumps, rows)))
    folds = Folds.read(tmp_path)
    wanted = {row["passages"][0]["text"] for row in rows if folds.of(row) == "fitting"}
    found = documents(tmp_path, "rag_qa_nq.jsonl")
    assert {p.text for p in found} == wanted
    assert 0 < len(wanted) < 60


def simulated(count, source):
    rng = np.random.default_rng(0)
    for i in range(count):
        p, u, v = rng.uniform(size=3)
        signals = {"p_faithful": p, "uq_faith": np.log(u), "uq_unfaith": np.log(v)}
        true = bool(rng.uniform() < p * u + (1 - p) * v)
        yield {**signals, "is_true": true, "group": str(i // 2), "source": source}


def test_the_table_names_every_way_and_measures_on_real_answers():
    every = list(compared(list(simulated(200, "edit")), list(simulated(150, "person"))))
    found = {one.name: one for one in every}
    assert len(every) == len(found) + DRAWS - 1
    assert list(found) == [
        "shipped, any writer: evidence alone",
        "documents alone, condition",
        "documents alone, learned",
        "learned, level from 30 real claims",
        "real answers (left out), condition",
        "real answers (left out), learned",
    ]
    for name, one in found.items():
        measured = {key: value for key, (value, _) in quality(one).items()}
        if not name.startswith("shipped"):
            assert measured["AUROC"] > 0.6  # made and real claims follow the same formula here
    # one fit to the statements, five to the answers; all have enough true and false ones
    fell = {name: one.fell for name, one in found.items() if one.fell}
    assert fell == {
        "documents alone, condition": [()],
        "real answers (left out), condition": [()] * 5,
    }
    # The claims that set the level, of whole answers of two claims, are not measured on.
    assert len(found["learned, level from 30 real claims"].answers.is_true) == 150 - REAL


def test_the_report_says_which_curves_are_of_all_claims(tmp_path, capsys, monkeypatch):
    made = list(simulated(150, "edit"))
    for row in made:  # no true statement is unfaithful, no false one faithful
        row["p_faithful"] = 0.9 if row["is_true"] else 0.1
    answers = scores("squad", list(simulated(150, "person")), "test")
    Scores(tuple(scores("squad", made, "train"))).write(tmp_path / "made")
    Scores(tuple(answers)).write(tmp_path / "own-answers")
    monkeypatch.setattr(from_documents, "_RESULTS", tmp_path)
    main(["--out", str(tmp_path / "made")])
    assert (
        "labels: documents alone, condition: UQ_faith (1 of 1 fits) and UQ_unfaith (1 of 1 fits); "
        "real answers (left out), condition: none."
    ) in capsys.readouterr().out


def test_quality_by_hand():
    rows = [
        {"p_faithful": 0.9, "uq_faith": -1.0, "uq_unfaith": -1.0, "is_true": t, "group": str(i)}
        for i, t in enumerate((1, 1, 1, 0, 0))
    ]
    p_true = np.array([0.9, 0.8, 0.3, 0.6, 0.2])
    flagged = np.array([False, False, True, False, True])
    found = {k: v for k, (v, _) in quality(Judged("x", labelled(rows), p_true, flagged)).items()}
    # Of 6 pairs one is the wrong way round: .3 below .6.
    assert found["AUROC"] == pytest.approx(5 / 6)
    assert found["true claims flagged"] == pytest.approx(1 / 3)
    assert found["false claims flagged"] == pytest.approx(1 / 2)


def test_of_several_draws_the_table_has_the_mean_and_how_far_they_lie_apart():
    answers = labelled(simulated(4, "person"))._replace(is_true=np.array([1.0, 0, 1, 0]))
    none, half = np.zeros(4, bool), np.array([True, True, False, False])
    draws = [Judged("x", answers, np.full(4, 0.5), flagged) for flagged in (none, half)]
    # Of the true and of the false claims 0 and .5 are flagged: .25 and .35 by n - 1.
    assert list(_cells(draws)) == ["0.50 ±0.00", "0.00 ±0.00", "0.25 ±0.35", "0.25 ±0.35"]


def test_the_report_needs_scores_alone(tmp_path, capsys, monkeypatch):
    for source, folder, split in (
        ("edit", tmp_path / "made", "train"),
        ("person", tmp_path / "own-answers", "test"),
    ):
        Scores(tuple(scores("squad", list(simulated(150, source)), split))).write(folder)
    monkeypatch.setattr(from_documents, "_RESULTS", tmp_path)
    main(["--out", str(tmp_path / "made")])
    shown = capsys.readouterr().out
    assert (tmp_path / "made" / "REPORT.md").read_text() == shown
    assert "## SQuAD" in shown
    assert "150 claims made from its passages; 150 claims of 75 own answers" in shown
    assert "## CLAP-NQ" not in shown  # nothing was measured
    assert "| statements measured with | not recorded |" in shown
    assert f"draws of {REAL} real claims | 0 |" in shown


def test_clapnqs_labels_are_numbers_and_marks_alone():
    results = Path(from_documents.__file__).parents[2] / "results"
    read = labels(results / "own-answers-clapnq" / "labels.jsonl")
    assert len(read) == 59
    assert sum(label.settled for label in read.values()) == 46
    assert {key.split("/")[0].partition("-")[0] for key in read} == {"clapnq"}


def test_the_warning_and_the_page_tell_the_figures_of_the_report():
    report = (from_documents._RESULTS / "from-documents" / "REPORT.md").read_text()
    found = {}  # of each calibrator: the cells of both data sets, as the page writes them
    for line in report.replace("0.", ".").replace(" ±", " ± ").splitlines():
        name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        if "±" in line and cells:
            found.setdefault(name, []).append(cells)
    said = " ".join(warnings_of({"auroc": 0.9, "n": 500, "share_true": 0.5, "sources": ["edit"]}))
    for way in ("condition", "learned"):
        (a, b, *_), (c, d, *_) = found[f"documents alone, {way}"]
        auroc, ece = (f"{x.split()[0]}; {y.split()[0]}" for x, y in ((a, c), (b, d)))
        assert f"AUROC of {auroc} and an ECE of {ece} with {way}" in said
    page = (Path(__file__).parents[3] / "docs" / "own-data.md").read_text()
    value = {way: [[x.split()[0] for x in cells] for cells in found[way]] for way in found}
    real, made, learned, level = (
        value[way]
        for way in (
            "real answers (left out), condition",
            "documents alone, condition",
            "documents alone, learned",
            "learned, level from 30 real claims",
        )
    )
    assert f"{made[0][1]} and {made[1][1]} off ({real[0][1]} with real labels)" in page
    assert f"its AUROC ({learned[0][0]} and {learned[1][0]})" in page
    rises = (f"from {few[1]} to {more[1]}" for few, more in zip(learned, level, strict=True))
    assert " and ".join(rises) in page


def test_without_scores_the_data_are_asked_for(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["--out", str(tmp_path)])
    assert "give --data" in capsys.readouterr().err


@pytest.mark.parametrize("folder", ["from-documents", "own-long"])
def test_the_reports_are_of_the_shipped_calibrator(folder):
    """It is refitted without them; their row of evidence alone moves with it."""
    found = next(c.fingerprint for c in shipped() if c.writer is None and c.form == "long")
    network = found["faithfulness"].partition("/")[0]
    report = (from_documents._RESULTS / folder / "REPORT.md").read_text()
    assert f"| shipped calibrator of {found['date']}, {found['claims']}, {network}/" in report
