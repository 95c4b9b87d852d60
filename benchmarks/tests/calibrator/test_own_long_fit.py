"""The calibrator for one writer's long answers: learned from its own confidence, with a promise."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from franq_bench.calibrator import measured
from franq_bench.calibrator.__main__ import main
from franq_bench.calibrator.own_long_fit import AT_MOST_FLAGGED, SIGNAL, SUPPORTED_FROM, fit
from franq_bench.calibrator.reread import KEYS
from franq_bench.tables.scores import GOLD, Score, Scores
from franq_guard.calibration.defaults import shipped
from franq_guard.calibration.promise import PromiseRefusedError
from franq_guard.calibration.store import Calibrator
from franq_guard.signals.components import OWN

ANY = next(c for c in shipped() if c.writer is None and c.form == "long")
NAMED = {"name": "own", "writer": "w", "sources": ["ours: MIT"], "labelled_by": "by reading"}


def claims(n, *, seed=0, stated=0.5, of="made", split="train"):
    """Two claims a question. Where the passages state a claim it is true with .95 or .45 and else
    with .25 or .05, as the writer is sure of it (entropy about 1) or not (about 5)."""
    dice = np.random.default_rng(seed)
    found = []
    for i in range(n):
        faithful, sure = dice.random() < stated, dice.random() < 0.5
        chance = (0.95 if sure else 0.45) if faithful else (0.25 if sure else 0.05)
        scores = {
            "faithfulness": float(dice.uniform(0.8, 1.0) if faithful else dice.uniform(0.0, 0.2)),
            SIGNAL: math.exp((-1.0 if sure else -5.0) + 0.5 * dice.normal()),
            "contradiction": 0.0,
            "entailment": 0.5,  # tells nothing beside P(faithful)
            GOLD: float(faithful),
        }
        true = bool(dice.random() < chance)
        found.append(Score(f"{of}-{i}", of, split, true, scores, group=f"{of}-q{i // 2}"))
    return found


def test_p_true_weighs_both_the_passages_and_the_writers_confidence():
    made = fit(claims(6000, stated=0.8), ANY, **NAMED)
    faithful, sure = np.array([0.98, 0.98, 0.02, 0.02]), np.array([-1.0, -5.0, -1.0, -5.0])
    p_true = made.apply(faithful, sure, sure, [[0.0, 0.5]] * 4)[0]
    # the chances of `claims`, drawn a little towards the middle
    assert p_true == pytest.approx([0.95, 0.45, 0.25, 0.05], abs=0.08)
    assert made.calibration == "learned"
    assert not made.evidence_only
    assert made.fingerprint["methods"] == OWN.methods
    assert (made.writer, made.fingerprint["source"]) == ("w", "captured")


def test_of_two_claims_that_no_passage_states_the_contradicted_one_is_less_likely_true():
    rows = claims(2000, stated=0.8)
    for row in rows:  # every second false claim that no passage states is contradicted
        if not row.is_true and row.scores[GOLD] == 0.0 and int(row.id.partition("-")[2]) % 2:
            row.scores["contradiction"] = 0.9
    made = fit(rows, ANY, **NAMED)
    apart = made.apply([0.1, 0.1], [-1.0] * 2, [-1.0] * 2, [[0.0, 0.5], [0.9, 0.5]])
    assert apart[0][0] > apart[0][1] + 0.05
    assert apart[1][0] == apart[1][1]  # UQ_faith is of the writer's confidence alone


def test_what_it_promises_holds_for_claims_that_it_has_not_seen():
    made = fit(claims(2000, stated=0.8), ANY, **NAMED, test=claims(4000, seed=1, split="test"))
    promise, labels = made.promise, made.labels
    assert promise["of"] == "true claims"
    assert promise["bound"] <= promise["at_most_flagged"] == AT_MOST_FLAGGED
    assert promise["threshold"] == labels.threshold
    assert labels.supported_from == SUPPORTED_FROM
    assert labels.contradiction == ANY.labels.contradiction
    # half of the questions set it, one true claim of each is drawn
    assert 0.3 * 1000 < promise["n"] < 0.7 * 1000


def test_the_figures_of_claims_kept_apart_are_theirs():
    def row(number, true, faithful, minus_entropy):
        nli = {"contradiction": 0.0, "entailment": float(faithful > 0.5)}
        scores = {"faithfulness": faithful, SIGNAL: math.exp(minus_entropy), **nli}
        return Score(f"apart-{number}", "apart", "test", true, scores)

    # both true ones rank above one false one and below the other: AUROC 1/2; all pass but the last
    apart = [row(0, True, 0.9, -4.0), row(1, True, 0.9, -4.0), row(2, False, 1.0, -1.0),
             row(3, False, 0.0, -30.0)]  # fmt: skip
    made = fit(claims(2000, stated=0.8), ANY, **NAMED, test=apart)
    found = made.figures["test"]
    assert (found["n"], found["share_true"], found["auroc"]) == (4, 0.5, 0.5)
    assert (found["true_flagged"], found["false_flagged"]) == (0.0, 0.5)


def test_rows_of_the_fitted_set_or_without_the_signal_are_not_elsewhere():
    bare = Score("other-0", "other", "train", True, {"faithfulness": 0.5})
    others = claims(20, of="other", seed=2)
    made = fit(claims(2000, stated=0.8), ANY, **NAMED, elsewhere=[bare, *others, *claims(5)])
    assert made.figures["elsewhere"]["n"] == 20


def test_true_claims_that_mostly_stand_in_no_passage_allow_no_promise():
    # every third true claim lies below the bound on P(faithful), whatever the threshold
    with pytest.raises(PromiseRefusedError, match="unsupported"):
        fit(claims(2000, stated=0.1), ANY, **NAMED)


def test_the_command_writes_it_from_scores_alone(tmp_path, capsys):
    rows = [*claims(1000, stated=0.8), *claims(50, of="apart", seed=3, split="test")]
    Scores(tuple(rows)).write(tmp_path / "own")
    with pytest.raises(SystemExit):  # it cannot say what they were measured with
        main(["--own", str(tmp_path / "own"), "--out", str(tmp_path)])
    assert "make own-scores" in capsys.readouterr().err
    used = {"faithfulness": "small-1", "claims": "rules/1"}
    (tmp_path / "own" / measured.FILE).write_text(json.dumps(used), encoding="utf-8")
    main(["--own", str(tmp_path / "own"), "--out", str(tmp_path)])
    made = Calibrator.load(tmp_path / "smollm2-small-long.json")
    assert made.writer is not None
    assert made.figures["test"]["n"] == 50
    assert made.figures["measured_with"] == used
    assert "auroc_of_any_writer" in capsys.readouterr().out


def test_another_faithfulness_models_readings_make_a_calibrator_for_that_model(tmp_path, capsys):
    rows = [*claims(1000, stated=0.8), *claims(50, of="apart", seed=3, split="test")]
    own, read = tmp_path / "own", tmp_path / "read"
    blind = [replace(row, scores={**row.scores, "faithfulness": 0.5}) for row in rows]
    Scores(tuple(blind)).write(own)  # the stored ones tell nothing
    (own / measured.FILE).write_text(json.dumps({"faithfulness": "small-1", "claims": "rules/1"}))
    read.mkdir()
    used = {"faithfulness": "larger-1/chunk", "claims": "rules/1"}
    (read / measured.FILE).write_text(json.dumps(used))
    readings = [{"id": row.id, "max-nli": 0.5} | {key: row.scores[key] for key in KEYS[:3]}
                for row in rows]  # fmt: skip
    (read / "readings-all.jsonl").write_text("\n".join(map(json.dumps, readings)))
    asked = ["--own", str(own), "--read", str(read), "--out", str(tmp_path)]
    main(asked)
    made = Calibrator.load(tmp_path / "smollm2-long.json")
    assert (made.name, made.figures["measured_with"]) == ("smollm2 + larger-1, long form", used)
    assert made.fingerprint["faithfulness"] == "larger-1/chunk"
    assert made.figures["test"]["n"] == 50
    expected = fit([row for row in rows if row.split == "train"], ANY, **NAMED)
    assert made.labels.threshold == expected.labels.threshold
    for wrong, said in (
        ([*asked, "--form", "short"], "--read goes with --own in the long form"),
        (["--data", str(tmp_path), "--read", str(read)], "--read goes with --own"),
        (asked[:-2], "the shipped calibrators are the small model's; give --out"),
        ([*asked[:2], "--read", str(own), *asked[4:]], "reread makes them"),
    ):
        with pytest.raises(SystemExit):
            main(wrong)
        assert said in capsys.readouterr().err
