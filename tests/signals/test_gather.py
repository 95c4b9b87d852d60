from dataclasses import replace

import numpy as np
import pytest

from franq_guard.claims import RuleSplitter
from franq_guard.records import Claim, Generation, Passage, Token, Trace
from franq_guard.signals.gather import gather
from franq_guard.signals.request import OF_DEFAULT_METHODS, OF_NAMED_METHODS, Models, Request
from franq_guard.signals.similarity import similarity_and_relevances
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel
from franq_guard.uncertainty.ccp import CONTRADICTS, ENTAILS, NEUTRAL, function_words
from franq_guard.uncertainty.methods import compute, methods

VOCABULARY = ["", "Paris", " is", " was", " big", " small", ".", " Rome"]
PASSAGE = Passage("Paris is the capital of France. Paris is big.")


class Tokenizer:
    def decode(self, ids):
        return "".join(VOCABULARY[i] for i in ids)


class LanguageModel(FakeLanguageModel):
    """Counts calls; keeps the tokens of an answer that has them, as real models do."""

    tokenizer = Tokenizer()

    def __init__(self):
        super().__init__()
        self.calls = []

    def score(self, prompts, answers):
        self.calls.append(("score", len(prompts)))
        made = super().score(prompts, answers)
        return [old if old.tokens else new for old, new in zip(answers, made, strict=True)]

    def sample(self, prompts, *, n=10, **options):
        self.calls.append(("sample", n))
        return [[answer()] * n for _ in prompts]


class Nli(FakeFaithfulness):
    def __init__(self):
        super().__init__()
        self.calls = []

    def nli(self, premises, hypotheses):
        self.calls.append(len(premises))
        rows = []
        for a, b in zip(premises, hypotheses, strict=True):
            opposed = {a.split()[-1], b.split()[-1]} in ({"big", "small"}, {"Paris", "Rome"})
            rows.append([0.1, 0.1, 0.8] if opposed else [0.2, 0.7, 0.1])
        return np.array(rows)


def answer():
    """ "Paris is big." with one alternative for each word."""
    ids, others = (1, 2, 4, 6, 0), (7, 3, 5, None, None)
    start, tokens = 0, []
    for i, other in zip(ids, others, strict=True):
        end = start + len(VOCABULARY[i])
        top = () if other is None else ((other, -1.0), (i, -0.5))
        tokens.append(Token(i, start, end, -0.5, 0.25, top))
        start = end
    return Generation("Paris is big.", tuple(tokens), prompt="Q", source="captured")


def trace(generation=None):
    return Trace("How big is Paris?", (PASSAGE,), generation or answer())


CLAIM = Claim("Paris is big.", ((0, 13),))


