"""The calibrator for one writer's short answers: its two numbers, and the rule that it keeps."""

import json

import numpy as np
import pytest

from franq_bench.calibrator import measured
from franq_bench.calibrator.__main__ import main
from franq_bench.calibrator.own_short_fit import fit, shares
from franq_bench.tables.scores import Score, Scores
from franq_guard.calibration.defaults import shipped
from franq_guard.calibration.store import Calibrator
from franq_guard.policy import WEAK, Policy

NAMED = {"name": "own", "writer": "w"}
ANY = next(c for c in shipped() if c.writer is None and c.form == "short")


def rows(*parts, of="made", split="train"):
    """(claims, true ones, P(faithful)) of each part; two claims an answer."""
    found = [(i < true, p) for claims, true, p in parts for i in range(claims)]
    return [
        Score(f"{of}-{i}", "made", split, is_true, {"faithfulness": p}, group=f"a{i // 2}")
        for i, (is_true, p) in enumerate(found)
    ]


def test_the_two_numbers_are_the_shares_where_p_faithful_is_certain():
    # faithful: 8 of 10 are true; others: 1 of 5
    truth = np.array([1.0] * 8 + [0.0] * 2 + [1.0] + [0.0] * 4)
    found = shares(truth, np.array([1.0] * 10 + [0.0] * 5))
    assert found == pytest.approx((0.8, 0.2), abs=1e-3)


def test_they_are_the_most_likely_ones_elsewhere():
    dice = np.random.default_rng(0)
    faithful = dice.uniform(size=20_000)
    truth = (dice.uniform(size=20_000) < faithful * 0.7 + (1 - faithful) * 0.3).astype(float)
    # twenty thousand claims: standard errors of about .01
    assert shares(truth, faithful) == pytest.approx((0.7, 0.3), abs=0.04)


def test_it_labels_like_any_writers_and_differs_in_p_true():
    # another data set, and rows of the fitted one, which must not count
    elsewhere = [*rows((10, 8, 1.0), (10, 2, 0.0), of="other"), *rows((30, 0, 1.0))]
    made = fit(rows((100, 80, 1.0), (100, 20, 0.0)), ANY, **NAMED, sources=["ours: MIT"],
               labelled_by="by reading", elsewhere=elsewhere)  # fmt: skip
    assert (made.writer, made.fingerprint["n_train"]) == ("w", 200)
    assert made.figures["auroc"] == pytest.approx(0.8)  # .8 * .8 + half of .32
    # every claim has P(true) .8 or .2, and as many are true
    assert made.figures["elsewhere"]["ece"] == pytest.approx(0.0, abs=1e-3)
    assert made.figures["elsewhere"]["n"] == 20
    assert made.promise["threshold"] == made.labels.threshold
    cut = ANY.labels.supported_from
    for p in (0.0, cut - 0.01, cut + 0.01, 1.0):
        weak = [
            Policy().label(float(c.apply([p], [0.0], [0.0])[0][0]), p, contradiction=0.0,
                           entailment=p, rule=c.labels) in WEAK
            for c in (made, ANY)
        ]  # fmt: skip
        assert weak[0] == weak[1] == (p < cut)


def test_claims_whose_truth_does_not_rise_with_p_faithful_are_refused():
    with pytest.raises(ValueError, match="says nothing about the truth"):
        fit(
            rows((10, 2, 1.0), (10, 8, 0.0)),
            ANY,
            name="own",
            writer="w",
            sources=[],
            labelled_by="by reading",
        )


def test_the_command_writes_it_from_scores_alone(tmp_path, capsys):
    kept_apart = rows((20, 16, 0.9), of="apart", split="test")
    Scores((*rows((50, 40, 0.9), (50, 10, 0.1)), *kept_apart)).write(tmp_path / "own")
    used = {"faithfulness": "small-1", "claims": "rules/1"}
    (tmp_path / "own" / measured.FILE).write_text(json.dumps(used), encoding="utf-8")
    main(["--own", str(tmp_path / "own"), "--form", "short", "--out", str(tmp_path)])
    made = Calibrator.load(tmp_path / "smollm2-small-short.json")
    assert made.writer is not None
    assert made.figures["n"] == 100
    assert made.figures["test"]["n"] == 20
    assert made.figures["test"]["share_true"] == 0.8
    assert "ece_of_any_writer" in capsys.readouterr().out
