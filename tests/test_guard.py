"""The flow on fakes: what is computed once, what failures turn into, whose result is whose."""

import asyncio
import math
import re
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from franq_guard import Generation, Guard, Passage, Policy, Token, Trace
from franq_guard.calibration.store import Calibrator, Knots
from franq_guard.claims import RuleSplitter
from franq_guard.report.counts import summary
from franq_guard.rows.frame import claim_table
from franq_guard.signals.clock import Clock
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

QUESTION = "Where is Rome?"
PASSAGES = ["Rome is the capital of Italy."]


class Counting(FakeLanguageModel):
    def __init__(self, **options):
        super().__init__(**options)
        self.calls = []

    def score(self, prompts, answers):
        self.calls.append(len(prompts))
        return super().score(prompts, answers)


def guard_of(**options):
    """A guard that reads every answer with its language model, whoever wrote it."""
    options.setdefault("language_model", FakeLanguageModel())
    options.setdefault("faithfulness", FakeFaithfulness())
    form = options.get("form", "long")
    if form in ("long", "short"):
        options.setdefault("franq", Calibrator.uncalibrated(form=form))
    return Guard(**options)


def captured(text, logprob=-0.1, prompt="p"):
    tokens = (Token(1, 0, len(text), logprob),)
    return Generation(text, tokens, prompt=prompt, source="captured")


def test_numbers_of_one_claim_by_hand():
    # Fakes: with the passages in the prompt every word of the claim is known (p 0.9), without them
    # "Rome" and "is" stand in the question and in the system text's words or not at all.
    answer = "Rome is the capital of Italy."
    (verdict,) = guard_of().check(QUESTION, PASSAGES, answer).verdicts
    assert verdict.p_faithful == 1.0
    assert verdict.raw["uq_faith"] == pytest.approx(6 * math.log(0.9))
    # P(faithful) = 1: P(true) is UQ_faith alone, exp(6 log 0.9) = 0.9 ** 6 = 0.531441
    assert verdict.p_true == pytest.approx(0.531441)
    assert verdict.label == "supported"
    assert verdict.evidence.passage == 0


def test_captured_log_probabilities_are_not_computed_again():
    model = Counting()
    trace = Trace(QUESTION, (Passage(PASSAGES[0]),), captured("Rome is in Italy."))
    (verdict,) = guard_of(language_model=model).check_trace(trace).verdicts
    assert model.calls == [1]  # the pass without evidence only
    assert verdict.raw["uq_faith"] == pytest.approx(-0.1)


def test_without_log_probabilities_there_are_two_passes_for_a_whole_batch():
    model = Counting()
    traces = [Trace(QUESTION, (Passage(PASSAGES[0]),), Generation("Rome is big."))] * 5
    list(guard_of(language_model=model).check_many(traces))
    assert model.calls == [5, 5]


def test_no_passages_the_parametric_branch_decides_where_it_was_captured_and_calibrated():
    knots = Knots((-10.0, 0.0), (0.0, 1.0))
    fitted = Calibrator(calibration="condition", faith=knots, unfaith=knots)
    trace = Trace(QUESTION, (), captured("Rome is in Italy.", -3.0))
    (verdict,) = guard_of(franq=fitted).check_trace(trace).verdicts
    assert verdict.p_faithful == 0.0
    assert verdict.reason == "no_evidence"
    # from log p -10 to 0 the curve rises from 0 to 1: 0.7 at -3
    assert verdict.raw["uq_unfaith"] == -3.0
    assert verdict.p_true == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("generation", "calibration"),
    [(Generation("Rome is in Italy."), "condition"), (captured("Rome is in Italy."), "none")],
)
def test_no_passages_and_nothing_to_go_by_is_unverified(generation, calibration):
    knots = None if calibration == "none" else Knots((-10.0, 0.0), (0.0, 1.0))
    franq = Calibrator(calibration=calibration, faith=knots, unfaith=knots)
    result = guard_of(franq=franq).check_trace(Trace(QUESTION, (), generation))
    (verdict,) = result.verdicts
    assert (verdict.p_true, verdict.label, verdict.reason) == (None, "unverified", "no_evidence")
    assert (result.status, result.likelihoods) == ("unverified", "none")


