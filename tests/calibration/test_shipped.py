"""The shipped calibrators fit the code: weights, splitter, methods and prompt are those of today.

Whoever changes one of these has to fit the calibrators again; this is what says so.
"""

import pytest

from franq_guard.calibration.defaults import shipped
from franq_guard.claims import RuleSplitter
from franq_guard.signals.components import EVIDENCE

ALL = {calibrator.name: calibrator for calibrator in shipped()}


def test_there_is_one_for_any_writer_in_both_forms():
    assert {(c.form, c.fingerprint["writer"]) for c in ALL.values()} == {
        ("long", "any"),
        ("short", "any"),
    }
    assert all(c.evidence_only and c.promise is not None for c in ALL.values())


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
    assert found["methods"] == EVIDENCE.methods
    assert (found["writer"], found["source"], found["language_model"]) == ("any", "any", "none")


@pytest.mark.parametrize("name", ALL)
def test_what_it_promises_is_about_the_threshold_it_labels_by(name):
    promise, labels = ALL[name].promise, ALL[name].labels
    if promise is not None:
        assert promise["threshold"] == labels.threshold
        assert promise["bound"] <= promise["at_most_flagged"]
        assert {"of", "confidence", "n", "data", "date"} <= set(promise)
