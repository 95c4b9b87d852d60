import json
import math
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from franq_guard.calibration.store import Calibrator, Knots
from franq_guard.label_rule import LabelRule

FAITH = Knots((-4.0, -2.0, 0.0), (0.2, 0.6, 0.9))
UNFAITH = Knots((-10.0, -1.0), (0.1, 0.5))
FITTED = Calibrator(
    calibration="condition",
    faith=FAITH,
    unfaith=UNFAITH,
    fingerprint={"language_model": "lm-1", "faithfulness": "f-1", "claims": "rules", "n_train": 40},
    figures={"auroc": 0.1 + 0.2},
    name="test",
)

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)


@st.composite
def knots(draw):
    x = sorted(draw(st.lists(finite, min_size=1, max_size=8, unique=True)))
    y = sorted(draw(st.lists(st.floats(0, 1), min_size=len(x), max_size=len(x))))
    return Knots(tuple(x), tuple(y))


def test_apply_by_hand():
    # faith at -3: halfway 0.2..0.6 = 0.4; unfaith at -5.5: halfway 0.1..0.5 = 0.3
    # 0.75 * 0.4 + 0.25 * 0.3 = 0.375
    p_true, faith, unfaith = FITTED.apply([0.75], [-3.0], [-5.5])
    assert (faith[0], unfaith[0]) == (pytest.approx(0.4), pytest.approx(0.3))
    assert p_true[0] == pytest.approx(0.375)


def test_step_takes_the_knot_to_the_left():
    step = Calibrator(calibration="global", interpolation="step", faith=FAITH, unfaith=UNFAITH)
    _, faith, _ = step.apply([1] * 6, [-9, -4, -2.001, -2, 5, math.nan], [0] * 6)
    np.testing.assert_array_equal(faith, [0.2, 0.2, 0.2, 0.6, 0.9, math.nan])


def test_uncalibrated_is_exp_of_the_log_probabilities():
    p_true, faith, unfaith = Calibrator.uncalibrated().apply(
        [0.5, 1.0], [math.log(0.5), 1e-9], [-math.inf, -800.0]
    )
    np.testing.assert_allclose(faith, [0.5, 1.0])
    np.testing.assert_array_equal(unfaith, [0.0, 0.0])
    np.testing.assert_allclose(p_true, [0.25, 1.0])
    short = Calibrator.uncalibrated(form="short")
    assert short.apply([0.5], [0.25], [0.75])[0].tolist() == [0.5]


def test_minus_infinity_takes_the_lowest_knot_and_missing_values_stay_missing():
    p_true, faith, _ = FITTED.apply([1, 1, None], [-math.inf, None, -1.0], [None, None, None])
    np.testing.assert_array_equal(faith[:2], [0.2, math.nan])
    np.testing.assert_array_equal(p_true, [0.2, math.nan, math.nan])


def test_hard_and_calibrated_faithfulness():
    hard = Calibrator(log_space=False, hard_threshold=0.5)
    got = hard.apply([0.5, 0.51, math.nan], [0.9] * 3, [0.1] * 3)[0]
    np.testing.assert_array_equal(got, [0.1, 0.9, math.nan])
    curve = Calibrator(log_space=False, faithfulness=Knots((0.0, 1.0), (0.5, 0.5)))
    assert curve.apply([0.9], [1.0], [0.0])[0].tolist() == [0.5]


def test_nothing_in_nothing_out():
    assert [a.shape for a in FITTED.apply([], [], [])] == [(0,)] * 3


@settings(deadline=None)
@given(knots(), knots(), st.sampled_from(["linear", "step"]), st.data())
def test_never_nan_in_bounds_and_rising(faith, unfaith, interpolation, data):
    fitted = Calibrator(
        calibration="condition", interpolation=interpolation, faith=faith, unfaith=unfaith
    )
    scores = data.draw(st.lists(st.floats(allow_nan=False), min_size=1, max_size=9))
    scores = np.sort(scores)
    weight = data.draw(st.floats(0, 1))
    results = fitted.apply(np.full(len(scores), weight), scores, scores)
    for values in results:
        assert ((values >= 0) & (values <= 1)).all()
        # Interpolating may wobble by one rounding.
        assert (np.diff(values) >= -1e-15).all()


