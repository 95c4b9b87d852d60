"""The blend's fit: signs, shares, and what carries a label."""

import numpy as np
import pytest
from scipy.optimize import minimize

from franq_bench.data.pairs import Example, Question
from franq_bench.training.calibrate import fit_rows, held_back
from franq_guard.faithfulness.small.blend import INPUTS, Blend

RNG = np.random.default_rng(0)


def drawn(n, slope):
    """Rows whose margin tells the label by a known logistic function, the rest noise."""
    rows = RNG.normal(size=(n, len(INPUTS)))
    labels = RNG.random(n) < 1 / (1 + np.exp(-slope * rows[:, 0]))
    return rows, labels


def test_a_known_logistic_function_is_found_again():
    rows, labels = drawn(4000, 2.0)
    owners = np.arange(4000)
    weights, intercept = fit_rows(rows, owners, labels, ["fm2"] * 4000, held={}, strength=10)
    # four standard errors of a logistic slope of 2 over 4,000 standard normal rows are about 0.25
    assert weights[0] == pytest.approx(2, abs=0.25)
    assert intercept == pytest.approx(0, abs=0.25)
    p = Blend(weights, intercept).probability(rows)
    assert abs(p.mean() - labels.mean()) < 0.02


def test_no_weight_has_the_wrong_sign():
    rows, labels = drawn(800, -2.0)  # as if entailment spoke against the claim
    rows[:, INPUTS.index("contradiction")] = labels
    found, _ = fit_rows(rows, np.arange(800), labels, ["fm2"] * 800, held={})
    weights = dict(zip(INPUTS, found, strict=True))
    assert weights["margin"] == 0
    assert weights["contradiction"] == 0
    for name, weight in weights.items():
        if name not in ("claim_length", "chunks"):
            against = ("contradiction", "missing", "negation", "absent", "strange", "order")
            against += ("replaced", "added", "unknown", "exchanged", "fact")
            assert weight <= 0 if name.endswith(against) else weight >= 0, name


def test_the_others_are_fitted_beside_the_weights_that_are_held():
    rows, labels = np.zeros((400, len(INPUTS))), RNG.random(400) < 0.6
    others = [INPUTS.index("margin"), INPUTS.index("cosine")]
    number = INPUTS.index("number_replaced")
    rows[:, number] = RNG.random(400) < 0.3
    rows[:, others] = RNG.normal(size=(400, 2)) + labels[:, None]
    rows[:, others[1]] += rows[:, number]  # what is held tells a part of what this one tells
    held = {"number_replaced": -1.5}
    weights, intercept = fit_rows(rows, np.arange(400), labels, ["fm2"] * 400, held=held)

    def loss(slopes, constant, penalty):
        score = rows[:, others] @ slopes + constant - 1.5 * rows[:, number]
        wrong = np.logaddexp(0, np.where(labels, -score, score)).sum() * (100 / 400) ** 0.5
        return wrong + penalty * ((slopes * rows[:, others].std(axis=0)) ** 2).sum() / 2

    # the penalised minimum, then the best multiple of its slopes
    first = minimize(lambda theta: loss(theta[:2], theta[2], 1 / 0.005), [0, 0, 0]).x[:2]
    times, constant = minimize(lambda theta: loss(theta[0] * first, theta[1], 0), [0, 0]).x
    assert times > 2
    expected = [*(times * first), constant]
    assert [*(weights[i] for i in others), intercept] == pytest.approx(expected, abs=1e-4)
    assert weights[number] == -1.5
    assert sum(weight != 0 for weight in weights) == 3


def test_of_an_unsupported_claim_the_least_supported_sentence_carries_the_label():
    rows, labels = drawn(600, 3.0)
    # every second pair gets a further sentence that is plainly supported
    extra = rows.copy()
    extra[:, 0] = 5.0
    twice = np.concatenate([rows, extra])
    owners = np.concatenate([np.arange(600), np.arange(600)])
    alone = fit_rows(rows, np.arange(600), labels, ["fm2"] * 600, held={}, strength=10)[0][0]
    both = fit_rows(twice, owners, labels, ["fm2"] * 600, held={}, strength=10)[0][0]
    assert (
        both > alone / 2
    )  # were the extra sentences of unsupported claims kept, it would collapse


def test_pairs_are_shown_among_other_passages_and_capped():
    pool = [
        Question(f"Question {i}?", ("a",), f"Passage {i} tells of the mill number {i}.", ())
        for i in range(30)
    ]
    examples = [Example("fm2", f"Premise {i}.", f"The mill {i} turns.", i % 2) for i in range(400)]
    examples += [Example("mnli-dev", f"P{i}.", "H.", 1) for i in range(60)]
    held = held_back(examples, pool, seed=1)
    own = [h for h in held if h.example.dataset == "fm2"]
    assert len(own) == 300
    counts = [len(h.texts) for h in own]
    assert set(counts) == {1, 3, 10}
    assert 0.4 < counts.count(1) / 300 < 0.6
    assert all(h.example.premise in h.texts for h in held)
    assert all(len(h.texts) == 1 for h in held if h.example.dataset == "mnli-dev")
    assert sum(h.example.dataset == "mnli-dev" for h in held) == 30
    assert [h.texts for h in held_back(examples, pool, seed=1)] == [h.texts for h in held]