def embed(texts):
    """Two words of meaning: one axis for "big", one for all the rest."""
    rows = np.array([[1.0, 2.0 * ("big" in text)] for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def measured(names, of, run, **options):
    [found] = gather([Request(of, names, **options)], run)
    return found


def models():
    return Models(LanguageModel(), Nli(), embed, n_samples=4)


@pytest.mark.parametrize("level", ["sequence", "claim"])
def test_every_method_has_a_value(level):
    run = models()
    names = [m.name for m in methods() if level in m.levels]
    found = measured(names, trace(), run, claims=[CLAIM], level=level)
    got = compute(names, found, level=level)
    assert set(got) == set(names)
    assert all(np.isfinite(v).all() and v.shape == (1,) for v in got.values())


def test_everything_is_measured_once():
    run = models()
    names = [m.name for m in methods() if "sequence" in m.levels]
    measured(names, trace(), run)
    # without passages, without a prompt, P(True) in two wordings with two options each; one set of
    # samples
    calls = run.language_model.calls
    asked = [("score", 2), ("score", 2)]
    assert sorted(calls) == [("sample", 4), ("score", 1), ("score", 1), *asked]
    # the alternatives of all tokens, and the passages; the four samples are one text: no call
    assert len(run.faithfulness.calls) == 2


def test_nothing_that_was_not_asked_for_is_measured():
    run = models()
    found = measured(["perplexity", "mean-token-entropy"], trace(), run)
    assert run.language_model.calls == []
    assert run.faithfulness.calls == []
    assert found.samples is None
    assert found.logprobs.tolist() == [-0.5] * 5
    assert found.entropies.tolist() == [0.25] * 5


def test_log_probabilities_without_entropies_are_read_again_for_these():
    """As rows of JSON and servers bring them: ids and log-probabilities, nothing more."""

    class Rereading(LanguageModel):
        def score(self, prompts, answers):
            super().score(prompts, answers)
            return [replace(a, tokens=tuple(replace(t, entropy=0.75) for t in a.tokens))
                    for a in answers]  # fmt: skip

    run = replace(models(), language_model=Rereading())
    bare = answer()
    bare = replace(bare, tokens=tuple(replace(t, entropy=None, top=()) for t in bare.tokens))
    assert measured(["perplexity"], trace(bare), run).logprobs.tolist() == [-0.5] * 5
    assert run.language_model.calls == []
    found = measured(["perplexity", "max-token-entropy"], trace(bare), run)
    assert run.language_model.calls == [("score", 1)]
    assert found.entropies.tolist() == [0.75] * 5


@pytest.mark.parametrize("writer", [None, "fake-language-model", "another"])
def test_tokens_of_another_model_are_not_the_model_s_own(writer, monkeypatch):
    """Its ids may stand for other words here, those of the prompt, too."""
    model, prompts = LanguageModel(), []
    score = LanguageModel.score
    monkeypatch.setattr(
        LanguageModel, "score", lambda self, p, a: prompts.extend(p) or score(self, p, a)
    )
    written = replace(answer(), writer=writer, prompt_token_ids=(9, 9))
    request = Request(trace(written), ["max-token-entropy"], (CLAIM,), level="claim")
    (found,) = gather([request], Models(model))
    assert found.logprobs.tolist() == [-0.5] * 5  # what came with the answer is used as it is
    assert prompts == (["Q"] if writer == "another" else [])


def test_what_is_asked_of_faithfulness(monkeypatch):
    run, asked = models(), []
    monkeypatch.setattr(run.faithfulness, "score", lambda _, claims: asked.extend(claims) or [0.5])
    names = ["faithfulness", "faithfulness-answer"]
    found = measured(names, trace(), run)
    assert asked == [f"{trace().question} Paris is big.", "Paris is big."]
    assert (found.p_faithful, found.answer_p_faithful) == (0.5, 0.5)
    empty = measured(["faithfulness-answer"], trace(Generation(" ")), run)
    assert np.isnan(empty.answer_p_faithful)
    assert len(asked) == 2


def test_max_nli_reads_every_passage_alone(monkeypatch):
    run, asked = models(), []
    entails = {PASSAGE.text: 0.25, "Paris is small.": 0.75}

    def nli(premises, hypotheses):
        asked.extend(zip(premises, hypotheses, strict=True))
        return np.array([[entails[premise], 0.0, 0.0] for premise in premises])

    monkeypatch.setattr(run.faithfulness, "nli", nli)
    two = replace(trace(), passages=tuple(map(Passage, entails)))
    found = measured(["max-nli"], two, run)
    assert asked == [(text, f"{two.question} Paris is big.") for text in entails]
    assert found.entailed.tolist() == [0.25, 0.75]
    asked.clear()
    named = replace(CLAIM, full="Paris in France is big.")  # the paper reads no claim in full
    found = measured(["max-nli"], two, run, claims=[CLAIM, named], level="claim")
    assert asked == [(text, CLAIM.text) for text in entails] * 2
    assert found.claim_entailed.tolist() == [[0.25, 0.75]] * 2
    for level in ("sequence", "claim"):
        none = measured(["max-nli"], replace(two, passages=()), run, claims=[CLAIM], level=level)
        assert compute(["max-nli"], none, level=level)["max-nli"].tolist() == [1]


def test_an_answer_without_probabilities_is_scored_once():
    run = models()
    measured(["perplexity", "max-probability"], trace(Generation("Paris is big.")), run)
    assert run.language_model.calls == [("score", 1)]


def test_alternatives_are_compared_alone_and_in_their_claim():
    run = models()
    names = ["ccp", "ccp-fact-preference"]
    found = measured(names, trace(), run, claims=[CLAIM], level="claim")
    # Paris/Rome and big/small contradict each other, is/was are neutral
    assert found.relations.tolist() == [
        [ENTAILS, CONTRADICTS],
        [ENTAILS, NEUTRAL],
        [ENTAILS, CONTRADICTS],
        [ENTAILS, NEUTRAL],
        [ENTAILS, NEUTRAL],
    ]
    assert found.alternatives[0].tolist() == [-0.5, -1.0]
    assert found.alternatives[3].tolist() == [-0.5, -np.inf]
    assert found.function_words.tolist() == [False, True, False, True, True]
    assert len(run.faithfulness.calls) == 1
    (in_claim,) = found.claim_relations
    np.testing.assert_array_equal(in_claim[:3], found.relations[:3])
    # e^-.5 / (e^-.5 + e^-1), twice
    share = 1 / (1 + np.exp(-0.5))
    assert compute(["ccp"], found, level="claim")["ccp"][0] == pytest.approx(-(share**2))


def test_function_words():
    pieces = [" The", "cat", " not", ",", "", " 7", "–"]
    assert function_words(pieces).tolist() == [True, False, False, True, True, False, True]


def test_a_token_that_no_claim_needs_may_have_the_most_alternatives():
    given = answer()
    end = replace(given.tokens[-2], top=((1, -2.0), (2, -2.0), (3, -2.0)))  # the full stop
    told = replace(given, tokens=(*given.tokens[:-2], end, given.tokens[-1]))
    names = ["ccp", "ccp-fact-preference"]
    claim = Claim("Paris is big", ((0, 12),))
    of_few = measured(names, trace(), models(), claims=[claim], level="claim")
    of_many = measured(names, trace(told), models(), claims=[claim], level="claim")
    assert of_many.alternatives.shape == of_many.relations.shape == (5, 4)
    assert of_many.claim_relations[0].shape == (3, 4)
    for name in names:
        few, many = (compute([name], s, level="claim")[name] for s in (of_few, of_many))
        np.testing.assert_array_equal(few, many)


def test_ccp_needs_the_text_of_alternatives():
    run = Models(FakeLanguageModel(), Nli())
    with pytest.raises(ValueError, match="tokenizer"):
        measured(["ccp"], trace(), run)


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("semantic-entropy", "faithfulness"),
        ("sar", "embed"),
        ("p-true", "language_model"),
        ("faithfulness", "faithfulness"),
    ],
)
def test_a_missing_model_is_named(name, missing):
    samples = (answer(), answer())
    known = Trace("Q?", (PASSAGE,), answer(), samples)
    with pytest.raises(ValueError, match=f"needs '{missing}'"):
        measured([name], known, Models())


