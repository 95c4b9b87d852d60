"""The one way from traces to signals, against numbers worked out by hand or in a few lines here."""

import math
from dataclasses import replace

import numpy as np
import pytest

from franq_guard.claims import RuleSplitter, first_statements, token_indices
from franq_guard.claims.spans import whole
from franq_guard.language_model.base import Contrast
from franq_guard.language_model.prompts import question_prompt, rag_prompt
from franq_guard.records import Claim, Generation, Passage, Token, Trace
from franq_guard.signals.clock import Clock
from franq_guard.signals.components import DEFAULTS, EVIDENCE, Components
from franq_guard.signals.measure import measure
from franq_guard.signals.request import Models
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

PASSAGES = (Passage("Rome is the capital of Italy."), Passage("It lies on the Tiber."))
LONG = "Rome is the capital of Italy. It lies on the Tiber. Hello! Rome is the capital of Italy."
CAPITALS = {"Paris", "it is Paris"}


class LanguageModel(FakeLanguageModel):
    """Counts calls; its samples differ."""

    def __init__(self, **options):
        super().__init__(**options)
        self.calls = []

    def score(self, prompts, answers):
        self.calls.append(("score", len(prompts)))
        return super().score(prompts, answers)

    def sample(self, prompts, *, n=10, **options):
        self.calls.append(("sample", len(prompts)))
        texts = ["Rome", "it is Rome", "Milan", "Rome "]
        return [
            [self._scored(prompt, Generation(texts[i % 4])) for i in range(n)] for prompt in prompts
        ]


class Judge(FakeFaithfulness):
    """Counts calls; two names of CAPITALS entail each other, "Rome" contradicts them."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def score(self, contexts, claims):
        self.calls.append(("score", len(claims)))
        return super().score(contexts, claims)

    def nli(self, premises, hypotheses):
        self.calls.append(("nli", len(premises)))
        return np.array([self.row(*pair) for pair in zip(premises, hypotheses, strict=True)])

    @staticmethod
    def row(a, b):
        if {a, b} <= CAPITALS:
            return [0.8, 0.1, 0.1]
        return [0.1, 0.2, 0.7] if "Rome" in (a, b) else [0.2, 0.6, 0.2]


def signals_of(traces, model=None, *, form="long", named=None, judge=None, clock=None, **options):
    claims = [
        whole(t.generation.text) if form == "short" else RuleSplitter().split(t.generation.text)
        for t in traces
    ]
    return measure(
        named or DEFAULTS[form],
        traces,
        claims,
        Models(model, judge or Judge(), n_samples=4),
        form=form,
        clock=clock or Clock(None),
        **options,
    )


def trace(text=LONG, *, passages=PASSAGES, samples=(), **options):
    generation = text if isinstance(text, Generation) else Generation(text)
    return Trace("Where is Rome?", passages, generation, samples, **options)


def told(text, *logprobs, ids=True, source="captured"):
    """The text in as many tokens as there are numbers, cut at its blanks."""
    words, at, tokens = text.split(" ", len(logprobs) - 1), 0, []
    for i, (word, value) in enumerate(zip(words, logprobs, strict=True)):
        end = at + len(word) + (i > 0)
        tokens.append(Token(i if ids else -1, at, end, value))
        at = end
    return Generation(text, tuple(tokens), prompt="Rome Tiber", source=source)


def test_the_default_pair_by_a_few_lines():
    """Sums of log p over each claim's tokens, of the first statement where one is repeated."""
    model, given = FakeLanguageModel(), trace()
    claims = RuleSplitter().split(LONG)
    prompts = {
        "uq_faith": rag_prompt(given.question, PASSAGES),
        "uq_unfaith": question_prompt(given.question),
    }
    under = {k: model.score([model.render(p)], [given.generation]) for k, p in prompts.items()}
    (found,) = signals_of([given], model)
    assert [c.not_a_claim is None for c in claims] == [True, True, False, True]
    assert found[2].raw == {}
    stated = [0, 1, 0]
    for signal, first in zip([found[0], found[1], found[3]], stated, strict=True):
        for name, (generation,) in under.items():
            tokens = token_indices(claims[first].spans, generation.tokens, text=LONG)
            total = sum(generation.tokens[i].logprob for i in tokens)
            assert getattr(signal, name) == signal.raw[name] == pytest.approx(total, abs=1e-9)
        assert (signal.reason, signal.raw["faithfulness"]) == (None, signal.p_faithful)


