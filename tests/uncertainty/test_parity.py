"""Every value of lm-polygraph 0.7.0 that is right, and its own forms under their own names."""

import numpy as np
import pytest

from franq_guard.uncertainty import sar
from franq_guard.uncertainty.methods import compute, methods

SEQUENCE = {
    "MaximumSequenceProbability": "max-probability",
    "Perplexity": "perplexity",
    "MeanTokenEntropy": "mean-token-entropy",
    "ClaimConditionedProbability": "ccp:lm-polygraph",
    "PTrue": "p-true:lm-polygraph",
    "MeanPointwiseMutualInformation": "pmi",
    "TokenSAR": "token-sar",
    "LexicalSimilarity(rouge1)": "lexical-rouge1",
    "LexicalSimilarity(rouge2)": "lexical-rouge2",
    "LexicalSimilarity(rougeL)": "lexical-rougeL",
    "LexicalSimilarity(BLEU)": "lexical-bleu",
    "DegMat(Jaccard_score)": "degree-jaccard",
    "DegMat(NLI_score,entail)": "degree-entail",
    "DegMat(NLI_score,contra)": "degree-contra",
    "Eccentricity(Jaccard_score)": "eccentricity-jaccard",
    "Eccentricity(NLI_score,entail)": "eccentricity-entail",
    "Eccentricity(NLI_score,contra)": "eccentricity-contra",
    "EigValLaplacian(Jaccard_score)": "eigenvalues-jaccard",
    "EigValLaplacian(NLI_score,entail)": "eigenvalues-entail",
    "EigValLaplacian(NLI_score,contra)": "eigenvalues-contra",
    "NumSemSets": "semantic-sets",
    "SemanticEntropy(sum,mean)": "semantic-entropy:lm-polygraph",
    "SemanticEntropy(sum,mean,unique)": "semantic-entropy",
    "SemanticEntropy(frequency,mean)": "discrete-semantic-entropy",
    "MonteCarloSequenceEntropy": "monte-carlo-entropy",
    "SentenceSAR": "sentence-sar",
    "SAR": "sar",
}
CLAIM = {
    "MaximumClaimProbability": "max-probability",
    "PerplexityClaim": "perplexity",
    "MaxTokenEntropyClaim": "max-token-entropy",
    "ClaimConditionedProbabilityClaim(no_context)": "ccp:lm-polygraph",
    "ClaimConditionedProbabilityClaim(fact_pref)": "ccp-fact-preference:lm-polygraph",
    "PTrueClaim": "p-true:lm-polygraph",
    "TokenSARClaim": "token-sar",
}
OTHER_FORMS = {
    "SemanticEntropy(sum,direct)",
    "SemanticEntropy(frequency,direct)",
    "MonteCarloNormalizedSequenceEntropy",
}


def close(got, value):
    np.testing.assert_allclose(got, value, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("level", ["sequence", "claim"])
def test_equal_to_the_reference(case, level):
    names = SEQUENCE if level == "sequence" else CLAIM
    there = {key: names[key] for key in case[0]["values"] if key in names}
    got = compute(there.values(), case[1], level=level)
    for key, name in there.items():
        value = np.array(case[0]["values"][key], float).reshape(-1)
        if key.startswith("TokenSAR") and np.isnan(value).any():
            # All relevances 0: theirs is 0/0, ours weighs every token alike.
            value = got["token-sar"]
            assert np.isfinite(value).all()
        close(got[name], value)


def test_forms_of_the_reference_that_are_not_methods_here(case):
    values, bundle = case[0]["values"], case[1].samples
    if bundle is None:
        return
    stats = case[0]["stats"]["samples"]
    # "sum, direct" is -P log P, summed over samples, of the class's P with duplicates added up.
    total = np.array([np.exp(bundle.log_probs[bundle.classes == k]).sum() for k in bundle.classes])
    total = total[total > 0]
    close(-np.sum(total * np.log(total)), values["SemanticEntropy(sum,direct)"])
    # "frequency, direct" sums -P log P over samples: each class as often as it has members.
    share = np.bincount(bundle.classes) / len(bundle.classes)
    own = share[bundle.classes]
    close(-np.sum(own * np.log(own)), values["SemanticEntropy(frequency,direct)"])
    lengths = np.array(stats["tokens"])
    close(-np.mean(bundle.log_probs / lengths), values["MonteCarloNormalizedSequenceEntropy"])


def test_every_value_of_the_fixture_is_compared(case):
    assert set(case[0]["values"]) <= set(SEQUENCE) | set(CLAIM) | OTHER_FORMS


def test_every_method_is_compared_or_has_no_reference_value():
    compared = set(SEQUENCE.values()) | set(CLAIM.values())
    ours = {method.name for method in methods()} - compared
    assert ours == {
        "ccp",
        "ccp-fact-preference",
        "p-true",
        "p-true:lm-polygraph-prompt",  # the formula of PTrue, after another prompt
        "semantic-entropy:reciprocal",  # these two: the value of the method, another confidence
        "eigenvalues-entail:reciprocal",
        "parametric-knowledge",
        "faithfulness",
        "faithfulness-answer",
        "max-nli",
        "normalized-monte-carlo-entropy",
    }


def test_semantic_classes(case):
    bundle = case[1].samples
    if bundle is None:
        return
    want = case[0]["stats"]["samples"]["classes"]
    groups = [np.flatnonzero(bundle.classes == c).tolist() for c in range(len(want))]
    assert groups == want


def test_sar_of_long_samples_stays_finite():
    # Two samples of log-probability -2000: exp() of either is 0, so the reference gives infinity.
    # By hand: log(p + p * 0.5 / 0.001) = -2000 + log(501)
    got = sar.sentence_sar_uncertainty([-2000.0, -2000.0], [[1, 0.5], [0.5, 1]])
    assert got == pytest.approx(2000 - np.log(501))
