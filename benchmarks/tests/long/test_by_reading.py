"""The comparison on claims that were labelled by reading."""

import json
from dataclasses import replace

import numpy as np
import pytest

from franq_bench.calibrator.reread import KEYS
from franq_bench.data.read_claims import Label, agreement, digest_of, labels
from franq_bench.fits.logistic import AdditiveLogistic
from franq_bench.long import by_reading
from franq_bench.long.by_label import by_label
from franq_bench.long.by_reading import (
    ALONE,
    LADDER,
    OF_PASSAGES,
    PAPER,
    SIGNALS,
    by_set_left_out,
    compared,
    main,
    table,
)
from franq_bench.tables.scores import GOLD, Score, Scores
from franq_guard.calibration.fitting import fit_by
from franq_guard.calibration.labels import labelled, p_true_of
from franq_guard.metrics.measures import auroc
from franq_guard.signals.components import OWN


def test_agreement_by_hand():
    # Truth: 3 of 4 equal; by chance T 2/4 * 1/4 + F 2/4 * 2/4 = 3/8; (3/4 - 3/8) / (5/8) = .6
    pairs = ["TT", "TU", "FF", "FF"]
    read = {str(i): Label("", (p[0], p[1]), ("S", "S")) for i, p in enumerate(pairs)}
    read["3"] = Label("", ("F", "F"), ("N", "N"))
    found = agreement(read)
    assert found["truth_equal"] == 0.75
    assert found["truth_kappa"] == pytest.approx(0.6)
    assert found["faith_kappa"] == 1.0
    assert [label.settled for label in read.values()] == [True, False, True, True]


