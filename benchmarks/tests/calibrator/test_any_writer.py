"""The calibrator for any writer: its one number, its cuts and its promise."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from franq_bench.calibrator import any_writer
from franq_bench.calibrator.__main__ import main
from franq_bench.calibrator.any_writer import fit, label, mixture, uq_faith
from franq_bench.calibrator.known_truth import Known
from franq_bench.verdicts.rows import Row
from franq_guard.calibration.promise import PromiseRefusedError
from franq_guard.cli.console import bar
from franq_guard.testing import FakeFaithfulness

RNG = np.random.default_rng(3)


def row(kind, i, p, contradiction=0.05, entailment=0.9):
    return Row(kind, f"q{i}", 1, f"claim {i}", "name", None, p, contradiction, entailment,
               "supported")  # fmt: skip


KNOWN = [Known("made", bool(RNG.random() < 0.9), 1.0) for _ in range(2000)]
KNOWN += [Known("made", bool(RNG.random() < 0.5), 0.0) for _ in range(200)]
FITTING = [row("grounded", i, 0.9) for i in range(400)]
FITTING += [row("changed", i, 0.1, 0.95, 0.2) for i in range(400)]


def made(stated):
    return fit("long", KNOWN, FITTING, stated, fingerprint={"writer": "any"}, sources=["ours: MIT"],
               promised_on=["ours"])  # fmt: skip


def test_uq_faith_is_the_share_of_faithful_claims_that_are_true():
    found = uq_faith(np.array([1.0] * 9 + [0.0]), np.ones(10))
    assert found == pytest.approx(0.9, abs=0.001)  # all faithful: the share itself
    # unfaithful claims say nothing of it
    same = uq_faith(np.array([1.0] * 9 + [0.0] * 5), np.array([1.0] * 10 + [0.0] * 4))
    assert same == pytest.approx(0.9, abs=0.001)


def test_the_formula_with_the_prior():
    assert mixture(1.0, 0.9) == 0.9
    assert mixture(0.0, 0.9) == 0.5
    assert mixture(0.4, 0.9) == pytest.approx(0.4 * 0.9 + 0.6 * 0.5)


def test_the_strictest_rule_that_keeps_the_promise_is_taken():
    stated = [row("grounded", i, (0.1 if i < 5 else 0.3 if i == 5 else 0.9)) for i in range(100)]
    calibrator = made(stated)
    promise = calibrator.promise
    # of 100 claims 5 flagged give a bound of .0908, 6 flagged of .1029
    assert (promise["n"], promise["flagged"], promise["data"]) == (100, 5, "ours")
    assert promise["threshold"] == calibrator.labels.threshold
    assert promise["bound"] == pytest.approx(0.0908, abs=1e-4)
    # a cut of .30 would flag the claim of .3, too
    assert calibrator.labels.supported_from == 0.28
    flagged = [label(r, calibrator.labels, calibrator.faith.y[0]) for r in stated]
    assert [i for i, found in enumerate(flagged) if found == "unsupported"] == [0, 1, 2, 3, 4]


def test_a_prior_that_flags_too_much_is_refused():
    with pytest.raises(PromiseRefusedError, match="most lenient"):
        made([row("grounded", i, 0.0) for i in range(100)])
    with pytest.raises(PromiseRefusedError, match="at least 22"):
        made([row("grounded", i, 1.0) for i in range(21)])


def test_a_claim_of_a_question_is_drawn_once():
    stated = [row("grounded", i % 50, 0.9) for i in range(500)]
    assert made(stated).promise["n"] == 50


def test_cuts_come_from_claims_that_are_stated():
    calibrator = made([row("grounded", i, 0.9) for i in range(100)])
    # all stated claims are contradicted at .05: the cut is the least there is
    assert calibrator.labels.contradiction == 0.5
    # from .5 on every entailed claim is a stated one
    assert calibrator.labels.entailment == 0.5
    noisy = [*FITTING, *(row("grounded", i, 0.9, 0.97) for i in range(20))]
    assert any_writer._contradiction_cut(noisy) == pytest.approx(0.97, abs=0.001)


def test_the_cut_for_passages_that_disagree_flags_one_stated_claim_in_a_hundred():
    # the stated ones are contradicted at .05: the cut is the least there is
    stated = [row("grounded", i, 0.9) for i in range(100)]
    assert made(stated).labels.disagreement == any_writer._LEAST_CONFLICT
    rows = [row("grounded", i, 0.9, 0.6 - i / 1000) for i in range(200)]
    cut = any_writer._disagreement_cut(rows)
    assert sum(r.contradiction >= cut for r in rows) == 2
    # what no passage states is in no conflict, and what is not stated is no false alarm
    other = [row("grounded", i, 0.9, 0.9, 0.4) for i in range(50)]
    other += [row("changed", i, 0.9, 0.9) for i in range(50)]
    assert any_writer._disagreement_cut([*stated, *other]) == any_writer._LEAST_CONFLICT


def test_each_source_is_left_out_in_turn():
    stated = [row("grounded", i, 0.1 if i < 2 else 0.9) for i in range(60)]
    stated += [row("entailed", i + 100, 0.3 if i < 6 else 0.9) for i in range(30)]
    stated = [replace(r, group=f"clapnq-{r.group}") if r.kind == "grounded" else r for r in stated]
    found = made(stated).figures["flagged_of_a_source_left_out"]
    # By 30 claims: no flag is allowed (0 of 30 give a bound of .074, 1 of .124), so the cut is .30
    # at most, below which 2 of the others lie. By 60: 2 may be flagged (.087; 3: .108), so the cut
    # is .90 at most, which flags the 6 claims of .3.
    assert found == {"clapnq": [2, 60], "refchecker": [6, 30]}
    known = [Known("a", True, 1.0)] * 9 + [Known("a", False, 1.0), Known("b", True, 1.0)]
    # b alone is always right: the estimate is at its highest, .99
    assert any_writer._uq_faith_without(known) == pytest.approx({"a": 0.99, "b": 0.9}, abs=0.001)


def test_too_few_claims_without_a_source_give_no_figure():
    stated = [row("grounded", i, 0.9) for i in range(60)] + [row("entailed", 99, 0.9)]
    found = made([replace(r, group="clapnq-" + r.group) for r in stated])
    assert found.figures["flagged_of_a_source_left_out"] == {"clapnq": None, "refchecker": [0, 1]}


def test_what_is_stored_says_whom_it_is_for():
    calibrator = made([row("grounded", i, 0.9) for i in range(100)])
    assert calibrator.unfaith.y == (0.5,)
    assert calibrator.fingerprint["writer"] == "any"
    assert calibrator.labels.false_below is None
    assert not calibrator.labels.unsupported_true
    assert type(calibrator).from_json(calibrator.to_json()) == calibrator


def test_another_faithfulness_models_go_to_a_folder_of_their_own(tmp_path, monkeypatch, capsys):
    stated = [row("grounded", i, 0.9) for i in range(100)]
    asked, model = [], FakeFaithfulness()

    def build(folder, form, *, seed, progress, other):
        asked.append((form, other))
        return made(stated)

    monkeypatch.setattr("franq_bench.calibrator.__main__.build", build)
    known = ["--data", str(tmp_path), "--faithfulness"]
    for words, expected in [
        (["folder"], "the shipped calibrators are the small"),
        (["folder", "--out", str(tmp_path)], "no faithfulness model 'folder'"),
    ]:
        with pytest.raises(SystemExit):
            main([*known, *words])
        assert expected in capsys.readouterr().err
    monkeypatch.setattr("franq_bench.calibrator.__main__.faithfulness_from", lambda where: model)
    main([*known, "folder", "--out", str(tmp_path)])
    assert asked == [("long", model), ("short", model)]
    assert (tmp_path / "any-writer-long.json").is_file()
    assert (tmp_path / "any-writer-short.json").is_file()


def test_a_model_that_cannot_weigh_several_passages_is_refused():
    with pytest.raises(TypeError, match="does not score several passages"):
        any_writer.build(Path(), "long", seed=0, progress=bar, other=FakeFaithfulness())