@settings(deadline=None)
@given(knots(), knots(), finite)
def test_json_round_trip_is_exact(faith, unfaith, figure):
    fitted = Calibrator(
        calibration="global", faith=faith, unfaith=unfaith, figures={"auroc": figure}
    )
    assert Calibrator.from_json(fitted.to_json()) == fitted


def test_save_and_load(tmp_path):
    path = tmp_path / "calibrator.json"
    FITTED.save(path)
    assert Calibrator.load(path) == FITTED
    assert json.loads(path.read_text())["schema"] == "franq.calibrator/1"


def test_a_save_that_fails_leaves_the_file_that_was_there(tmp_path):
    path = tmp_path / "mine.json"
    FITTED.save(path)
    large = replace(FITTED, name="x" * 5000)
    code = (
        "import resource, signal, sys; from franq_guard import Calibrator; "
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "large = Calibrator.from_json(sys.stdin.read()); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); large.save(sys.argv[1])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, path], input=large.to_json(), capture_output=True, text=True
    )
    assert "File too large" in ended.stderr
    assert Calibrator.load(path) == FITTED
    assert [file.name for file in tmp_path.iterdir()] == ["mine.json"]


def test_save_replaces_the_file_behind_a_link_and_keeps_its_permissions(tmp_path):
    there, link, absent = tmp_path / "a.json", tmp_path / "link.json", tmp_path / "dangling.json"
    there.write_text("old")
    there.chmod(0o600)
    link.symlink_to("a.json")
    absent.symlink_to("b.json")
    FITTED.save(link)
    FITTED.save(absent)
    assert link.is_symlink()
    assert absent.is_symlink()
    assert Calibrator.load(there) == Calibrator.load(tmp_path / "b.json") == FITTED
    assert stat.S_IMODE(there.stat().st_mode) == 0o600


def test_save_writes_a_file_in_a_folder_that_allows_no_other():
    code = (
        "import os, sys; from franq_guard import Calibrator; made = Calibrator(); "
        "os.getuid() or os.setuid(65534); "  # root may write anywhere
        "made.save(sys.argv[1])"
    )
    with TemporaryDirectory() as folder:
        path = Path(folder, "mine.json")
        path.touch()
        path.chmod(0o666)
        Path(folder).chmod(0o555)
        subprocess.run([sys.executable, "-c", code, path], check=True)
        assert Calibrator.load(path) == Calibrator()
        Path(folder).chmod(0o755)


def test_save_writes_to_a_pipe(tmp_path):
    code = "import sys; from franq_guard import Calibrator; Calibrator().save('/dev/stdout')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert Calibrator.from_json(done.stdout) == Calibrator()


