"""The notebooks run, and the outputs that are stored in them are what they print today.

What a language model wrote, and numbers that follow from it, may differ from machine to machine. Of
these outputs most words must be the same, and what must hold whatever the model wrote is tested.
"""

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import pytest

from franq_guard.language_model.transformers import smollm2
from franq_guard.testing import FakeLanguageModel

from .notebooks import code_cells, notebooks, read, run, written_by_a_model
from .test_code import NUMBER, assert_alike

CALIBRATE, FIRST = "calibrate_on_your_documents.ipynb", "first_check.ipynb"


def check(name, said):
    cells = code_cells(read(name))
    assert any(cell["outputs"] for cell in cells)
    for cell, outputs in zip(cells, said, strict=True):
        assert [o["output_type"] for o in cell["outputs"]] == [o["output_type"] for o in outputs]
        for shown, now in zip(cell["outputs"], outputs, strict=True):
            texts = [text_of(output) for output in (shown, now)]
            if written_by_a_model(cell):
                assert shared_words(*texts) > 0.5, texts
            elif shown["output_type"] == "stream":
                assert_alike(*texts)
            else:
                assert NUMBER.sub("#", texts[0]) == NUMBER.sub("#", texts[1])


def shared_words(shown, now):
    """The share of the words of two texts that both have; a number is as good as another."""
    one, other = (Counter(re.findall(r"\w+", NUMBER.sub("0", text))) for text in (shown, now))
    return 2 * (one & other).total() / max(1, one.total() + other.total())


def test_an_output_with_other_words_is_not_the_stored_one():
    # All 6 words of the stored one are among the 8 of the other: 2 * 6 / (6 + 8).
    now = "any writer: supported, P(true) 0.32: It is."
    assert shared_words("supported, P(true) 0.55: It is.", now) == pytest.approx(12 / 14)
    assert shared_words("supported, P(true) 0.55: It is.", "nothing else") == 0
    assert shared_words("", "") == 0


def text_of(output):
    return "".join(output["text"] if "text" in output else output["data"]["text/html"])


def test_the_first_check(shared_models):
    check(FIRST, run(FIRST)[0])


class AsStored(FakeLanguageModel):
    """Writes the answers that are stored in the notebook on calibration, under the model's name."""

    fingerprint = f"{smollm2.NAME}/float32"

    def __init__(self):
        answers, last = (text_of(code_cells(read(CALIBRATE))[i]["outputs"][0]) for i in (1, -3))
        told = answers.splitlines()
        # 14 answers, of two claims as long as they last; then that to the last question.
        texts = [*map(" ".join, zip(told[:12:2], told[1:12:2], strict=True)), *told[12:]]
        written = iter([*texts, last.splitlines()[0]])
        super().__init__(answers=lambda prompt: next(written))

    def _scored(self, prompt, answer):
        """With ids and entropies, as the model's own tokens have them."""
        found = super()._scored(prompt, answer)
        return replace(found, tokens=tuple(replace(t, id=0, entropy=1.0) for t in found.tokens))


@cache
def run_once(name, writer):
    return run(name)


@pytest.fixture(params=["as stored", pytest.param("anew", marks=pytest.mark.slow)])
def calibrated(request, shared_models, monkeypatch):
    """The outputs and the names of the notebook on calibration, run once for all tests.

    The model takes a minute to write its answers anew.
    """
    if request.param == "as stored":
        monkeypatch.setattr(smollm2, "load_bundled", lambda: AsStored())
    return run_once(CALIBRATE, request.param)


def test_calibrating_on_documents_prints_what_is_stored(calibrated):
    check(CALIBRATE, calibrated[0])


def test_the_calibrator_is_fitted_on_the_votes_of_people(calibrated):
    names = calibrated[1]
    said, rows = names["said"], names["rows"]
    wanted = [claim.text for trace in names["answers"] for claim in trace.claims]
    voted = [row["claim"] for row in rows if row["source"] == "person"]
    assert sorted(voted) == sorted(text for text in wanted if text in said)
    assert names["given"] == len(voted)
    for row in rows:
        if row["source"] == "person":
            assert row["is_true"] == (said[row["claim"]] in ("stated", "elsewhere"))
    assert {row["source"] for row in rows} <= {"person", "gold"}
    assert names["fitted"].figures["n"] == len(rows)


def test_each_of_the_three_guards_decides_by_the_calibrator_that_the_notebook_says(calibrated):
    results = calibrated[1]["results"]
    assert {name: result.calibrator for name, result in results.items()} == {
        "any writer": "any writer + small faithfulness model, long form",
        "shipped": "smollm2 + small faithfulness model, long form",
        "own": "Sondorf",
    }
    writer = calibrated[1]["generation"].writer
    wanted = {"any writer": "none", "shipped": f"captured from {writer}"}
    assert {name: results[name].likelihoods for name in wanted} == wanted
    for result in results.values():
        assert all(0 <= verdict.p_true <= 1 for verdict in result.verdicts)


def test_both_drawings_are_well_formed_and_are_those_of_the_votes(calibrated):
    said, names = calibrated
    drawn = [text_of(o) for cell in said for o in cell if o["output_type"] == "display_data"]
    assert len(drawn) == 2
    for svg in drawn:
        ElementTree.fromstring(svg)
    # The lowest threshold flags few, the highest all; a higher one never flags fewer.
    (line,) = [line for line in names["traded"].lines if line.name == "by threshold"]
    assert line.points[-1] == (1.0, 1.0)
    assert list(line.points) == sorted(line.points)


def test_every_stored_notebook_is_run_here():
    assert notebooks() == [CALIBRATE, FIRST]