def test_no_passages_come_before_whatever_else_is_missing():
    # Without a model UQ_faith lacks its contrast, but P(faithful) is 0, so P(true) would be
    # UQ_unfaith alone: exp(-0.3) = .74.
    given = {"uq_faith": "parametric-knowledge", "uq_unfaith": "max-probability"}
    guard = guard_of(language_model=None, **given)
    trace = Trace(QUESTION, (), captured("Rome is in Italy.", -0.3))
    (verdict,) = guard.check_trace(trace).verdicts
    assert (verdict.p_true, verdict.label, verdict.reason) == (None, "unverified", "no_evidence")


def test_blank_passages_are_no_evidence():
    (verdict,) = guard_of().check(QUESTION, ["  ", "\n"], "Rome is in Italy.").verdicts
    assert verdict.reason == "no_evidence"


@pytest.mark.parametrize("value", [math.nan, -math.inf])
def test_unknown_log_probabilities_are_scored_again(value):
    trace = Trace(QUESTION, (Passage(PASSAGES[0]),), captured("Rome is in Italy.", value))
    (verdict,) = guard_of().check_trace(trace).verdicts
    assert math.isfinite(verdict.raw["uq_faith"])
    assert verdict.p_true is not None


def test_without_a_language_model_captured_numbers_lack_their_contrast():
    guard = guard_of(language_model=None)
    trace = Trace(QUESTION, (Passage(PASSAGES[0]),), captured("Rome is in London."))
    (verdict,) = guard.check_trace(trace).verdicts
    assert (verdict.label, verdict.reason) == ("unverified", "no_contrast")
    (verdict,) = guard.check(QUESTION, PASSAGES, "Rome is in London.").verdicts
    assert (verdict.label, verdict.reason) == ("unverified", "no_logprobs")


def test_a_failure_costs_its_own_answer_only():
    def fail():
        raise RuntimeError("out of memory")

    class Picky(FakeFaithfulness):
        def score(self, contexts, claims):
            if any("bad" in c for c in contexts):
                fail()
            return super().score(contexts, claims)

    traces = [
        Trace(QUESTION, (Passage(text),), Generation("Rome is in Italy."))
        for text in ("a", "bad", "c")
    ]
    results = list(guard_of(faithfulness=Picky()).check_many(traces))
    assert [r.status for r in results] == ["ok", "unverified", "ok"]
    assert results[1].verdicts[0].reason == "error"
    assert results[1].text == "Rome is in Italy [unverified]."


def test_closed_policy_blocks_what_could_not_be_checked():
    def fail():
        raise OSError("unreachable")

    guard = guard_of(
        language_model=FakeLanguageModel(fail=fail),
        policy=Policy(action="block", on_error="closed", replacement="No."),
    )
    assert guard.check(QUESTION, PASSAGES, "Rome is in Italy.").text == "No."


@pytest.mark.parametrize("on_error", ["open", "closed"])
def test_an_answer_names_all_claims_that_its_policy_acts_against(on_error):
    policy = Policy(action="filter", weak=("false",), on_error=on_error)
    answer = guard_of(deadline=1e-9, policy=policy).check(QUESTION, PASSAGES, "Rome is in Italy.")
    assert answer.flagged == tuple(filter(policy.is_weak, answer.verdicts))
    assert len(answer.flagged) == (on_error == "closed")
    assert [row["flagged"] for row in claim_table([answer])] == [on_error == "closed"]
    assert summary(answer) == "none of 1 claim checked, none flagged"  # these are counted apart


def test_a_model_that_cannot_be_loaded_makes_claims_unverified():
    def load():
        raise RuntimeError("no weights")

    result = guard_of(language_model=load).check(QUESTION, PASSAGES, "Rome is in Italy.")
    assert result.status == "unverified"


def test_deadline_turns_into_timeout():
    guard = guard_of(deadline=1e-9)
    (verdict,) = guard.check(QUESTION, PASSAGES, "Rome is in Italy.").verdicts
    assert (verdict.label, verdict.reason) == ("unverified", "timeout")


