import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from franq_guard.uncertainty import graph
from franq_guard.uncertainty.methods import compute, confidence, find, log_confidence, methods
from franq_guard.uncertainty.statistics import Samples, Statistics


def test_every_method_says_what_it_is():
    rows = [method.row() for method in methods()]
    assert len({row["name"] for row in rows}) == len(rows) == 40
    for row in rows:
        assert all(row.values())
        assert set(row) == {"name", "title", "family", "level", "cost", "source", "sign"}
    assert {row["family"] for row in rows} == {"information", "reflexive", "diversity", "rag"}
    assert find("ccp").row()["level"] == "sequence, claim"
    assert find("ccp-fact-preference").levels == ("claim",)


def test_one_bundle_shares_what_it_computes(monkeypatch):
    calls = []
    real = graph.spectrum
    monkeypatch.setattr(graph, "spectrum", lambda weights: calls.append(1) or real(weights))
    samples = Samples(texts=("a b", "b c"))
    got = compute(["eigenvalues-jaccard", "eccentricity-jaccard"], Statistics(samples=samples))
    assert len(calls) == 1
    assert set(got) == {"eigenvalues-jaccard", "eccentricity-jaccard"}


def test_claims_get_a_value_each():
    statistics = Statistics(
        logprobs=np.array([-1.0, -2.0, -4.0]), claims=((0,), (1, 2), ()), p_faithful=0.25,
        claim_p_faithful=np.array([1.0, 0.5, 0.0]), parametric=np.array([-3.0, -3.0, -3.0]),
    )  # fmt: skip
    got = compute(
        ["max-probability", "faithfulness", "parametric-knowledge"], statistics, level="claim"
    )
    np.testing.assert_array_equal(got["max-probability"], [1, 6, math.nan])
    np.testing.assert_array_equal(got["faithfulness"], [0, 0.5, 1])
    np.testing.assert_array_equal(got["parametric-knowledge"], [3, 6, math.nan])
    assert compute(["faithfulness"], statistics)["faithfulness"].tolist() == [0.75]
    alone = replace(statistics, answer_p_faithful=0.5)
    assert compute(["faithfulness-answer"], alone)["faithfulness-answer"].tolist() == [0.5]
    entailed = replace(
        statistics,
        entailed=np.array([0.25, 0.75]),
        claim_entailed=np.array([[0.5, 0.0], [0.25, 1.0], [0.0, 0.0]]),
    )
    assert compute(["max-nli"], entailed)["max-nli"].tolist() == [0.25]
    assert compute(["max-nli"], entailed, level="claim")["max-nli"].tolist() == [0.5, 0, 1]
    nothing = replace(statistics, entailed=np.empty(0), claim_entailed=np.empty((3, 0)))
    assert compute(["max-nli"], nothing)["max-nli"].tolist() == [1]
    assert compute(["max-nli"], nothing, level="claim")["max-nli"].tolist() == [1, 1, 1]
    assert compute(["perplexity"], replace(statistics, claims=()), level="claim")[
        "perplexity"
    ].shape == (0,)


def test_ccp_counts_function_words_as_certain_unless_named_otherwise():
    statistics = Statistics(
        alternatives=np.log([[0.5, 0.5], [0.4, 0.4]]),
        relations=np.array([[1, -1], [1, -1]]),
        claim_relations=(np.array([[1, -1]]),),
        function_words=np.array([True, False]),
        claims=((0,),),
    )
    got = compute(["ccp", "ccp:lm-polygraph"], statistics)
    assert got["ccp"][0] == pytest.approx(-0.5)
    assert got["ccp:lm-polygraph"][0] == pytest.approx(-0.25)
    names = ["ccp-fact-preference", "ccp-fact-preference:lm-polygraph"]
    by_fact = compute(names, statistics, level="claim")
    assert [by_fact[name][0] for name in names] == pytest.approx([-1, -0.5])


@pytest.mark.parametrize(
    ("names", "level", "message"),
    [
        (["magic"], "sequence", "no method 'magic'; there are: max-probability"),
        (["semantic-entropy"], "claim", "semantic-entropy has no claim level, only sequence"),
        (["ccp-fact-preference"], "sequence", "no sequence level, only claim"),
        (["perplexity"], "sequence", "perplexity: this method needs 'logprobs'"),
        (["degree-entail"], "sequence", "degree-entail: this method needs 'samples'"),
    ],
)
def test_misuse(names, level, message):
    with pytest.raises(ValueError, match=message):
        compute(names, Statistics(), level=level)


