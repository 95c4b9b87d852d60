"""Numbers worked out by hand, edge cases, and properties of each family."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from franq_guard.uncertainty import ccp, graph, information, lexical, rag, reflexive, sar, semantic
from franq_guard.uncertainty.numeric import logsumexp

LN2 = math.log(2)
logps = st.lists(st.floats(-50, 0), min_size=1, max_size=12)
unit = st.floats(0, 1)


@st.composite
def similarities(draw, least=2):
    n = draw(st.integers(least, 6))
    values = draw(st.lists(unit, min_size=n * n, max_size=n * n))
    matrix = np.array(values).reshape(n, n)
    matrix[np.diag_indices(n)] = 1
    return matrix


class TestInformation:
    def test_by_hand(self):
        # p = 1/2, 1/4, 1/8: -log of the product is 6 log 2
        logp = [-LN2, -2 * LN2, -3 * LN2]
        assert information.max_probability_uncertainty(logp) == pytest.approx(6 * LN2)
        assert information.perplexity_uncertainty(logp) == pytest.approx(2 * LN2)
        assert information.max_probability_uncertainty(logp, tokens=[0, 2]) == pytest.approx(
            4 * LN2
        )
        assert information.log_probability(logp, tokens=[1]) == pytest.approx(-2 * LN2)
        assert information.mean_entropy_uncertainty([1, 2, 6]) == 3
        assert information.max_entropy_uncertainty([1, 2, 6], tokens=[0, 1]) == 2
        # log ratios: -LN2 + LN2 = 0; -2 LN2 + 4 LN2 = 2 LN2; -3 LN2 + LN2 = -2 LN2; mean 0
        assert information.pmi_uncertainty(logp, [-LN2, -4 * LN2, -LN2]) == pytest.approx(0)
        # first token without anything before it: its own -LN2 counts: (-1 + 2 - 2)/3 LN2
        got = information.pmi_uncertainty(logp, [math.nan, -4 * LN2, -LN2])
        assert got == pytest.approx(LN2 / 3)
        assert rag.parametric_knowledge_uncertainty(logp, tokens=[0]) == pytest.approx(LN2)
        assert rag.unfaithfulness_uncertainty(0.75) == 0.25

    @pytest.mark.parametrize(
        "function",
        [
            information.max_probability_uncertainty,
            information.perplexity_uncertainty,
            information.mean_entropy_uncertainty,
            information.max_entropy_uncertainty,
            rag.parametric_knowledge_uncertainty,
            lambda x, **tokens: information.pmi_uncertainty(x, x, **tokens),
        ],
    )
    def test_no_tokens_measure_nothing(self, function):
        assert math.isnan(function([]))
        assert math.isnan(function([-1.0], tokens=[]))

    def test_impossible_and_unknown_tokens(self):
        assert information.max_probability_uncertainty([-1, -math.inf]) == math.inf
        assert information.perplexity_uncertainty([-1, -math.inf]) == math.inf
        assert math.isnan(information.max_probability_uncertainty([-1, math.nan]))

    @settings(deadline=None)
    @given(logps, st.randoms(use_true_random=False))
    def test_order_does_not_matter_and_length_does(self, logp, random):
        shuffled = random.sample(logp, len(logp))
        for function in (
            information.max_probability_uncertainty,
            information.perplexity_uncertainty,
        ):
            assert function(shuffled) == pytest.approx(function(logp))
            assert function(logp) >= 0
        twice = information.perplexity_uncertainty(logp * 2)
        assert twice == pytest.approx(information.perplexity_uncertainty(logp))


class TestCcp:
    def test_relations(self):
        e, n, c = ccp.ENTAILS, ccp.NEUTRAL, ccp.CONTRADICTS
        pairs = {(e, e): e, (e, n): e, (e, c): n, (n, n): n, (n, c): c, (c, c): c}
        for (a, b), want in pairs.items():
            assert ccp.combine_relations([a, b], [b, a]).tolist() == [want, want]

    def test_by_hand(self):
        # Token 1: written .5, .2 says the same, .1 contradicts, .1 is neutral: .7 / .8
        # Token 2: written .4, .4 contradicts: 1/2
        logp = np.log([[0.5, 0.2, 0.1, 0.1], [0.4, 0.4, 1, 1]])
        logp[1, 2:] = -np.inf
        relation = [[1, 1, -1, 0], [1, -1, 0, 0]]
        np.testing.assert_allclose(np.exp(ccp.token_ccp(logp, relation)), [0.875, 0.5])
        assert ccp.ccp_uncertainty(logp, relation) == pytest.approx(-0.4375)
        assert ccp.ccp_uncertainty(logp, relation, tokens=[1]) == pytest.approx(-0.5)
        ignore = np.array([False, True])
        assert ccp.ccp_uncertainty(logp, relation, ignore=ignore) == pytest.approx(-0.875)

    def test_the_written_token_always_entails_itself(self):
        assert ccp.ccp_uncertainty(np.log([[0.3, 0.3]]), [[-1, -1]]) == pytest.approx(-0.5)

    def test_edges(self):
        assert math.isnan(ccp.ccp_uncertainty(np.zeros((2, 3)), np.zeros((2, 3)), tokens=[]))
        assert math.isnan(ccp.ccp_uncertainty(np.empty((0, 3)), np.empty((0, 3))))
        impossible = [[-math.inf, -1.0]]
        assert ccp.ccp_uncertainty(impossible, [[1, -1]]) == 0
        assert math.isnan(ccp.ccp_uncertainty(impossible, [[1, 0]]))
        with pytest.raises(ValueError, match=r"\(T, K\)"):
            ccp.token_ccp([[0.0]], [[1, 1]])

    @settings(deadline=None)
    @given(st.lists(st.tuples(logps, st.integers(0, 3**12 - 1)), min_size=1, max_size=5))
    def test_bounds_and_scale(self, rows):
        width = max(len(logp) for logp, _ in rows)
        logp = np.full((len(rows), width), -np.inf)
        relation = np.zeros((len(rows), width), int)
        for i, (values, code) in enumerate(rows):
            logp[i, : len(values)] = values
            relation[i] = [code // 3**k % 3 - 1 for k in range(width)]
        value = ccp.ccp_uncertainty(logp, relation)
        assert -1 <= value <= 0
        # A ratio: the alternatives' common scale drops out.
        assert ccp.ccp_uncertainty(logp - 3, relation) == pytest.approx(value)


def p_true(log_true, log_false):
    return math.exp(-reflexive.p_true_uncertainty(log_true, log_false))


class TestPTrue:
    def test_by_hand(self):
        # .3 against .1: 3/4
        assert p_true(math.log(0.3), math.log(0.1)) == pytest.approx(0.75)
        got = reflexive.p_true_uncertainty(math.log(0.3), math.log(0.1))
        assert got == pytest.approx(-math.log(0.75))
        assert reflexive.p_true_uncertainty(math.log(0.3)) == pytest.approx(-math.log(0.3))

    def test_edges(self):
        assert p_true(-math.inf, -3.0) == 0
        assert reflexive.p_true_uncertainty(-math.inf, -3.0) == math.inf
        assert p_true(-2000.0, -2000.0) == pytest.approx(0.5)
        assert math.isnan(p_true(-math.inf, -math.inf))
        assert math.isnan(p_true(math.nan, -1.0))

    @settings(deadline=None)
    @given(st.floats(-50, 0), st.floats(-50, 0))
    def test_the_two_options_share_one(self, a, b):
        assert p_true(a, b) + p_true(b, a) == pytest.approx(1)


class TestLexical:
    def test_jaccard_by_hand(self):
        # {a, b, c} and {b, c, d}: 2 of 4; no words: 0 with anything but itself on the diagonal
        got = lexical.jaccard_matrix(["a b C", "B c d", "", " "])
        np.testing.assert_array_equal(
            got, [[1, 0.5, 0, 0], [0.5, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
        )

    def test_rouge_by_hand(self):
        # "the cat sat" / "the cat ran": 2 of 3 words; bigrams 1 of 2
        texts = ["the cat sat", "the cat ran"]
        got = lexical.lexical_similarity_uncertainty(texts, metric="rouge1")
        assert got == pytest.approx(-2 / 3)
        got = lexical.lexical_similarity_uncertainty(texts, metric="rouge2")
        assert got == pytest.approx(-1 / 2)

    def test_bleu_by_hand(self):
        # 2 words each: weights .5 .5; unigrams 2/2 in any order, bigrams 0/1: no overlap, 0
        got = lexical.lexical_similarity_uncertainty(["a b", "b a"], metric="bleu")
        assert got == pytest.approx(0, abs=1e-100)
        got = lexical.lexical_similarity_uncertainty(["a b", "a b"], metric="bleu")
        assert got == pytest.approx(-1)

    @pytest.mark.parametrize("metric", ["rouge1", "rouge2", "rougeL", "bleu"])
    def test_edges(self, metric):
        for texts in ([], ["one"]):
            assert math.isnan(lexical.lexical_similarity_uncertainty(texts, metric=metric))
        assert lexical.lexical_similarity_uncertainty(["", "a"], metric=metric) == 0

    def test_unknown_metric(self):
        with pytest.raises(ValueError, match="rouge1, rouge2"):
            lexical.lexical_similarity_uncertainty(["a", "b"], metric="cosine")

    @pytest.mark.parametrize("metric", ["rouge1", "bleu"])
    def test_without_the_extra(self, metric, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "nltk.translate.bleu_score", None)
        monkeypatch.setitem(__import__("sys").modules, "rouge_score.rouge_scorer", None)
        with pytest.raises(ImportError, match=r"franq-guard\[uncertainty\]"):
            lexical.lexical_similarity_uncertainty(["a", "b"], metric=metric)


class TestGraph:
    def test_all_alike(self):
        ones = np.ones((4, 4))
        assert graph.degree_uncertainty(ones) == 0
        assert graph.eigenvalue_uncertainty(ones) == pytest.approx(1)
        assert graph.eccentricity_uncertainty(ones) == pytest.approx(0, abs=1e-7)

    def test_all_different(self):
        eye = np.eye(4)
        assert graph.degree_uncertainty(eye) == 0.75
        assert graph.eigenvalue_uncertainty(eye) == pytest.approx(4)
        # The four unit vectors, each centred: 4 * 3/4 = 3
        assert graph.eccentricity_uncertainty(eye) == pytest.approx(math.sqrt(3))

    def test_two_groups_by_hand(self):
        block = np.kron(np.eye(2), np.ones((2, 2)))
        assert graph.degree_uncertainty(block) == 0.5
        assert graph.eigenvalue_uncertainty(block) == pytest.approx(2)

    def test_pair_by_hand(self):
        # W = [[1, w], [w, 1]]: L has eigenvalues 0 and 2w/(1+w): sum 1 + (1-w)/(1+w)
        w = 0.25
        matrix = [[1, w], [w, 1]]
        assert graph.eigenvalue_uncertainty(matrix) == pytest.approx(1 + (1 - w) / (1 + w))

    def test_one_sample_cannot_disagree(self):
        for function in (
            graph.degree_uncertainty,
            graph.eigenvalue_uncertainty,
            graph.eccentricity_uncertainty,
        ):
            assert math.isnan(function([[1.0]]))
            assert math.isnan(function(np.empty((0, 0))))

    @pytest.mark.parametrize("n", [2, 3, 5])
    def test_an_unknown_weight_is_never_certainty(self, n):
        weights = np.ones((n, n))
        weights[0, 1] = math.nan
        for function in (
            graph.degree_uncertainty,
            graph.eigenvalue_uncertainty,
            graph.eccentricity_uncertainty,
        ):
            assert math.isnan(function(weights))

    def test_a_sample_without_weight_stands_alone(self):
        matrix = np.zeros((2, 2))
        assert graph.eigenvalue_uncertainty(matrix) == 0
        assert graph.eccentricity_uncertainty(matrix) == 0

    def test_sets_by_hand(self):
        # 0-1 and 1-2 linked both ways, 3 linked to 0 one way only: {0, 1, 2} and {3}
        entail = np.zeros((4, 4))
        for i, j in ((0, 1), (1, 0), (1, 2), (2, 1), (3, 0)):
            entail[i, j] = 0.9
        assert graph.semantic_sets_uncertainty(entail, np.full((4, 4), 0.5)) == 2
        assert graph.semantic_sets_uncertainty(np.empty((0, 0)), np.empty((0, 0))) == 0

    def test_not_square(self):
        with pytest.raises(ValueError, match=r"\(n, n\)"):
            graph.degree_uncertainty(np.ones((2, 3)))

    @settings(deadline=None)
    @given(similarities(), st.randoms(use_true_random=False))
    def test_bounds_order_and_scale(self, matrix, random):
        n = len(matrix)
        order = random.sample(range(n), n)
        moved = matrix[np.ix_(order, order)]
        eigenvalues = graph.eigenvalue_uncertainty(matrix)
        assert graph.eigenvalue_uncertainty(moved) == pytest.approx(eigenvalues)
        assert graph.degree_uncertainty(moved) == pytest.approx(graph.degree_uncertainty(matrix))
        assert 1 - 1e-9 <= eigenvalues <= n + 1e-9
        assert 0 <= graph.degree_uncertainty(matrix) < 1
        assert 0 <= graph.eccentricity_uncertainty(matrix) <= math.sqrt(n)
        # The normalised Laplacian does not see a common factor.
        assert graph.eigenvalue_uncertainty(matrix / 7) == pytest.approx(eigenvalues)


class TestSemantic:
    def test_classes_join_the_first_head_they_match(self):
        # 1 matches 0 and 2; 2 does not match 0: 1 joins 0, 2 stands alone
        entails = np.eye(3, dtype=bool)
        entails[0, 1] = entails[1, 0] = entails[1, 2] = entails[2, 1] = True
        assert semantic.semantic_classes(entails).tolist() == [0, 0, 1]
        entails[1, 0] = False
        assert semantic.semantic_classes(entails).tolist() == [0, 1, 1]

    def test_entropy_by_hand(self):
        # "a" .5 twice and "b" .25 in one class, "c" .125 in another.
        # unique: classes .75 and .125: -(3 log .75 + log .125) / 4
        logp, texts = np.log([0.5, 0.5, 0.25, 0.125]), ["a", "a", "b", "c"]
        got = semantic.semantic_entropy_uncertainty(logp, [0, 0, 0, 1], texts)
        assert got == pytest.approx(-(3 * math.log(0.75) + math.log(0.125)) / 4)
        # theirs counts "a" twice: 1.25
        got = semantic.semantic_entropy_uncertainty(logp, [0, 0, 0, 1], texts, rule="lm-polygraph")
        assert got == pytest.approx(-(3 * math.log(1.25) + math.log(0.125)) / 4)
        # shares 3/4, 1/4
        got = semantic.discrete_semantic_entropy_uncertainty([0, 0, 0, 1])
        assert got == pytest.approx(-0.75 * math.log(0.75) - 0.25 * math.log(0.25))

    def test_repeating_one_sure_answer_is_no_negative_entropy(self):
        # Three times p = .6: the library's -log 1.8 against -log .6
        same = (np.log([0.6] * 3), [0, 0, 0], ["x"] * 3)
        assert semantic.semantic_entropy_uncertainty(*same) == pytest.approx(-math.log(0.6))
        got = semantic.semantic_entropy_uncertainty(*same, rule="lm-polygraph")
        assert got == pytest.approx(-math.log(1.8))

    def test_the_same_text_in_two_classes_counts_in_both(self):
        got = semantic.semantic_entropy_uncertainty(np.log([0.5, 0.5]), [0, 1], ["a", "a"])
        assert got == pytest.approx(LN2)

    def test_monte_carlo_by_hand(self):
        assert semantic.monte_carlo_uncertainty([-2.0, -4.0]) == 3
        # means -1 and -2
        got = semantic.normalized_monte_carlo_uncertainty([[-1.0, -1.0], [-2.0], []])
        assert got == 1.5

    def test_edges(self):
        assert math.isnan(semantic.semantic_entropy_uncertainty([], [], []))
        assert math.isnan(semantic.discrete_semantic_entropy_uncertainty([]))
        assert math.isnan(semantic.monte_carlo_uncertainty([]))
        assert math.isnan(semantic.normalized_monte_carlo_uncertainty([]))
        impossible = semantic.semantic_entropy_uncertainty([-math.inf, -1.0], [0, 1], ["a", "b"])
        assert impossible == math.inf
        together = semantic.semantic_entropy_uncertainty([-math.inf, -1.0], [0, 0], ["a", "b"])
        assert together == 1
        with pytest.raises(ValueError, match="2 log_probs, 1 classes"):
            semantic.semantic_entropy_uncertainty([0.0, 0.0], [0], ["a", "b"])
        with pytest.raises(ValueError, match="rule must be"):
            semantic.semantic_entropy_uncertainty([0.0], [0], ["a"], rule="kuhn")

    @settings(deadline=None)
    @given(st.lists(st.tuples(st.floats(-20, -0.7), st.integers(0, 2)), min_size=1, max_size=8))
    def test_merging_classes_never_raises_entropy(self, rows):
        logp, kind = zip(*rows, strict=True)
        kind = np.unique(kind, return_inverse=True)[1]
        texts = [str(i) for i in range(len(rows))]
        apart = semantic.semantic_entropy_uncertainty(logp, range(len(rows)), texts)
        grouped = semantic.semantic_entropy_uncertainty(logp, kind, texts)
        merged = semantic.semantic_entropy_uncertainty(logp, [0] * len(rows), texts)
        assert apart >= grouped - 1e-9 >= merged - 2e-9
        assert apart == pytest.approx(semantic.monte_carlo_uncertainty(logp))
        assert (
            0 <= semantic.discrete_semantic_entropy_uncertainty(kind) <= math.log(len(rows)) + 1e-9
        )


class TestSar:
    def test_token_by_hand(self):
        # relevances .1 and .3 -> 1/4, 3/4: 1/4 * 2 + 3/4 * 4
        assert sar.token_sar_uncertainty([-2, -4], [0.1, 0.3]) == pytest.approx(3.5)
        assert sar.token_sar_uncertainty([-2, -4], [0.1, 0.3], tokens=[1]) == pytest.approx(3)

    def test_token_edges(self):
        assert sar.token_sar_uncertainty([-2, -4], [0, 0]) == 3
        assert sar.token_sar_uncertainty([-math.inf, -4], [0, 1]) == 4
        assert math.isnan(sar.token_sar_uncertainty([], []))
        assert math.isnan(sar.token_sar_uncertainty([-1], [1], tokens=[]))
        with pytest.raises(ValueError, match=r"equal \(T,\)"):
            sar.token_sar_uncertainty([-1], [1, 2])

    def test_sentence_by_hand(self):
        # p = .5, .1; similarity .2, temperature 1: log(.5 + .02), log(.1 + .1)
        got = sar.sentence_sar_uncertainty(
            np.log([0.5, 0.1]), [[1, 0.2], [0.2, 1]], temperature=1.0
        )
        assert got == pytest.approx(-(math.log(0.52) + math.log(0.2)) / 2)

    def test_sentence_edges(self):
        assert sar.sentence_sar_uncertainty([-2.0], [[1.0]]) == pytest.approx(2)
        assert math.isnan(sar.sentence_sar_uncertainty([], np.empty((0, 0))))
        assert sar.sentence_sar_uncertainty([-2.0, -2.0], -np.ones((2, 2))) == pytest.approx(2)
        with pytest.raises(ValueError, match=r"must be \(1, 1\)"):
            sar.sentence_sar_uncertainty([-2.0], np.ones((2, 2)))

    def test_sar_by_hand(self):
        # token SARs 2 and 4 (one token each): p = e^-2, e^-4, no similarity: mean 3
        got = sar.sar_uncertainty([[-2.0], [-4.0]], [[0.5], [0.1]], np.eye(2))
        assert got == pytest.approx(3)
        with pytest.raises(ValueError, match="2 samples and 1 relevances"):
            sar.sar_uncertainty([[-2.0], [-4.0]], [[0.5]], np.eye(2))

    @settings(deadline=None)
    @given(logps, st.floats(0.01, 10))
    def test_relevance_has_no_scale(self, logp, factor):
        relevance = np.linspace(0.1, 1, len(logp))
        value = sar.token_sar_uncertainty(logp, relevance)
        assert sar.token_sar_uncertainty(logp, factor * relevance) == pytest.approx(value)
        assert value >= 0


@settings(deadline=None)
@given(st.lists(st.floats(-700, 700), min_size=1, max_size=9), st.floats(-1e5, 1e5))
def test_logsumexp(values, shift):
    plain = math.log(math.fsum(math.exp(v) for v in values)) if max(values) < 600 else None
    got = float(logsumexp(values))
    if plain is not None:
        assert got == pytest.approx(plain, abs=1e-9)
    assert float(logsumexp(np.array(values) + shift)) == pytest.approx(got + shift)


def test_logsumexp_of_nothing():
    assert float(logsumexp([])) == -math.inf
    assert float(logsumexp([-math.inf, -math.inf])) == -math.inf
    assert logsumexp(np.empty((2, 0))).tolist() == [-math.inf, -math.inf]