def test_given_samples_are_used():
    run = models()
    known = Trace("Q?", (PASSAGE,), answer(), (answer(), answer()))
    got = compute(["semantic-entropy"], measured(["semantic-entropy"], known, run))
    assert run.language_model.calls == []
    # one text, log p 5 * -.5
    assert got["semantic-entropy"][0] == pytest.approx(2.5)


def test_similarity_by_hand():
    # "big" is the second axis: (1, 2) against (1, 0) has cosine 1/sqrt 5
    calls = []

    def counted(texts):
        calls.append(list(texts))
        return embed(texts)

    texts = [["very", " big", ""], ["very"], ["very"]]
    similarity, relevances = similarity_and_relevances(counted, texts, per_token=True)
    cosine = 1 / np.sqrt(5)
    np.testing.assert_allclose(similarity, [[1, cosine, cosine], [cosine, 1, 1], [cosine, 1, 1]])
    np.testing.assert_allclose(relevances[0], [0, 1 - cosine, 0], atol=1e-12)
    assert len(calls) == 1
    assert sorted(calls[0]) == ["", " big", "very", "very big"]
    assert similarity_and_relevances(embed, texts, per_token=False)[1] == ()
    assert similarity_and_relevances(embed, [], per_token=True)[0].shape == (0, 0)