def test_failing_action_falls_back_to_on_error():
    def action(answer, verdicts):
        raise KeyError("mine")

    policy = Policy(action=action)
    # open: as annotate would have shown it
    text = guard_of(policy=policy).check(QUESTION, PASSAGES, "Bears eat fish.").text
    assert text == "Bears eat fish [likely false]."
    closed = Policy(action=action, on_error="closed")
    text = guard_of(policy=closed).check(QUESTION, PASSAGES, "Bears eat fish.").text
    assert text == closed.replacement


def test_empty_answer_is_unverified_and_comes_back():
    result = guard_of().check(QUESTION, PASSAGES, "  ")
    assert (result.status, result.verdicts, result.text) == ("unverified", (), "  ")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("", PASSAGES, "a"), ValueError),
        (("q", "one string", "a"), TypeError),
        (("q", [1], "a"), ValueError),
        (("q", [], None), TypeError),
    ],
)
def test_misuse_raises(arguments, error):
    with pytest.raises(error):
        guard_of().check(*arguments)


@pytest.mark.parametrize(
    "wrong",
    [
        {"form": "medium"},
        {"deadline": 0},
        {"form": "short", "n_samples": 1},
        {"n_samples": 0},
        {"n_samples": "3"},
        {"n_samples": True},
    ],
)
def test_wrong_settings_raise_at_construction(wrong):
    with pytest.raises(ValueError, match=r"form|deadline|samples"):
        guard_of(**wrong)


@pytest.mark.parametrize(
    "wrong", [{"strict": "x"}, {"evidence": 0}, {"deadline": "3"}, {"temperature": "1"}]
)
def test_settings_of_another_kind_are_named(wrong):
    (name, value), *_ = wrong.items()
    with pytest.raises(TypeError, match=f"{name} must be .*, not {value!r}"):
        guard_of(**wrong)


@pytest.mark.parametrize(
    "answer",
    [
        "\ud800 lone",
        "a\x00b\x07c.",
        "👩‍👩‍👧‍👦 is a family.",
        "Рим — столица Италии.",
        "ローマは首都です。",
        "word " * 2000,
    ],
)
def test_any_text_is_answered(answer):
    result = guard_of().check(QUESTION, PASSAGES, answer)
    assert result.original == answer


def test_given_claims_are_checked_as_given():
    from franq_guard.rows import trace_from_dict

    row = {"question": "q", "passages": ["p"], "answer": "A is B. C is D."}
    trace = trace_from_dict(row | {"claims": [{"text": "C is D.", "spans": [[8, 15]]}]})
    given, rest = guard_of().check_trace(trace).verdicts
    assert given.claim.spans == ((8, 15),)
    assert rest.claim.text == row["answer"]  # one sentence: "B." may be an abbreviation


def test_a_given_calibrator_enters_the_formula():
    knots = Knots((-10.0, 0.0), (0.25, 0.25))
    calibrator = Calibrator(calibration="global", faith=knots, unfaith=knots, name="flat")
    result = guard_of(franq=calibrator).check(QUESTION, PASSAGES, "Rome is in Italy.")
    # both branches are 0.25 everywhere, so is any mixture of them
    assert result.verdicts[0].p_true == pytest.approx(0.25)
    assert result.calibrator == "flat"


def test_uncalibrated_is_said():
    assert guard_of().check(QUESTION, PASSAGES, "Rome is big.").calibrator == "uncalibrated"


def test_using_swaps_the_language_model_only():
    loaded = []

    def judge():
        loaded.append(1)
        return FakeFaithfulness()

    options = {"uq_faith": "perplexity", "n_samples": 3, "deadline": 60.0, "strict": True}
    guard = guard_of(faithfulness=judge, policy=Policy(action="filter"), **options)
    other = guard.using(language_model=FakeLanguageModel(known=0.5))
    assert other.faithfulness is guard.faithfulness
    assert loaded == [1]
    assert other.language_model is not guard.language_model
    for name in ("policy", "claims", "form", "components", "n_samples", "deadline", "strict"):
        assert getattr(other, name) == getattr(guard, name)


def test_check_many_is_lazy_ordered_and_reports_progress():
    seen = []

    def traces():
        for i in range(10):
            seen.append(i)
            yield Trace(QUESTION, (), Generation(f"Number {i} is good."), id=str(i))

    done = []
    results = guard_of().check_many(traces(), batch_size=4, progress=done.append)
    assert next(results).id == "0"
    assert seen == [0, 1, 2, 3]
    assert [r.id for r in results] == [str(i) for i in range(1, 10)]
    assert done == [4, 8, 10]