@pytest.mark.parametrize(
    ("form", "named", "nli"),
    [
        ("long", None, 0),
        ("long", EVIDENCE, 0),
        ("long", Components("p-true", "perplexity"), 0),
        ("long", Components("faithfulness", "max-nli"), 1),
        ("short", None, 1),
        ("short", EVIDENCE, 0),
        ("short", Components("degree-jaccard", "parametric-knowledge"), 0),
    ],
)
def test_a_batch_is_what_one_by_one_gives_with_one_call_of_each_kind(form, named, nli):
    traces = [
        trace(),
        trace("Hello!"),
        trace("Rome is big.", passages=()),
        trace(told("Rome is in Italy.", -0.5, -1.0, -0.25, -2.0)),
        trace("Milan is big.", passages=(Passage("Milan is rich."),)),
    ]
    model, judge = LanguageModel(), Judge()
    found = signals_of(traces, model, form=form, named=named, judge=judge)
    alone = [signals_of([t], LanguageModel(), form=form, named=named)[0] for t in traces]
    for got, want in zip(found, alone, strict=True):
        for one, other in zip(got, want, strict=True):
            assert replace(one, raw={}) == replace(other, raw={})
            assert one.raw == pytest.approx(other.raw, abs=1e-9)
    kinds = [kind for kind, _ in judge.calls]
    assert kinds.count("score") == 1
    # one for all passages, one for the sentences that may contradict, and what the methods compare
    assert kinds.count("nli") == 2 + nli
    assert [kind for kind, _ in model.calls].count("sample") <= 1
    if (form, named) == ("long", None):
        # with the passages: all answers but the captured one; without: those that have passages
        assert model.calls == [("score", 3), ("score", 3)]
    if (form, named) == ("short", None):
        assert model.calls == [("sample", 5)]
    if named == EVIDENCE:
        assert model.calls == []


def test_without_passages_nothing_is_scored_twice():
    model = LanguageModel()
    (found,) = signals_of([trace("Rome is big.", passages=())], model)
    assert model.calls == [("score", 1)]
    (one,) = found
    assert one.uq_faith == one.uq_unfaith
    assert (one.p_faithful, one.reason) == (0.0, "no_evidence")


def test_a_server_s_numbers_are_used_and_ours_are_of_our_tokens():
    server = told("Rome is in Italy.", -0.5, -1.5, ids=False, source="server")
    model = LanguageModel()
    ((one,),) = signals_of([trace(server)], model)
    assert one.uq_faith == pytest.approx(-2.0)
    assert model.calls == [("score", 1)]
    # four words of the fake; all but "Italy" stand in the question-only prompt
    assert one.uq_unfaith == pytest.approx(3 * math.log(0.9) + math.log(0.1))


def test_reasons_by_what_is_missing():
    known = told("Rome is in Italy.", -0.5, -1.5)

    def reason(of, model=None, **options):
        ((one,),) = signals_of([of], model, **options)
        return one.reason, one.uq_faith, one.uq_unfaith

    assert reason(trace(known)) == ("no_contrast", pytest.approx(-2.0), None)
    assert reason(trace("Rome is in Italy.")) == ("no_logprobs", None, None)
    perplexity = Components("perplexity", "max-nli")
    assert reason(trace(known), named=perplexity)[:2] == (None, pytest.approx(-1.0))
    assert reason(trace(known), named=Components("p-true", "max-nli"))[0] == "no_logprobs"

    class Stuck(LanguageModel):
        def without_evidence(self, of):
            return Contrast(None, "no_contrast", 0, len(of.passages), 0.5)

    stuck = Stuck()
    assert reason(trace(known), stuck) == ("no_contrast", pytest.approx(-2.0), None)
    assert stuck.calls == []
    assert reason(trace(known, prompt_seen=False), LanguageModel())[0] == "no_prompt"
    assert reason(trace(known, passages=(), prompt_seen=False), LanguageModel())[0] == "no_evidence"


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ((Token(0, 0, 5, -0.5), Token(1, 5, 13, math.nan)), None),
        ((Token(0, 0, 13, 2e-3),), None),
        ((Token(0, 0, 13, 9e-4),), 0.0),  # rounding
        ((Token(0, 0, 13, -math.inf),), -math.inf),
        ((Token(1, 13, 13, -0.5),), None),  # nothing wrote the claim
    ],
)
@pytest.mark.parametrize("name", ["max-probability", "parametric-knowledge"])
def test_what_is_no_log_probability(tokens, expected, name):
    class Odd(FakeLanguageModel):
        def score(self, prompts, answers):
            return [replace(a, tokens=tokens) for a in answers]

    named = Components(name, "faithfulness")
    ((one,),) = signals_of([trace("Paris is big.")], Odd(), named=named)
    assert one.uq_faith == expected
    assert one.reason == ("no_logprobs" if expected is None else None)


def test_a_repeated_claim_has_the_tokens_of_the_first_with_the_default_methods():
    text = "Rome is big. Rome is also big."
    given = replace(told(text, -3.0, -3.0, -3.0, 0.0, 0.0, 0.0, 0.0), prompt=None)
    assert first_statements(RuleSplitter().split(text)) == [0, 0]
    ((first, again),) = signals_of([trace(given)], LanguageModel())
    assert first.uq_faith == again.uq_faith == -9.0
    named = Components("max-probability", "perplexity")
    ((first, again),) = signals_of([trace(given)], LanguageModel(), named=named)
    assert (first.uq_faith, first.uq_unfaith) == (-9.0, -3.0)
    assert (again.uq_faith, again.uq_unfaith) == (0.0, 0.0)  # its own tokens: see TokenRule
    earlier = [Claim("Rome is big.", ((0, 12),))]
    (second,) = RuleSplitter().split(text)[1:]
    ((alone,),) = measure(
        DEFAULTS["long"],
        [trace(given)],
        [[second]],
        Models(LanguageModel(), Judge()),
        form="long",
        clock=Clock(None),
        earlier=[earlier],
    )
    assert alone.uq_faith == -9.0