def test_every_method_as_a_confidence(case):
    for level in ("sequence", "claim"):
        for method in methods():
            if level not in method.levels:
                continue
            try:
                values = compute([method.name], case[1], level=level)[method.name]
            except ValueError:
                continue
            known = np.sort(values[~np.isnan(values)])
            got = np.array([confidence(method.name, value) for value in known])
            assert ((got >= 0) & (got <= 1)).all()
            assert (np.diff(got) <= 0).all()


def test_confidence_by_hand():
    assert confidence("max-probability", -math.log(0.3)) == pytest.approx(0.3)
    assert confidence("max-probability", math.inf) == 0
    assert confidence("ccp", -0.25) == 0.25
    assert confidence("degree-entail", 0.25) == 0.75
    assert confidence("pmi", 0.0) == 0.5
    assert confidence("pmi", math.inf) == pytest.approx(0)
    assert confidence("eccentricity-entail", 3.0, samples=9) == 0
    assert math.isnan(confidence("perplexity", math.nan))


@pytest.mark.parametrize("value", [0.999, 1.0, 3.7, 10.0])
def test_the_scales_of_the_short_form_s_methods(value):
    # 1 eigenvalue that carries all: certain; as many as there are samples: not at all
    share = min(1.0, 1.0 - (value - 1.0) / 9)
    assert confidence("eigenvalues-entail", value, samples=10) == pytest.approx(share)
    assert confidence("semantic-entropy", value) == pytest.approx(math.exp(-value))


@pytest.mark.parametrize("samples", [2, 10])
def test_the_other_scales_of_the_short_form_s_methods(samples):
    for u, expected in ((-0.59, 1), (0.0, 1), (3.0, 1 / 4), (math.inf, 0)):
        assert confidence("semantic-entropy:reciprocal", u, samples=samples) == expected
    for u, expected in ((0.999999, 1), (1.0, 1), (5.0, 1 / 5)):
        assert confidence("eigenvalues-entail:reciprocal", u, samples=samples) == expected


def test_a_reciprocal_has_the_uncertainty_of_its_method():
    samples = Samples(
        ("a", "b", "b"),
        tuple(np.array([p]) for p in (-1.0, -2.0, -2.0)),
        entail=np.array([[1, 0.3, 0.3], [0.2, 1, 1], [0.2, 1, 1]]),
        entails=np.array([[1, 0, 0], [0, 1, 1], [0, 1, 1]], bool),
    )
    for base in ("semantic-entropy", "eigenvalues-entail"):
        name = f"{base}:reciprocal"
        assert (find(name).reciprocal_of, find(base).reciprocal_of) == (base, None)
        assert find(name).has_scale
        got = compute([base, name], Statistics(samples=samples))
        assert got[name] == got[base] > 1


def test_confidences_stay_in_bounds():
    assert confidence("semantic-entropy", -0.59) == 1
    assert confidence("semantic-entropy", math.inf) == 0
    for value, expected in ((1.0, 1), (0.999999, 1), (10.0, 0), (10.000001, 0), (5.5, 0.5)):
        found = confidence("eigenvalues-entail", value, samples=10)
        assert 0 <= found <= 1
        assert found == pytest.approx(expected)


def test_log_confidence_does_not_underflow():
    assert log_confidence("max-probability", 2000.0) == -2000
    assert log_confidence("max-probability", -1e-9) == 0
    assert log_confidence("ccp", -0.25) == pytest.approx(math.log(0.25))
    assert log_confidence("ccp", 0.0) == -math.inf
    assert math.isnan(log_confidence("max-probability", math.nan))
    assert math.isnan(log_confidence("ccp", math.nan))
    for method in methods():
        value = confidence(method.name, 0.5)
        if value:
            assert log_confidence(method.name, 0.5) == pytest.approx(math.log(value))


def test_numpy_alone():
    code = """
import importlib, pkgutil, sys
import franq_guard.uncertainty as room
for module in pkgutil.iter_modules(room.__path__, "franq_guard.uncertainty."):
    importlib.import_module(module.name)
from franq_guard.uncertainty.methods import compute
from franq_guard.uncertainty.statistics import Samples, Statistics
samples = Samples(texts=("a b", "b c"))
assert compute(["eigenvalues-jaccard"], Statistics(samples=samples))["eigenvalues-jaccard"] > 1
heavy = ("torch", "sklearn", "scipy", "nltk", "rouge_score", "transformers")
print([name for name in heavy if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