def test_one_guard_serves_many_threads_and_tasks():
    guard = guard_of()

    def run(i):
        result = guard.check(QUESTION, [f"Town {i} lies in Italy."], f"Town {i} lies in Italy.")
        return (
            result.original == f"Town {i} lies in Italy." and result.verdicts[0].p_faithful == 1.0
        )

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(run, range(100)))

    async def gather():
        return await asyncio.gather(
            *(guard.acheck(QUESTION, [f"{i}"], f"It is {i}.") for i in range(50))
        )

    results = asyncio.run(gather())
    assert [r.original for r in results] == [f"It is {i}." for i in range(50)]


def test_models_given_as_functions_load_once():
    loaded = []

    def load():
        loaded.append(1)
        return FakeLanguageModel()

    guard = guard_of(language_model=load)
    assert not loaded
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: guard.check(QUESTION, PASSAGES, "Rome is big."), range(16)))
    assert loaded == [1]


def test_short_form_takes_given_samples_and_one_claim():
    def sample(text, logprob):
        return Generation(text, (Token(1, 0, len(text), logprob),), source="server")

    samples = tuple(sample("Rome", -0.5) for _ in range(4))
    trace = Trace("Capital?", (Passage("Capital of Italy: Rome"),), Generation("Rome"), samples)
    (verdict,) = guard_of(form="short").check_trace(trace).verdicts
    # four times the same text: one class with its log-probability counted once, so the entropy is
    # 0.5 nats and UQ_faith exp(-0.5); one eigenvalue carries all, so UQ_unfaith is 1
    assert verdict.raw["uq_faith"] == pytest.approx(math.exp(-0.5))
    assert verdict.raw["uq_unfaith"] == pytest.approx(1.0)
    assert verdict.claim.text == "Rome"
    assert verdict.p_faithful == 1.0  # "Capital? Rome": both words stand in the passage


def test_short_form_with_one_sample_is_unverified():
    trace = Trace("Q?", (Passage("P"),), Generation("Rome"), (Generation("Rome"),))
    (verdict,) = guard_of(form="short").check_trace(trace).verdicts
    assert (verdict.label, verdict.reason) == ("unverified", "no_logprobs")


def test_short_form_draws_samples_and_shows_their_time():
    result = guard_of(form="short", n_samples=3).check("Capital?", PASSAGES, "Rome")
    assert "samples" in result.timings


def test_auto_form_reads_a_single_claim_with_its_question():
    guard = guard_of(form="auto")
    short = guard.check(QUESTION, PASSAGES, "Rome is in Italy.")
    # of "where is rome in italy" three of five words stand in the passage
    assert [v.p_faithful for v in short.verdicts] == [pytest.approx(3 / 5)]
    long = guard.check(QUESTION, PASSAGES, "Rome is in Italy. Paris is in France.")
    # "rome is in italy": three of four; "paris is in france": one of four
    assert [v.p_faithful for v in long.verdicts] == [pytest.approx(3 / 4), pytest.approx(1 / 4)]
    assert "samples" not in {**short.timings, **long.timings}


def test_named_methods_may_change_places():
    answer = "Rome is in Italy. Paris is in France."
    plain = guard_of().check(QUESTION, PASSAGES, answer)
    swapped = guard_of(uq_faith="parametric-knowledge", uq_unfaith="max-probability")
    named = swapped.check(QUESTION, PASSAGES, answer)
    for one, other in zip(plain.verdicts, named.verdicts, strict=True):
        assert other.raw["uq_faith"] == pytest.approx(one.raw["uq_unfaith"])
        assert other.raw["uq_unfaith"] == pytest.approx(one.raw["uq_faith"])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"uq_faith": "luck"}, "no method 'luck'"),
        ({"uq_faith": "semantic-entropy"}, "does not apply to long-form"),
        ({"form": "auto", "uq_faith": "perplexity"}, "auto"),
    ],
)
def test_wrong_components_raise_at_construction(wrong, message):
    with pytest.raises(ValueError, match=message):
        guard_of(**wrong)


