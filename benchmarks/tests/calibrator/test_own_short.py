"""Short answers of the bundled model: asked once, graded by aliases, with their signals."""

import math

import pytest

from franq_bench.calibrator import own_short
from franq_bench.calibrator.build import Question
from franq_guard.cli.console import quiet
from franq_guard.datasets.generations import GenerationStore
from franq_guard.records import Generation, Passage, Token, Trace

PASSAGES = (Passage("Oslo is the capital of Norway.", title="Oslo"), Passage("Fish is sold here."))
ASKED = [
    Question("nq-1", "What is the capital of Norway?", ("Oslo",), PASSAGES),
    Question("squad-2", "What is sold here?", ("Fish",), PASSAGES),
]


def test_the_signals_are_means_and_extremes_over_the_tokens():
    tokens = (Token(1, 0, 2, -0.2, 0.1), Token(2, 2, 4, -0.6, 0.5))
    trace = Trace("Who?", PASSAGES, Generation("Oslo", tokens, source="captured"))
    found = own_short._signals(trace)
    # mean entropy .3, highest .5, mean log-probability -.4; confidences are exp(-uncertainty)
    assert found["mean-token-entropy"] == pytest.approx(math.exp(-0.3))
    assert found["max-token-entropy"] == pytest.approx(math.exp(-0.5))
    assert found["perplexity"] == pytest.approx(math.exp(-0.4))


def test_a_row_for_every_attempted_question(monkeypatch, tmp_path):
    def drawn(*_, of, **__):
        return ASKED[1:] if "test" in of else ASKED[:1]

    monkeypatch.setattr(own_short, "questions", drawn)
    cache = tmp_path / "answers.jsonl"
    options = {"limit": 2, "seed": 0, "cache": cache, "progress": quiet}
    found = own_short.rows(tmp_path, **options)
    parts = {("nq-1", "nq", "train"), ("squad-2", "squad", "test")}
    assert found.rows
    assert {(row.id, row.dataset, row.split) for row in found.rows} <= parts
    for row in found.rows:
        assert set(row.scores) == {"faithfulness", *own_short.SIGNALS}
        assert all(0 <= value <= 1 for value in row.scores.values())

    def refuse(*_, **__):
        raise AssertionError("answered again")

    monkeypatch.setattr(GenerationStore, "_append", refuse)
    assert own_short.rows(tmp_path, **options) == found