def test_claims_from_the_splitter():
    claims = RuleSplitter().split("Paris is big.")
    found = measured(["max-probability"], trace(), models(), claims=claims, level="claim")
    assert compute(["max-probability"], found, level="claim")["max-probability"][0] > 0


@pytest.mark.parametrize("level", ["sequence", "claim"])
def test_a_batch_calls_each_model_once_and_gives_what_one_by_one_gives(level):
    names = [m.name for m in methods() if level in m.levels]
    texts = ["Paris is big.", "Paris was small. Paris is big.", "Rome is big."]
    batch = [
        Request(replace(trace(), question=f"How big, {i}?"), names, [CLAIM], level)
        if i == 1
        else Request(
            replace(trace(Generation(text)), question=f"How big, {i}?"),
            names,
            RuleSplitter().split(text),
            level,
        )
        for i, text in enumerate(texts)
    ]
    together, alone = models(), models()
    found = gather(batch, together)
    expected = [gather([request], alone)[0] for request in batch]
    for got, want in zip(found, expected, strict=True):
        values, wanted = (compute(names, of, level=level) for of in (got, want))
        for name in names:
            np.testing.assert_allclose(values[name], wanted[name], rtol=1e-12, equal_nan=True)
    calls = together.language_model.calls
    drawn = [("sample", 4)] if level == "sequence" else []
    # two answers come without tokens; three without passages, three without a prompt; P(True) in
    # two wordings, each with two options of each statement
    statements = sum(1 if level == "sequence" else len(r.claims) for r in batch)
    asked = [("score", 2 * statements)] * 2
    assert calls == [("score", 2), ("score", 3), ("score", 3), *asked, *drawn]
    # NLI: alternatives, passages; the samples of each answer are one text and need none
    assert len(together.faithfulness.calls) == 2


def test_tokens_of_a_server_serve_where_log_probabilities_are_enough():
    """Its numbers are the answer's; what only our model can tell is of that model's tokens."""

    class Rereading(LanguageModel):
        def score(self, prompts, answers):
            self.calls.append(("score", len(prompts)))
            tokens = (Token(7, 0, 5, -2.0, 0.5), Token(8, 5, 13, -3.0, 0.75))
            return [Generation(a.text, tokens) for a in answers]

    server = Generation("Paris is big.", (Token(-1, 0, 13, -1.5),), source="server")
    run = replace(models(), language_model=Rereading())
    names = ["max-probability", "parametric-knowledge", "max-token-entropy", "pmi"]
    claims = [Claim("is big.", ((6, 13),))]
    told = {"claims": claims, "level": "claim", "rule": OF_DEFAULT_METHODS}
    found = measured(names[:2], trace(server), run, **told)
    assert run.language_model.calls == [("score", 1)]  # without the passages only
    assert found.own_logprobs is None
    got = compute(names[:2], found, level="claim")
    # the server's only token; the second of ours, which is found by its place in the text
    assert [got[name].tolist() for name in names[:2]] == [[1.5], [3.0]]
    got = compute(names, measured(names, trace(server), run, **told), level="claim")
    assert [got[name].tolist() for name in names] == [[1.5], [3.0], [0.75], [0.0]]
    # methods chosen by name are all of the tokens that the model in use reads
    named = told | {"rule": OF_NAMED_METHODS}
    got = compute(names, measured(names, trace(server), run, **named), level="claim")
    assert [got[name].tolist() for name in names] == [[3.0], [3.0], [0.75], [0.0]]


def test_methods_that_read_no_tokens_have_none_scored():
    run = models()
    found = measured(
        ["max-nli"], trace(Generation("Paris is big.")), run, claims=[CLAIM], level="claim"
    )
    assert compute(["max-nli"], found, level="claim")["max-nli"].shape == (1,)
    assert run.language_model.calls == []


def test_known_faithfulness_is_not_scored_again(monkeypatch):
    run = models()
    monkeypatch.setattr(run.faithfulness, "score", lambda *_: pytest.fail("scored again"))
    request = Request(trace(), ["faithfulness"], [CLAIM], "claim", p_faithful=[0.25])
    [found] = gather([request], run)
    assert compute(["faithfulness"], found, level="claim")["faithfulness"].tolist() == [0.75]
