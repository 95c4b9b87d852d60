"""The shipped calibrators fit the code: weights, splitter, methods and prompt are those of today.

Whoever changes one of these has to fit the calibrators again; this is what says so.
"""

from dataclasses import replace
from importlib.resources import files

import pytest

from franq_guard.calibration.defaults import shipped
from franq_guard.claims import RuleSplitter
from franq_guard.policy import WEAK, Policy
from franq_guard.signals.components import OWN

ALL = {calibrator.name: calibrator for calibrator in shipped()}
WRITER = "smollm2-135m-instruct/q4_1/b179c952/float32"


def test_there_is_one_for_any_writer_in_both_forms_and_one_for_the_bundled_model():
    found = {(c.form, c.writer): c for c in ALL.values()}
    assert set(found) == {
        ("long", None),
        ("short", None),
        ("long", WRITER),
        ("short", WRITER),
    }
    assert [key for key, c in found.items() if not c.evidence_only] == [("long", WRITER)]
    assert all(c.promise is not None for c in ALL.values())


def test_the_bundled_models_short_one_has_the_rule_of_any_writers():
    (own,) = [c for c in ALL.values() if c.form == "short" and c.writer]
    (other,) = [c for c in ALL.values() if c.form == "short" and not c.writer]
    assert replace(own.labels, threshold=0.0) == replace(other.labels, threshold=0.0)
    cut = other.labels.supported_from
    for calibrator in (own, other):
        p_true = calibrator.apply([cut], [0.0], [0.0])[0]
        assert p_true == pytest.approx([calibrator.labels.threshold], abs=1e-6)


def test_the_bundled_models_long_one_weighs_its_own_confidence():
    (own,) = [c for c in ALL.values() if c.form == "long" and c.writer]
    assert own.calibration == "learned"
    assert own.promise["of"] == "true claims"
    sure = [-1.0, -6.0, -1.0, -6.0, -1.0]  # of the entropy, the opposite
    nli = [[0.01, 0.9], [0.01, 0.9], [0.1, 0.1], [0.1, 0.1], [0.9, 0.1]]
    p_true = own.apply([0.9, 0.9, 0.1, 0.1, 0.1], sure, sure, nli)[0]
    assert p_true[0] > p_true[1] > p_true[3]  # sure or not, where the passages state it
    assert p_true[0] > p_true[2] > p_true[3]
    assert p_true[2] > p_true[4]  # the passages contradict it


@pytest.mark.parametrize("name", ALL)
def test_it_is_for_the_shipped_weights_of_the_faithfulness_model(name):
    pytest.importorskip("torch")
    from franq_guard.faithfulness.small import storage
    from franq_guard.faithfulness.small.encoder_input import CHUNK_TOKENS
    from franq_guard.faithfulness.small.spelling import SPELLING

    _, digest = storage.check(storage.FOLDER)
    current = f"small-{digest[:16]}/chunk{CHUNK_TOKENS}/{SPELLING}"
    assert ALL[name].fingerprint["faithfulness"] == current


@pytest.mark.parametrize("name", ALL)
def test_it_is_for_the_splitter_the_methods_and_the_prompt_of_this_version(name):
    calibrator = ALL[name]
    found = calibrator.fingerprint
    assert found["claims"] == RuleSplitter().fingerprint
    assert found["form"] == calibrator.form
    assert found["writer"] in ("any", WRITER)
    if calibrator.evidence_only:
        assert (found["source"], found["language_model"]) == ("any", "none")
    else:
        assert found["methods"] == OWN.methods
        # no model reads: its confidence comes with a captured answer
        assert (found["source"], found["language_model"]) == ("captured", "any")


@pytest.mark.parametrize("form", ["long", "short"])
def test_rows_older_than_the_code_are_named_beside_the_calibrators(form):
    """Making the answers again takes an hour, so the rows may be older, but not unsaid."""
    (own,) = [c for c in ALL.values() if c.form == form and c.writer]
    page = (files("franq_guard.calibration") / "shipped" / "README.md").read_text("utf-8")
    for key, used in own.figures["measured_with"].items():
        assert used == own.fingerprint[key] or used in page


@pytest.mark.parametrize("name", ALL)
def test_what_it_promises_is_about_the_threshold_it_labels_by(name):
    promise, labels = ALL[name].promise, ALL[name].labels
    if promise is not None:
        assert promise["threshold"] == labels.threshold
        assert promise["bound"] <= promise["at_most_flagged"]
        assert {"of", "confidence", "n", "data", "date"} <= set(promise)


@pytest.mark.parametrize("form", ["long", "short"])
def test_a_lower_threshold_than_that_for_any_writer_flags_no_claim_less(form):
    """As docs/thresholds.md says: only a higher number, or another ``weak``, changes the flags."""
    (shown,) = [c for c in ALL.values() if c.form == form and c.writer is None]
    grid = [i / 200 for i in range(201)]
    p_true = shown.apply(grid, [0.0] * 201, [0.0] * 201)[0]

    def flagged(policy, against):
        labels = (
            policy.label(p, f, contradiction=against, entailment=0.0, rule=shown.labels)
            for p, f in zip(p_true, grid, strict=True)
        )
        return [label in policy.weak for label in labels]

    for against in (0.0, 1.0):
        usual = flagged(Policy(), against)
        assert 0 < sum(usual) < len(usual)
        assert flagged(Policy(threshold=0.0), against) == usual
        assert sum(flagged(Policy(threshold=0.8), against)) > sum(usual)
    assert WEAK[-1] == "unsupported"
    assert sum(flagged(Policy(weak=WEAK[:-1]), 0.0)) == 0
    # What a passage contradicts stays flagged, but not under a lower number.
    assert sum(flagged(Policy(weak=WEAK[:-1]), 1.0)) > 0
    assert sum(flagged(Policy(weak=WEAK[:-1], threshold=0.0), 1.0)) == 0