def test_an_exact_prompt_without_evidence_wins():
    model = FakeLanguageModel()
    plain = Trace(QUESTION, (Passage(PASSAGES[0]),), Generation("Rome is in Italy."))
    exact = Trace(QUESTION, plain.passages, plain.generation, contrast_prompt="Rome is in Italy")
    guard = guard_of(language_model=model)
    (verdict,) = guard.check_trace(exact).verdicts
    # all four words stand in that prompt, so each has p 0.9 in the fake
    assert verdict.raw["uq_unfaith"] == pytest.approx(4 * math.log(0.9))
    assert guard.check_trace(plain).verdicts[0].raw["uq_unfaith"] < verdict.raw["uq_unfaith"]


def test_using_the_network_it_has_is_the_guard_itself():
    class Wrapped(FakeLanguageModel):
        def __init__(self, model):
            super().__init__()
            self.model = model

    network = object()
    guard = guard_of(language_model=Wrapped(network))
    assert guard.using(language_model=Wrapped(network)) is guard
    assert guard.using(language_model=Wrapped(object())) is not guard


def test_a_repetition_is_judged_where_it_was_first_stated():
    # second time round the model copies itself with certainty (log p 0)
    text = "Rome is big. Rome is big."
    tokens = (Token(1, 0, 12, -3.0), Token(2, 12, 25, 0.0))
    trace = Trace(QUESTION, (Passage(PASSAGES[0]),), Generation(text, tokens, source="captured"))
    first, again = guard_of().check_trace(trace).verdicts
    assert first.raw["uq_faith"] == again.raw["uq_faith"] == -3.0
    assert first.p_true == again.p_true
    assert first.claim.spans != again.claim.spans


@pytest.mark.parametrize(
    "wrong",
    [
        {"policy": "filter"},
        {"policy": SimpleNamespace(apply=str)},
        {"faithfulness": None},
        {"language_model": "gpt2"},
        {"claims": "rules"},
        {"claims": RuleSplitter},
        {"franq": "mine.json"},
        {"franq": Calibrator},
    ],
)
def test_names_and_classes_where_objects_are_wanted_raise_at_construction(wrong):
    with pytest.raises(TypeError, match=next(iter(wrong))):
        guard_of(**wrong)


def test_the_class_of_a_model_loads_it():
    guard = guard_of(faithfulness=FakeFaithfulness, language_model=FakeLanguageModel)
    assert guard.loaded_language_model is None
    assert guard.check(QUESTION, PASSAGES, "Rome is old.").status == "ok"
    assert isinstance(guard.loaded_language_model, FakeLanguageModel)


def test_a_temperature_of_0_gives_no_samples_to_compare():
    with pytest.raises(ValueError, match="temperature must be a number above 0"):
        guard_of(form="short", temperature=0.0)


def test_a_calibrator_of_the_other_form_raises_at_construction():
    knots = Knots((-1.0, 0.0), (0.2, 0.8))
    calibrator = Calibrator(calibration="global", faith=knots, unfaith=knots, form="long")
    with pytest.raises(ValueError, match=r"give the guard that form \(--form long\)"):
        guard_of(form="short", franq=calibrator)


def test_a_calibrator_fitted_for_other_methods_is_warned_of_or_refused(caplog):
    knots = Knots((-10.0, 0.0), (0.25, 0.75))
    fitted = guard_of().fingerprint
    calibrator = Calibrator(calibration="global", faith=knots, unfaith=knots, fingerprint=fitted)
    assert guard_of(franq=calibrator, strict=True).calibrator is calibrator
    other = {"franq": calibrator, "uq_faith": "perplexity"}
    guard_of(**other).check(QUESTION, PASSAGES, "Rome is big.")
    assert "perplexity" in caplog.text
    with pytest.raises(ValueError, match="perplexity"):
        guard_of(**other, strict=True).calibrator  # noqa: B018
    result = guard_of(**other, strict=True).check(QUESTION, PASSAGES, "Rome is big.")
    assert result.status == "unverified"