def sampled(text, *logprobs):
    size = len(text)
    tokens = tuple(Token(i, 0 if i == 0 else size, size, p) for i, p in enumerate(logprobs))
    return Generation(text, tokens, source="captured")


def test_short_form_by_hand():
    # Two texts of one meaning, log p -1 and -2, drawn 2 and 1 times:
    # class probability e^-1 + e^-2 = e^-1 (1 + e^-1); SE = 1 - log(1 + 1/e)
    samples = (sampled("Paris", -1.0), sampled(" Paris", -0.5, -0.5), sampled("it is Paris", -2.0))
    ((got,),) = signals_of([trace("Paris", samples=samples)], form="short")
    entropy = 1 - math.log(1 + math.exp(-1))
    assert got.raw["semantic_entropy"] == pytest.approx(entropy)
    assert got.uq_faith == got.raw["uq_faith"] == pytest.approx(math.exp(-entropy))
    # W = [[1, 1, .8], [1, 1, .8], [.8, .8, 1]]; row sums 2.8, 2.8, 2.6; W - D^.5..: eigenvalues of
    # D^-1/2 W D^-1/2 are 1, 0 and trace - 1 = 1/2.8 + 1/2.8 + 1/2.6 - 1
    eigenvalues = 1 + (2 / 2.8 + 1 / 2.6 - 1)
    assert got.raw["sum_of_eigenvalues"] == pytest.approx(eigenvalues)
    assert got.uq_unfaith == got.raw["uq_unfaith"] == pytest.approx(1 - (eigenvalues - 1) / 2)
    assert set(got.raw) == {
        "faithfulness", "uq_faith", "uq_unfaith", "semantic_entropy", "sum_of_eigenvalues",
        "entailment", "contradiction",
    }  # fmt: skip


@pytest.mark.parametrize("named", [None, Components("degree-jaccard", "monte-carlo-entropy")])
def test_short_form_needs_two_samples_with_known_probabilities(named):
    batch = [
        (sampled("Paris", -1.0),),
        (),
        (sampled("Paris", -1.0), sampled("Rome", math.nan)),
        (sampled("Paris", -1.0), Generation("Rome")),
        (sampled("Paris", -1.0), sampled("Rome", -2.0)),
    ]
    traces = [trace("Paris", samples=samples) for samples in batch]
    found = signals_of(traces, form="short", named=named)
    assert [one.reason for (one,) in found] == ["no_logprobs"] * 4 + [None]
    assert [one.uq_faith is None for (one,) in found] == [True] * 4 + [False]
    of_passages = {"faithfulness", "entailment", "contradiction"}
    assert all(set(one.raw) == of_passages for (one,) in found[:4])


def test_a_model_that_leaves_a_sample_without_probabilities_measures_nothing():
    class Silent(FakeLanguageModel):
        def score(self, prompts, answers):
            return [replace(a, tokens=(Token(0, 0, len(a.text), math.nan),)) for a in answers]

    samples = (Generation("Paris"), Generation("Rome"))
    ((one,),) = signals_of([trace("Paris", samples=samples)], Silent(), form="short")
    assert (one.uq_faith, one.uq_unfaith, one.reason) == (None, None, "no_logprobs")


def test_given_samples_are_scored_where_they_lack_probabilities_all_in_one_call():
    model = LanguageModel()
    bare = (Generation("Paris"), Generation("Rome"))
    known = (sampled("Paris", -1.0), sampled("Rome", -2.0))
    found = signals_of([trace("A", samples=s) for s in (bare, known, bare)], model, form="short")
    assert model.calls == [("score", 4)]
    assert found[0][0].uq_faith == found[2][0].uq_faith != found[1][0].uq_faith


def test_short_raw_names_by_title_and_by_name_where_titles_are_alike():
    model = LanguageModel()

    def names(*pair):
        ((one,),) = signals_of([trace("Rome")], model, form="short", named=Components(*pair))
        of_passages = {"faithfulness", "entailment", "contradiction"}
        return set(one.raw) - {*of_passages, "uq_faith", "uq_unfaith"}

    assert names("degree-jaccard", "max-probability") == {
        "degree_matrix",
        "max_sequence_claim_probability",
    }
    assert names("degree-jaccard", "degree-entail") == {"degree_jaccard", "degree_entail"}


def test_stages_are_told_apart():
    clock = Clock(None)
    signals_of([trace()], LanguageModel(), clock=clock)
    assert set(clock.timings) == {"faithfulness", "language_model", "uncertainty"}
    clock = Clock(None)
    signals_of([trace("Rome")], LanguageModel(), form="short", clock=clock)
    assert set(clock.timings) == {"faithfulness", "samples", "uncertainty"}
