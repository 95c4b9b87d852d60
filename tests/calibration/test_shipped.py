"""The shipped calibrators fit the code: weights, splitter, methods and prompt are those of today.

Whoever changes one of these has to fit the calibrators again; this is what says so.
"""

import pytest

from franq_guard.calibration.defaults import shipped
from franq_guard.claims import RuleSplitter
from franq_guard.language_model.prompts import prompt_fingerprint
from franq_guard.signals.components import DEFAULTS, EVIDENCE

ALL = {calibrator.name: calibrator for calibrator in shipped()}


def test_there_is_one_for_any_writer_in_both_forms_and_one_for_the_bundled_model():
    found = sorted((c.fingerprint["writer"], c.form) for c in ALL.values())
    assert [form for writer, form in found if writer == "any"] == ["long", "short"]
    assert [form for writer, form in found if writer != "any"] == ["long"]


@pytest.mark.parametrize("name", ALL)
def test_it_is_for_the_shipped_weights_of_the_faithfulness_model(name):
    pytest.importorskip("torch")
    from franq_guard.faithfulness.small import storage
    from franq_guard.faithfulness.small.encoder_input import CHUNK_TOKENS

    _, digest = storage.check(storage.FOLDER)
    current = f"small-{digest[:16]}/chunk{CHUNK_TOKENS}"
    assert ALL[name].fingerprint["faithfulness"] == current


@pytest.mark.parametrize("name", ALL)
def test_it_is_for_the_splitter_the_methods_and_the_prompt_of_this_version(name):
    calibrator = ALL[name]
    found = calibrator.fingerprint
    assert found["claims"] == RuleSplitter().fingerprint
    assert found["form"] == calibrator.form
    if calibrator.evidence_only:
        assert found["methods"] == EVIDENCE.methods
        assert (found["writer"], found["source"], found["language_model"]) == ("any", "any", "none")
    else:
        assert found["methods"] == DEFAULTS[calibrator.form].methods
        assert found["prompt"] == prompt_fingerprint()
        assert (found["writer"], found["source"]) == (found["language_model"], "captured")


def test_the_bundled_models_own_is_for_the_file_that_is_bundled():
    pytest.importorskip("torch")
    from franq_guard.language_model.transformers import smollm2

    (own,) = [c for c in ALL.values() if c.fingerprint["writer"] != "any"]
    assert own.fingerprint["writer"] == f"{smollm2.NAME}/float32"


@pytest.mark.parametrize("name", ALL)
def test_what_it_promises_is_about_the_threshold_it_labels_by(name):
    promise, labels = ALL[name].promise, ALL[name].labels
    if promise is not None:
        assert promise["threshold"] == labels.threshold
        assert promise["bound"] <= promise["at_most_flagged"]
        assert {"of", "confidence", "n", "data", "date"} <= set(promise)