def test_a_calibrator_fitted_for_other_samples_is_warned_of_or_refused(caplog):
    knots = Knots((0.0, 1.0), (0.25, 0.75))
    drawn = {"form": "short", "n_samples": 20, "temperature": 1}
    known = guard_of(**drawn).fingerprint
    assert known["samples"] == "20 at temperature 1.0"
    named = {"calibration": "global", "form": "short", "log_space": False}
    fitted = Calibrator(**named, faith=knots, unfaith=knots, fingerprint=known, name="mine")
    assert guard_of(**drawn, franq=fitted, strict=True).calibrator is fitted
    assert caplog.text == ""
    told = "fitted for '20 at temperature 1.0', used with '{}'.*--samples and --temperature"
    for other, used in (
        ({"n_samples": 10}, "10 at temperature 1.0"),
        ({"temperature": 0.5}, "20 at temperature 0.5"),
    ):
        caplog.clear()
        assert guard_of(**{**drawn, **other}, franq=fitted).calibrator is fitted
        assert re.search(told.format(used), caplog.text)
        with pytest.raises(ValueError, match=told.format(used)):
            guard_of(**{**drawn, **other}, franq=fitted, strict=True).calibrator  # noqa: B018
    # No method of these is computed from samples.
    for without in ({"form": "long"}, {"form": "short", "uq_faith": "perplexity",
                                       "uq_unfaith": "parametric-knowledge"}):  # fmt: skip
        assert "samples" not in guard_of(**without).fingerprint


@pytest.mark.parametrize("value", [math.inf, 5.0])
def test_a_positive_log_probability_is_believed_by_nobody(value):
    class Broken(FakeLanguageModel):
        def score(self, prompts, answers):
            return [Generation(a.text, (Token(1, 0, len(a.text), value),)) for a in answers]

    (verdict,) = guard_of(language_model=Broken()).check(QUESTION, PASSAGES, "Rome.").verdicts
    assert verdict.label == "unverified"


@pytest.mark.parametrize(("score", "expected"), [(1.0000001, 1.0), (math.nan, None)])
def test_faithfulness_beyond_rounding_or_no_number(score, expected):
    class Odd(FakeFaithfulness):
        def score(self, contexts, claims):
            return [score] * len(claims)

    (verdict,) = guard_of(faithfulness=Odd()).check(QUESTION, PASSAGES, "Rome is big.").verdicts
    assert verdict.p_faithful == expected
    assert (verdict.label == "unverified") == (expected is None)


def test_a_servers_log_probabilities_get_no_shipped_calibrator():
    trace = Trace(
        QUESTION,
        (Passage(PASSAGES[0]),),
        Generation("Rome is big.", (Token(-1, 0, 12, -0.1),), source="server"),
    )
    assert guard_of().check_trace(trace).calibrator == "uncalibrated"


def test_loading_is_not_on_the_deadline_and_fails_once_a_batch(monkeypatch):
    order = []

    def load():
        order.append("loaded")
        return FakeLanguageModel()

    def clock(deadline):
        order.append("clock")
        return Clock(deadline)

    monkeypatch.setattr("franq_guard.guard.Clock", clock)
    guard = guard_of(language_model=load, deadline=30.0)
    assert guard.check(QUESTION, PASSAGES, "Rome is big.").status == "ok"
    assert order == ["loaded", "clock"]
    tried = []

    def broken():
        tried.append(1)
        raise RuntimeError("no weights")

    traces = [Trace(QUESTION, (), Generation("Rome is big."))] * 6
    results = list(guard_of(language_model=broken).check_many(traces, batch_size=6))
    assert {r.status for r in results} == {"unverified"}
    assert tried == [1]


def test_named_methods_say_why_they_could_not_be_measured():
    guard = guard_of(language_model=None, uq_faith="perplexity")
    (verdict,) = guard.check(QUESTION, PASSAGES, "Rome is big.").verdicts
    assert (verdict.label, verdict.reason) == ("unverified", "no_logprobs")


def test_wrong_traces_and_batch_sizes_raise_at_once():
    with pytest.raises(TypeError, match="Trace"):
        guard_of().check_trace({"question": "q"})
    with pytest.raises(ValueError, match="batch_size"):
        guard_of().check_many([], batch_size=0)
    with pytest.raises(TypeError, match="passages"):
        guard_of().check("q", None, "a")