def damaged(**changes):
    data = json.loads(FITTED.to_json()) | changes
    return json.dumps({k: v for k, v in data.items() if v != "absent"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expecting value"),
        (FITTED.to_json()[:200], "delimiter|Expecting|Unterminated"),
        ("[]", "schema"),
        (damaged(schema="franq.calibrator/9"), "schema"),
        (damaged(faith="absent"), "missing"),
        (damaged(faith=None), "needs both UQ curves"),
        (damaged(calibration="none"), "needs no UQ curves"),
        (damaged(calibration="magic"), "calibration must be one of"),
        (damaged(faith={"x": [0.0]}), "'y'"),
        (damaged(faith={"x": [0.0, 0.0], "y": [0.1, 0.2]}), "increasing x"),
        (damaged(faith={"x": [0.0, 1.0], "y": [0.2, 0.1]}), "non-decreasing y"),
        (damaged(faith={"x": [0.0], "y": [1.5]}), r"\[0, 1\]"),
        (damaged(faith={"x": [], "y": []}), "at least one"),
        (damaged(faith={"x": ["0"], "y": [0.5]}), "must be numbers"),
        (damaged(faith={"x": [math.nan], "y": [0.5]}), "NaN"),
        (damaged(log_space=1), "log_space"),
        (damaged(hard_threshold="x"), "hard_threshold"),
        (damaged(hard_threshold=True), "hard_threshold"),
        (damaged(hard_threshold=10**400), "too large"),
        (damaged(faith={"x": [10**400], "y": [0.5]}), "too large"),
        ("[" * 100_000, "recursion"),
        (damaged(name=5), "name must be text"),
        (FITTED.to_json().replace('"auroc": 0.3', '"auroc": 1e999, "a": 0.3'), "1e999"),
        (damaged(fingerprint=3), "fingerprint"),
        (damaged(surprise=3), "surprise"),
        (damaged(promise=[]), "promise must be an object or null"),
        (damaged(promise={"at_most_flagged": "few"}), "at_most_flagged must lie between 0 and 1"),
        (damaged(promise={"confidence": 90}), "confidence must lie between 0 and 1, not 90"),
        (damaged(promise={"threshold": 0.4}), "made with the threshold 0.4, not 0.5"),
    ],
)
def test_a_damaged_file_is_a_clear_error(text, message, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as error:
        Calibrator.load(path)
    assert "bad.json" in str(error.value)
    assert "franq calibrate" in str(error.value)


def test_a_promise_is_about_the_threshold_it_was_made_with():
    made = replace(FITTED, promise={"at_most_flagged": 0.2, "threshold": 0.5})
    assert Calibrator.from_json(made.to_json()) == made
    with pytest.raises(ValueError, match="with another one nothing is promised"):
        replace(made, labels=LabelRule(threshold=0.7))
    assert replace(made, labels=LabelRule(threshold=0.7), promise=None).promise is None


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "bad.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"bad\.json"):
        Calibrator.load(path)


def test_figures_that_json_cannot_hold():
    with pytest.raises(ValueError, match="JSON"):
        Calibrator(figures={"auroc": math.nan}).to_json()


def test_check_names_each_mismatch():
    same = {"language_model": "lm-1", "faithfulness": "f-1", "claims": "rules", "form": "long"}
    assert FITTED.check(**same) == []
    assert FITTED.check() == []
    problems = FITTED.check(**same | {"language_model": "lm-2", "form": "short"})
    assert problems == [
        "language model: fitted for 'lm-1', used with 'lm-2'",
        "form: fitted for 'long', used with 'short'",
    ]
    assert "unnamed" in FITTED.check(prompt="p")[0]
    assert Calibrator.uncalibrated().check(**same) == []
    assert Calibrator.uncalibrated().check(samples="10 at temperature 0.5") == []
    assert Calibrator.uncalibrated(form="short").check(**same) != []


def test_samples_are_compared_where_the_calibrator_names_them():
    ten = "10 at temperature 0.5"
    assert FITTED.check(samples=ten) == []  # it names none, as those of earlier versions
    for known, problems in (
        (ten, []),
        ("any", []),
        ("20 at 1.0", [f"samples: fitted for '20 at 1.0', used with '{ten}'"]),
    ):
        named = replace(FITTED, fingerprint={**FITTED.fingerprint, "samples": known})
        assert named.check(samples=ten) == problems
        assert named.check() == []  # no method in use compares samples


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.5], [0.0], [0.0]), "p_faithful"),
        (([0.5, 0.5], [0.0], [0.0]), "shapes differ"),
    ],
)
def test_misuse(arguments, message):
    with pytest.raises(ValueError, match=message):
        FITTED.apply(*arguments)


def test_log_probabilities_in_probability_space_are_noticed():
    with pytest.raises(ValueError, match="uq_faith"):
        Calibrator(log_space=False).apply([0.5], [-3.0], [0.5])


def test_applying_needs_numpy_alone():
    code = (
        "import sys; from franq_guard.calibration import Calibrator;"
        "Calibrator.uncalibrated().apply([0.5], [-1.0], [-2.0]);"
        "print([m for m in ('sklearn', 'scipy', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_file_of_before_there_was_a_cut_for_disagreement_has_none():
    made = replace(FITTED, labels=LabelRule(disagreement=0.4))
    assert Calibrator.from_json(made.to_json()) == made
    data = json.loads(made.to_json())
    del data["labels"]["disagreement"]
    assert Calibrator.from_json(json.dumps(data)).labels == LabelRule()
    data["labels"]["disagreement"] = "high"
    with pytest.raises(ValueError, match="disagreement"):
        Calibrator.from_json(json.dumps(data))


def test_fixed_numbers_for_the_passages_alone_were_fitted_to_no_models():
    plain = Calibrator.evidence()
    used = {"faithfulness": "mine", "claims": "by hand", "language_model": "llm", "writer": "w"}
    assert plain.check(**used, source="captured", form="long") == []
    assert len(plain.check(**used, form="short")) == 1