def made_rows():
    """300 claims about 100 questions; entropy tells true from false, the rest is noise."""
    rng = np.random.default_rng(5)
    found = []
    for i in range(300):
        truth = int(rng.random() < 0.5)
        more = {name for pair in LADDER.values() for signals in pair for name in signals}
        scores = {name: -float(rng.uniform(1, 9)) for name in sorted({*PAPER[1:], *more})}
        bounded = (*OF_PASSAGES, *ALONE[1:5], "pmi")
        scores |= {name: float(rng.uniform(0.1, 0.9)) for name in bounded}
        scores |= {"faithfulness": float(rng.random()), "max-token-entropy": 0.2 + 0.6 * truth}
        part = "test" if i >= 240 else "train"
        scores |= {"true-by-gold-alias": float(truth == (i % 10 > 0))} if i < 60 else {}
        kind = ("gold", "half", "absent")[i // 3 % 3]
        dataset = ("nq", "squad")[i // 3 % 2]
        found.append(Score(f"squad-{i // 3}~{kind}/{i % 3}", dataset, part, truth, scores,
                           group=f"squad-{i // 3}"))  # fmt: skip
    return found


@pytest.fixture
def rows():
    return made_rows()


@pytest.fixture(scope="module")
def values():
    return {name: found for name, found, _ in compared(made_rows())}


@pytest.fixture(scope="module")
def tables():
    return {part: table(made_rows(), part) for part in ("train", "test")}


def test_what_tells_true_from_false_is_found_and_no_question_is_fitted_on_itself(
    rows, values, tables
):
    truth = np.array([row.is_true for row in rows])
    assert auroc(truth, values["FRANQ, learned: four signals"]) > 0.95
    assert np.isfinite(values["FRANQ, condition-calibrated"]).all()
    for shown in tables.values():
        [line] = [x for x in shown.splitlines() if "| max-token-entropy |" in x]
        assert "| 1.000 ±0.000 | +0." in line  # more than evidence alone, which is noise here


def test_the_row_as_shipped_is_the_shipped_fit(rows):
    """Also where claims of a question are alike, so that folds which split it want no penalty."""
    signal, rng = OWN.uq_faith, np.random.default_rng(6)
    told = rng.uniform(-6, -1, len(rows))
    for i, row in enumerate(rows):
        first = rows[i // 3 * 3]
        own = {"faithfulness": first.scores["faithfulness"]}
        own[signal] = float(np.exp(told[i // 3] + first.is_true))
        # names in the order of the rows: folds go by it where questions have equally many claims
        named = f"{i // 3:03}"
        rows[i] = replace(row, scores=row.scores | own, is_true=first.is_true, group=named)
    data = labelled(
        {"p_faithful": row.scores["faithfulness"], "uq_faith": np.log(row.scores[signal]),
         "uq_unfaith": np.log(row.scores[signal]), "is_true": row.is_true, "group": row.group,
         **{name: row.scores[name] for name in OF_PASSAGES}}
        for row in rows
    )  # fmt: skip
    test = np.array([row.split == "test" for row in rows])
    shipped = fit_by("learned")(data.only(~test)).calibrator
    want = p_true_of(data.only(test), shipped)
    found = {name: values for name, values, _ in compared(rows)}
    shown = found["FRANQ, learned: as shipped"][test]
    np.testing.assert_allclose(shown, want, rtol=1e-6)


def test_what_the_formula_adds_is_said_with_its_interval(rows, values, tables):
    test = np.array([row.split == "test" for row in rows])
    x = np.array([[row.scores[name] for name in ("faithfulness", *SIGNALS)] for row in rows])
    x[:, 2] = np.log(x[:, 2])  # exp(-entropy)
    x[:, 3:] = np.log(x[:, 3:] / (1 - x[:, 3:]))  # contradiction, entailment
    truth = np.array([row.is_true for row in rows], int)
    # the additive model of the other reports, on the columns that the formula gets
    want = AdditiveLogistic(log_space=True).fit(x[~test], truth[~test]).predict_proba(x[test])
    np.testing.assert_allclose(values["additive logistic"][test], want[:, 1])
    gap = auroc(truth[test], values["FRANQ, learned: four signals"][test])
    gap -= auroc(truth[test], want[:, 1])
    [said] = [line for line in tables["test"].splitlines() if "What the formula adds" in line]
    assert f"of the same signals: {gap:+.3f} (90 %: " in said


def test_both_parts_say_what_fell_back(rows, tables):
    for shown in tables.values():
        assert "Fallback of FRANQ, condition-calibrated: none" in shown
    # in the one fit for the test part, three false claims are faithful; in the five for the other
    # part, at most three
    train = [i for i, row in enumerate(rows) if row.split == "train" and not row.is_true]
    for i in train[3:]:
        rows[i].scores["faithfulness"] *= 0.4
    for i in train[:3]:
        rows[i].scores["faithfulness"] = 0.9
    assert "UQ_faith on fit 1 (1 of 1)" in table(rows, "test")
    assert "UQ_faith on fit 1, fit 2, fit 3, fit 4, fit 5 (5 of 5)" in table(rows, "train")


def test_signals_are_compared_on_data_sets_left_out(rows):
    head, _, *lines = by_set_left_out(rows).splitlines()
    assert head == "| signals | nq | squad | mean |"
    assert len(lines) == 1 + len(LADDER)
    means = {line.split(" | ")[0].strip("| "): float(line.split(" | ")[-1][:5]) for line in lines}
    assert means["largest token entropy"] > 0.95
    assert abs(means["none: evidence alone"] - 0.5) < 0.1
    # nothing of the left-out set is in the fit: with its labels turned round the ranks turn, too
    turned = [replace(r, is_true=not r.is_true) if r.dataset == "nq" else r for r in rows]
    [line] = [x for x in by_set_left_out(turned).splitlines() if "| largest token entropy |" in x]
    assert float(line.split(" | ")[1]) < 0.05


def test_the_test_fold_is_in_no_fit(rows):
    """With the labels of the test part turned round nothing is predicted otherwise."""
    turned = [replace(row, is_true=not row.is_true) if row.split == "test" else row for row in rows]
    for (name, values, _), (_, others, _) in zip(compared(rows), compared(turned), strict=True):
        np.testing.assert_array_equal(values, others, err_msg=name)


def test_what_the_passages_alone_can_reach_is_said_of_each_part():
    # The second true claim is not stated. A true and a false claim: 1, 1, a tie and a tie of 4.
    of = [(True, 1.0, 0.9), (True, 0.0, 0.1), (False, 0.0, 0.2), (False, 0.0, 0.3)]
    rows = [
        Score(f"q~gold/{i}", "nq", "test", true, {GOLD: stated, "faithfulness": p}, group="q")
        for i, (true, stated, p) in enumerate(of)
    ]
    assert by_reading._what(rows, "test").endswith(
        "P(faithful) tells with ROC-AUC 1.00. Who knew that without an error, and nothing else, "
        "would tell true from false with 0.75 and flag 50% of the true ones."
    )


def test_the_report_needs_scores_and_labels_alone(rows, tmp_path, capsys, monkeypatch):
    Scores(tuple(rows)).write(tmp_path)
    read = [
        {"id": row.id, "digest": digest_of("x"), "truth": ["FT"[row.is_true]] * readers,
         "faith": ["NS"[row.is_true]] * readers}
        for row in rows for readers in [2 if row.split == "test" else 1]
    ]  # fmt: skip
    text = "\n".join(map(json.dumps, read))
    (tmp_path / "labels.jsonl").write_text(text, encoding="utf-8")
    assert main([str(tmp_path), "--out", str(tmp_path / "new" / "place")]) == 0
    assert not (tmp_path / "REPORT.md").exists()
    said = (tmp_path / "new" / "place" / "REPORT.md").read_text(encoding="utf-8")
    assert said == capsys.readouterr().out
    assert "240 claims of answers to 80 questions" in said
    # the alias label of every tenth claim is turned round
    assert "The gold aliases label 60 of them, 10% of these wrongly." in said
    assert "60 claims of answers to 20 questions" in said
    assert "One reader labelled 300, a second one 60 of them: equal on truth in 100.0%" in said
    assert "kappa 1.00" in said
    assert "100 claims of Llama 3B) factuality 87% (kappa 0.55), faithfulness 78%" in said
    # here every true claim is stated, no false one
    assert "flags 0% of the true claims and 100.0% of the false ones" in said
    # 100 questions: 34 with the gold passage, three claims each
    assert "| the gold passage among them | 102 |" in said
    assert by_label([row for row in rows if row.split == "test"]) in said
    assert "| claims measured with | not recorded |" in said
    assert "| seed of the bootstrap | 0 |" in said
    assert len(labels(tmp_path / "labels.jsonl")) == 300
    other = tmp_path / "other"  # what another model says: here that every claim is stated
    other.mkdir()
    flat = dict.fromkeys(KEYS, 0.9)
    readings = "\n".join(json.dumps({"id": row.id, **flat}) for row in rows)
    (other / "readings-test.jsonl").write_text(readings, encoding="utf-8")
    with pytest.raises(SystemExit):
        main([str(tmp_path), "--read", str(other)])
    assert "with measured.json in" in capsys.readouterr().err
    known = {"faithfulness": "larger-1", "claims": "rules/1"}
    (other / "measured.json").write_text(json.dumps(known), encoding="utf-8")
    assert main([str(tmp_path), "--read", str(other)]) == 0
    assert capsys.readouterr().out == (other / "REPORT.md").read_text(encoding="utf-8")
    assert "| faithfulness | 0.500 ±" in (other / "REPORT.md").read_text(encoding="utf-8")
    assert "What the labels are worth" not in (other / "REPORT.md").read_text(encoding="utf-8")
    of_train = [json.dumps({"id": row.id, **flat}) for row in rows if row.split == "train"]
    (other / "readings-test.jsonl").write_text("\n".join(of_train), encoding="utf-8")
    with pytest.raises(SystemExit):  # `--fold fitting` of the other program
        main([str(tmp_path), "--read", str(other)])
    said = capsys.readouterr().err
    assert "60 of 300 claims have no reading" in said
    assert "other: claims of both folds, fitting and test, are needed" in said
    monkeypatch.setattr("franq_bench.long.by_reading.report", lambda *_, **__: "The same again.\n")
    assert main([str(tmp_path)]) == 0  # beside the scores
    again = (tmp_path / "REPORT.md").read_text(encoding="utf-8")
    assert again == capsys.readouterr().out
    assert again.startswith("The same again.\n\n")


def test_a_folder_without_scores_says_what_makes_them(tmp_path, capsys):
    (tmp_path / "labels.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(SystemExit):
        main([str(tmp_path)])
    assert (
        "has no scores.jsonl: franq_bench.calibrator.own_long makes it" in capsys.readouterr().err
    )
