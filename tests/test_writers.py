"""Whose answer gets which calibrator, and what runs for it."""

import copy
import logging
import math
from dataclasses import replace

import numpy as np
import pytest

from franq_guard import Claim, Generation, Guard, Passage, Policy, Token, Trace
from franq_guard.calibration import Calibrator, Knots, defaults
from franq_guard.calibration.curves import Logistic
from franq_guard.claims import RuleSplitter
from franq_guard.records import Evidence
from franq_guard.rows import trace_from_dict
from franq_guard.signals.choice import Choice
from franq_guard.signals.components import DEFAULTS, EVIDENCE, Components
from franq_guard.signals.components import OWN as OWN_METHODS
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

QUESTION = "Where is Rome?"
PASSAGES = (Passage("Rome is the capital of Italy."), Passage("It lies on the Tiber. It is old."))
TEXT = "Rome is the capital of Italy."
OWN = FakeLanguageModel.fingerprint


def refuse():
    raise AssertionError("the language model was loaded")


class Unread(FakeLanguageModel):
    """Refuses to read."""

    def score(self, prompts, answers):
        refuse()


def written(text=TEXT, source="captured", writer=OWN, logprob=-1.0):
    # its entropy is that of a uniform choice among 1/p tokens
    tokens = (Token(1, 0, len(text), logprob, -logprob),) if source != "none" else ()
    return Generation(text, tokens, prompt="p", source=source, writer=writer)


def trace(generation=None, passages=PASSAGES, **options):
    return Trace(QUESTION, passages, generation or Generation(TEXT), **options)


def guard_of(**options):
    options.setdefault("language_model", FakeLanguageModel())
    return Guard(faithfulness=FakeFaithfulness(), **options)


def fitted(name="own", **fingerprint):
    """As if fitted on what the fake model wrote."""
    knots = Knots((-10.0, 0.0), (0.0, 1.0))
    known = {**guard_of().fingerprint, "writer": OWN, "source": "captured", **fingerprint}
    return Calibrator(
        calibration="condition", faith=knots, unfaith=knots, fingerprint=known, name=name
    )


def for_any(form="long"):
    made = Calibrator.evidence(form=form)
    known = {
        **made.fingerprint,
        "faithfulness": "fake-faithfulness",
        "claims": RuleSplitter().fingerprint,
    }
    return replace(made, fingerprint=known, name=f"any {form}")


@pytest.fixture
def shipped(monkeypatch):
    """One calibrator for the fake model's own answers, one for any writer."""
    monkeypatch.setattr(defaults, "shipped", lambda: (for_any(), for_any("short"), fitted()))


CASES = {
    "captured by its own model": (written(), "own", f"captured from {OWN}"),
    "captured by another model": (written(writer="other"), "any long", "none"),
    "captured, nobody knows from whom": (written(writer=None), "any long", "none"),
    "told by a server": (written(source="server"), "any long", "none"),
    "read again": (written(source="teacher-forced", writer=None), "any long", "none"),
    "given": (written(source="none", writer=None), "any long", "none"),
    "given, its writer named": (written(source="none"), "any long", "none"),
}


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize(("generation", "name", "likelihoods"), CASES.values(), ids=CASES)
def test_the_calibrator_is_the_writers(generation, name, likelihoods):
    result = guard_of().check_trace(trace(generation))
    assert (result.calibrator, result.likelihoods) == (name, likelihoods)
    assert result.to_dict()["likelihoods"] == likelihoods


def test_evidence_alone_can_be_for_one_writer_and_loads_no_language_model(monkeypatch):
    knots = Knots((0.0,), (0.75,)), Knots((0.0,), (0.25,))
    known = {**for_any().fingerprint, "writer": OWN}
    own = replace(for_any(), faith=knots[0], unfaith=knots[1], fingerprint=known, name="own long")
    monkeypatch.setattr(defaults, "shipped", lambda: (for_any(), own))
    guard = guard_of(language_model=refuse)
    for generation, name, p_true in (
        (written(), "own long", 0.75),  # P(faithful) is 1
        (written(source="none"), "own long", 0.75),
        (written(writer="other"), "any long", 0.95),
        (written(writer=None), "any long", 0.95),
    ):
        result = guard.check_trace(trace(generation))
        assert (result.calibrator, result.likelihoods) == (name, "none")
        assert result.verdicts[0].p_true == pytest.approx(p_true)
    batch = guard.check_many([trace(written()), trace(), trace(written())], batch_size=3)
    assert [result.calibrator for result in batch] == ["own long", "any long", "own long"]


def of_the_answer(form="long", **methods):
    """As shipped for the bundled model: its own confidence decides, and no model reads for it."""
    known = {**for_any(form).fingerprint, "writer": OWN, "source": "captured"}
    known |= {"language_model": "any", "prompt": "any", "methods": OWN_METHODS.methods, **methods}
    # UQ_faith at entropy 1: sigmoid(ln 3) = .75; UQ_unfaith: sigmoid(0) = .5
    curves = (
        Logistic(math.log(3), 2.0, mean=-1.0, scale=1.0, floor=0.0, lowest=-9.0),
        Logistic(0.0, 0.0, mean=0.0, scale=1.0, floor=0.0, lowest=-9.0),
    )
    return Calibrator(
        calibration="learned",
        form=form,
        faith=curves[0],
        unfaith=curves[1],
        fingerprint=known,
        name=f"own {form}",
        labels=for_any(form).labels,
    )


def test_the_writers_own_confidence_comes_with_the_answer_and_loads_no_model(monkeypatch):
    monkeypatch.setattr(defaults, "shipped", lambda: (for_any(), of_the_answer()))
    for model in (refuse, None):
        guard = guard_of(language_model=model)
        result = guard.check_trace(trace(written(logprob=-1.0)))
        assert (result.calibrator, result.likelihoods) == ("own long", f"captured from {OWN}")
        # P(faithful) 1 counts as .98: .98 * .75 + .02 * .5
        assert result.verdicts[0].p_true == pytest.approx(0.745)
        assert result.verdicts[0].raw["uq_faith"] == -1.0
        assert guard.loaded_language_model is None
    # sigmoid(ln 3 - 2) = .288...: less sure, less likely true
    unsure = guard.check_trace(trace(written(logprob=-2.0))).verdicts[0].p_true
    assert unsure == pytest.approx(0.98 * 3 / (3 + math.e**2) + 0.01)


def test_what_does_not_bring_the_writers_confidence_is_judged_by_the_passages(monkeypatch):
    monkeypatch.setattr(defaults, "shipped", lambda: (for_any(), of_the_answer()))
    guard = guard_of(language_model=refuse)
    for generation in (
        written(logprob=math.nan),
        replace(written(), tokens=()),
        written(source="none"),
        written(source="server"),
        written(writer="other"),
    ):
        assert guard.check_trace(trace(generation)).calibrator == "any long"
    entropies = of_the_answer(methods="mean-token-entropy + mean-token-entropy")
    monkeypatch.setattr(defaults, "shipped", lambda: (for_any(), entropies))
    token = replace(written().tokens[0], entropy=None)
    for tokens, name in (((token,), "any long"), (written().tokens, "own long")):
        answer = replace(written(), tokens=tokens)
        assert guard_of(language_model=refuse).check_trace(trace(answer)).calibrator == name


def test_methods_by_name_go_before_those_of_the_writers_calibrator(monkeypatch):
    monkeypatch.setattr(defaults, "shipped", lambda: (for_any(), of_the_answer()))
    by_name = {"uq_faith": OWN_METHODS.uq_faith, "uq_unfaith": OWN_METHODS.uq_unfaith}
    assert guard_of(**by_name).check_trace(trace(written())).calibrator == "own long"
    assert guard_of(**by_name, language_model=refuse).check_trace(trace(written())).status == "ok"
    other = guard_of(uq_faith="perplexity").check_trace(trace(written()))
    assert other.calibrator == "uncalibrated"


def test_a_claim_stated_again_has_the_confidence_of_its_first_statement(monkeypatch):
    monkeypatch.setattr(defaults, "shipped", lambda: (for_any(), of_the_answer()))
    first, text = "Rome is the capital of Italy.", "Rome is the capital of Italy. It is old. "
    again = text + first
    tokens = (
        Token(1, 0, len(first), -3.0, 3.0),
        Token(2, len(first), len(text), -1.0, 1.0),
        Token(3, len(text), len(again), -0.01, 0.01),  # a model is sure of what it repeats
    )
    answer = replace(written(again), tokens=tokens)
    found = guard_of(language_model=refuse).check_trace(trace(answer)).verdicts
    assert [verdict.raw["uq_faith"] for verdict in found] == [-3.0, -1.0, -3.0]


@pytest.mark.usefixtures("shipped")
def test_probabilities_without_a_calibrator_are_shown_and_not_weighed():
    guard = guard_of(language_model=refuse)
    given = guard.check_trace(trace()).verdicts[0]
    assert "log_probability" not in given.raw
    for source in ("captured", "server"):
        (found,) = guard.check_trace(trace(written(source=source, writer="other"))).verdicts
        assert found.raw["log_probability"] == -1.0
        assert (found.p_true, found.label) == (given.p_true, given.label)
    unknown = guard.check_trace(trace(written(writer="other", logprob=math.nan))).verdicts[0]
    assert "log_probability" not in unknown.raw
    elsewhere = trace(written(writer="other"), claims=(Claim(TEXT, ((99, 100),)),))
    assert "log_probability" not in guard.check_trace(elsewhere).verdicts[0].raw
    # a claim stated again has the value of its first statement
    text = f"{TEXT} It is old. {TEXT}"
    ends = (0, len(TEXT), len(TEXT) + len(" It is old."), len(text))
    parts = zip(ends[:-1], ends[1:], (-3.0, -1.0, -0.01), strict=True)
    tokens = tuple(Token(i, *part) for i, part in enumerate(parts))
    again = replace(written(text, writer="other"), tokens=tokens)
    found = guard.check_trace(trace(again)).verdicts
    assert [verdict.raw["log_probability"] for verdict in found] == [-3.0, -1.0, -3.0]


def test_evidence_fitted_to_one_writer_is_warned_of_for_another(caplog):
    known = {**for_any().fingerprint, "writer": OWN}
    own = replace(for_any(), fingerprint=known, name="own long")
    guard = guard_of(franq=own, language_model=refuse)
    assert guard.check_trace(trace(written())).calibrator == "own long"
    assert caplog.text == ""
    assert guard.check_trace(trace(written(writer="other"))).calibrator == "own long"
    assert "writer: fitted for" in caplog.text


@pytest.mark.usefixtures("shipped")
def test_a_mixed_batch_is_what_one_by_one_gives_and_shares_its_calls():
    class Counting(FakeFaithfulness):
        calls = 0

        def score(self, contexts, claims):
            self.calls += 1
            return super().score(contexts, claims)

        def nli(self, premises, hypotheses):
            entailed = np.array(super().score(premises, hypotheses))
            return np.stack([entailed, 1 - entailed, 0 * entailed], axis=-1)

    judge = Counting()
    guard = Guard(language_model=FakeLanguageModel(), faithfulness=judge)
    traces = [trace(generation, id=name) for name, (generation, *_) in CASES.items()]
    together = list(guard.check_many(traces, batch_size=len(traces)))
    assert judge.calls == 2  # one for each of the two calibrators
    assert [result.id for result in together] == list(CASES)
    for result, one in zip(together, traces, strict=True):
        alone = guard.check_trace(one)
        assert replace(result, timings={}) == replace(alone, timings={})


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("form", ["long", "short", "auto"])
def test_no_language_model_is_loaded_for_an_answer_that_was_given(form):
    guard = guard_of(language_model=refuse, form=form)
    result = guard.check(QUESTION, PASSAGES, TEXT)
    assert result.verdicts[0].label == "supported"
    assert set(result.timings) == {"claims", "faithfulness", "franq"}
    assert guard.calibrator.evidence_only
    assert guard.loaded_language_model is None
    # nor for what another model wrote
    assert guard.check_trace(trace(written(writer="other"))).status == "ok"
    assert guard.loaded_language_model is None


@pytest.mark.usefixtures("shipped")
def test_a_model_that_cannot_be_had_costs_only_the_answers_that_need_it():
    tried = []

    def load():
        tried.append(1)
        raise RuntimeError("no weights")

    traces = [trace(written()), trace(), trace(written()), trace()]
    results = list(guard_of(language_model=load).check_many(traces))
    assert [r.status for r in results] == ["unverified", "ok", "unverified", "ok"]
    assert tried == [1]


@pytest.mark.usefixtures("shipped")
def test_what_another_model_than_the_one_in_use_wrote_is_any_writers():
    class Other(Unread):
        fingerprint = "other"

    assert guard_of(language_model=Other()).check_trace(trace(written())).calibrator == "any long"
    assert guard_of(language_model=None).check_trace(trace(written())).calibrator == "any long"


@pytest.mark.usefixtures("shipped")
def test_a_method_by_name_or_a_calibrator_asks_for_the_likelihoods():
    named = guard_of(uq_faith="perplexity").check_trace(trace())
    assert (named.calibrator, named.likelihoods) == ("uncalibrated", f"read by {OWN}")
    given = guard_of(franq=Calibrator.uncalibrated()).check_trace(trace())
    assert (given.calibrator, given.likelihoods) == ("uncalibrated", f"read by {OWN}")
    told = guard_of(franq=Calibrator.uncalibrated()).check_trace(trace(written(source="server")))
    assert told.likelihoods == "server"


def test_without_a_calibrator_for_the_faithfulness_model_it_is_said(caplog, monkeypatch):
    for_another = replace(for_any(), fingerprint={**for_any().fingerprint, "faithfulness": "other"})
    monkeypatch.setattr(defaults, "shipped", lambda: (fitted(faithfulness="other"), for_another))
    result = guard_of(language_model=Unread()).check_trace(trace())
    assert result.calibrator == "uncalibrated evidence"
    assert "no calibrator fits the faithfulness model: P(true) is uncalibrated" in caplog.text
    assert "--calibrator FILE (in Python: franq=)" in caplog.text
    # P(faithful) 1: .95 by the stated numbers
    assert result.verdicts[0].p_true == pytest.approx(0.95)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        # the one for any writer uses no methods: the nearest is the model's own
        ({"uq_faith": "perplexity"}, "the uncertainty methods:"),
        ({"uq_faith": "sar", "form": "short"}, "the uncertainty methods in the short form:"),
    ],
)
@pytest.mark.usefixtures("shipped")
def test_what_a_calibrator_does_not_fit_is_said_in_words(caplog, options, told):
    guard_of(**options).check_trace(trace(written()))
    assert f"no calibrator fits {told} P(true) is uncalibrated" in caplog.text
    assert "{" not in caplog.text


MIXED = {
    "writer": (fitted(), written(writer="other")),
    "source": (fitted(), written(source="server")),
    "prompt": (fitted(prompt="rag/other"), written()),
    "faithfulness": (fitted(faithfulness="other"), written()),
    "claims": (fitted(claims="other"), written()),
    "methods": (fitted(methods="perplexity + ccp"), written()),  # see BY_NAME
    "language model": (fitted(language_model="other"), written()),
}


BY_NAME = {"uq_faith": "max-probability", "uq_unfaith": "parametric-knowledge"}
"""Given beside a calibrator of other methods; without them it brings its own."""


@pytest.mark.parametrize("what", MIXED)
def test_calibrators_mixed_up_by_hand_are_warned_of_or_refused(what, caplog):
    calibrator, generation = MIXED[what]
    caplog.set_level(logging.WARNING)
    named = BY_NAME if what == "methods" else {}
    guard = guard_of(franq=calibrator, **named)
    for _ in range(2):
        assert guard.check_trace(trace(generation)).calibrator == "own"
    told = [record.message for record in caplog.records]
    assert [message.split(":")[1].strip() for message in told] == [what]
    strict = guard_of(franq=calibrator, strict=True, **named)
    with pytest.raises(ValueError, match=f"{what}: fitted for"):
        strict.calibrator_of(trace(generation))
    (verdict,) = strict.check_trace(trace(generation)).verdicts
    assert (verdict.label, verdict.reason) == ("unverified", "error")


def test_a_calibrator_brings_the_methods_that_it_was_fitted_for(caplog):
    own = fitted(methods="perplexity + max-token-entropy")
    half = len(TEXT) // 2
    tokens = (Token(1, 0, half, -1.0, 1.0), Token(2, half, len(TEXT), -3.0, 3.0))
    answer = replace(written(), tokens=tokens)
    guard = guard_of(franq=own, strict=True)
    (found,) = guard.check_trace(trace(answer)).verdicts
    # the mean of the log-probabilities, and the largest entropy
    assert (found.raw["uq_faith"], found.raw["uq_unfaith"]) == (-2.0, -3.0)
    assert (found.uq_faith, found.uq_unfaith) == pytest.approx((0.8, 0.7))  # by the line of knots
    assert guard.fingerprint["methods"] == own.fingerprint["methods"]
    assert guard.uncalibrated().fingerprint == guard.fingerprint  # for `franq calibrate --check`
    assert caplog.text == ""
    # one by name: the other one is still the calibrator's
    guard = guard_of(franq=own, uq_faith="max-probability")
    assert guard.components == Components("max-probability", "max-token-entropy")
    assert guard.check_trace(trace(answer)).verdicts[0].raw["uq_faith"] == -4.0  # their sum
    assert "used with 'max-probability + max-token-entropy'" in caplog.text


ENTROPY, SURE = "max-token-entropy", "max-probability"
NEEDED = {  # the value if the answer, one token of log-probability -2 and entropy 3, brings it
    "entropies, captured": (f"{ENTROPY} + {ENTROPY}", "captured", 1, -3.0),
    "another pair, captured": (f"perplexity + {ENTROPY}", "captured", 1, -2.0),
    "what the passages say": ("faithfulness + faithfulness", "none", -1, 0.0),  # P(faithful) 1
    "what a server told": (f"{SURE} + {SURE}", "server", -1, -2.0),
    # tokens without ids are not the model's own
    "entropies without ids": (f"{ENTROPY} + {ENTROPY}", "captured", -1, None),
    "another pair without ids": ("perplexity + perplexity", "server", -1, None),
    "what the model would say alone": (f"{SURE} + parametric-knowledge", "captured", 1, None),
}


@pytest.mark.parametrize(("methods", "source", "id", "value"), NEEDED.values(), ids=NEEDED)
def test_ones_own_calibrator_loads_no_model_for_what_comes_with_the_answer(
    methods, source, id, value, caplog, monkeypatch
):
    token = replace(written().tokens[0], id=id, logprob=-2.0, entropy=3.0)
    answer = trace(replace(written(source=source), tokens=(token,)))
    own = fitted(methods=methods, source=source)
    loaded = []
    guard = guard_of(
        franq=own, language_model=lambda: loaded.append(1) or FakeLanguageModel(), strict=True
    )
    found = guard.check_trace(answer)
    assert caplog.text == ""
    assert bool(loaded) is (value is None)
    if value is not None:
        assert found.verdicts[0].raw["uq_faith"] == value
    monkeypatch.setattr(Choice, "reads", lambda self, answer: True)
    assert found.verdicts == guard_of(franq=own).check_trace(answer).verdicts


def test_an_answer_that_lacks_something_is_read_and_the_next_one_is_not(caplog):
    own = fitted(methods=OWN_METHODS.methods, language_model="another", prompt="rag/another")
    lacking = replace(written(), tokens=(replace(written().tokens[0], entropy=None),))
    guard = guard_of(franq=own, strict=True)
    # who reads matters only where something is read
    results = list(guard.check_many([trace(written()), trace(lacking), trace(written())]))
    assert [result.status for result in results] == ["ok", "unverified", "ok"]
    assert "language model: fitted for 'another'" in caplog.text
    unread = guard_of(franq=own, strict=True, language_model=None)
    assert unread.check_trace(trace(written())).status == "ok"


def test_what_comes_with_the_answer_is_still_of_the_writer_that_a_calibrator_is_for(caplog):
    for told, answer in (
        ("writer: fitted for", written(writer="other")),
        ("source: fitted for", written(source="server")),
    ):
        caplog.clear()
        own = fitted(methods=OWN_METHODS.methods)
        guard_of(franq=own, language_model=refuse).check_trace(trace(answer))
        assert told in caplog.text
    anyones = fitted(methods=OWN_METHODS.methods, writer="any")
    caplog.clear()
    assert guard_of(franq=anyones, strict=True).check_trace(trace(written())).status == "ok"
    assert caplog.text == ""


@pytest.mark.parametrize("made", [for_any(), Calibrator.evidence()], ids=lambda c: c.name)
def test_methods_beside_a_calibrator_of_the_passages_alone_are_warned_of_or_refused(made, caplog):
    named = {"franq": made, "uq_faith": "perplexity", "language_model": refuse}
    guard = guard_of(**named)
    for generation in (written(), written(writer="other"), written(source="none")):
        assert guard.check_trace(trace(generation)).calibrator == made.name
    (told,) = [record.message for record in caplog.records]  # once
    assert "these are not measured: 'perplexity + parametric-knowledge'" in told
    assert "leave out the methods (--uq-faith, --uq-unfaith" in told
    assert "Fit one for this set-up with `franq calibrate`" in told
    strict = guard_of(**named, strict=True)
    with pytest.raises(ValueError, match=f"calibrator {made.name}: methods: .* 'perplexity"):
        strict.calibrator_of(trace(written()))
    (verdict,) = strict.check_trace(trace(written())).verdicts
    assert (verdict.label, verdict.reason) == ("unverified", "error")
    caplog.clear()
    assert guard_of(franq=made, strict=True).check_trace(trace(written())).status == "ok"
    assert caplog.text == ""


@pytest.mark.parametrize("made", [for_any(), Calibrator.uncalibrated()], ids=lambda c: c.name)
def test_a_calibrator_that_names_no_methods_leaves_those_of_the_form(made):
    assert guard_of(franq=made).components == DEFAULTS["long"]


def test_a_calibrator_for_methods_that_there_are_not_is_refused_at_once():
    for methods, told in (("own + ccp", "no method 'own'"), ("sar + sar", "'sar' does not apply")):
        with pytest.raises(ValueError, match=told):
            guard_of(franq=fitted(methods=methods))


def test_a_calibrator_that_fits_is_taken_without_a_word(caplog):
    assert guard_of(franq=fitted(), strict=True).check_trace(trace(written())).status == "ok"
    # evidence alone holds for any writer
    given = guard_of(franq=for_any(), language_model=refuse, strict=True)
    assert given.check_trace(trace(written(writer="other"))).calibrator == "any long"
    assert caplog.text == ""


@pytest.mark.usefixtures("shipped")
def test_the_short_form_of_any_writer_is_p_faithful_of_question_and_answer():
    guard = guard_of(language_model=refuse, form="short", n_samples=5)
    passages = (Passage("Capital of Italy: Rome"),)
    result = guard.check_trace(Trace("Capital of Spain?", passages, Generation("Rome")))
    (verdict,) = result.verdicts
    # "capital of spain rome": three of four words
    assert verdict.p_faithful == pytest.approx(3 / 4)
    # .75 * .95 + .25 * .5
    assert verdict.p_true == pytest.approx(0.8375)
    assert (result.calibrator, "samples" in result.timings) == ("any short", False)


@pytest.mark.usefixtures("shipped")
def test_what_the_passages_do_not_state_is_unsupported_by_the_prior():
    result = guard_of(language_model=None).check(QUESTION, PASSAGES, "Bears eat fish.")
    (verdict,) = result.verdicts
    assert (verdict.label, verdict.reason) == ("unsupported", "prior")
    assert (verdict.p_true, verdict.uq_unfaith) == (0.5, 0.5)
    assert result.text == "Bears eat fish [not in the passages]."
    assert result.verdicts[0].against is None


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("passages", [(), (Passage(" "), Passage("\n"))])
def test_without_passages_nobody_knows(passages):
    (verdict,) = guard_of().check(QUESTION, passages, TEXT).verdicts
    assert (verdict.label, verdict.reason, verdict.p_true) == ("unverified", "no_evidence", None)


ROWS = {"mayor": [0.05, 0.0, 0.95], "states": [0.9, 0.05, 0.05], "rather": [0.2, 0.25, 0.55]}


class Relations(FakeFaithfulness):
    """What ROWS have of a premise that holds a word of them; neutral otherwise."""

    def score(self, contexts, claims):
        return [self._row(c)[0] for c in contexts]

    def nli(self, premises, hypotheses):
        return np.array([self._row(premise) for premise in premises])

    def _row(self, text):
        found = [row for word, row in ROWS.items() if word in text]
        return found[0] if found else [0.0, 1.0, 0.0]


def checked(*passages, policy=None):
    guard = Guard(faithfulness=Relations(), policy=policy)
    return guard.check(QUESTION, passages, "Anna leads the town.").verdicts[0]


AGAINST = "It is warm. Since 2010 Ben is mayor. The town is old."


def test_evidence_against_a_claim_makes_it_false_and_is_shown():
    verdict = checked("Nothing is said here.", AGAINST)
    assert verdict.label == "false"
    start = AGAINST.index("Since")
    assert verdict.against == Evidence(1, start, start + len("Since 2010 Ben is mayor."), 0.95)
    words = {"text": "Since 2010 Ben is mayor."}
    assert verdict.to_dict()["against"] == {
        "passage": 1,
        "start": start,
        "end": start + 24,
        **words,
    }
    assert (verdict.raw["contradiction"], verdict.raw["entailment"]) == (0.95, 0.05)


def test_passages_that_disagree_leave_a_claim_doubtful_and_both_are_shown():
    verdict = checked("The paper states it.", AGAINST)
    assert (verdict.label, verdict.reason) == ("doubtful", "conflict")
    assert verdict.evidence is not None
    assert verdict.against.passage == 1
    # max NLI is that of the passage that states it
    assert verdict.raw["uq_faith"] == pytest.approx(0.9 / 0.95)


def test_passages_may_disagree_by_a_cut_of_their_own_and_both_are_shown():
    plain = Calibrator.evidence()
    own = replace(plain, labels=replace(plain.labels, contradiction=0.9, disagreement=0.55))
    shown = ["The paper states it.", "It is rather not so. It is warm."]
    for calibrator, expected in ((plain, ("supported", None)), (own, ("doubtful", "conflict"))):
        guard = Guard(faithfulness=Relations(), franq=calibrator)
        verdict = guard.check(QUESTION, shown, "Anna leads the town.").verdicts[0]
        assert (verdict.label, verdict.reason) == expected
    assert verdict.against.passage == 1


def test_a_weak_contradiction_is_shown_but_makes_nothing_false():
    verdict = checked("It is rather not so. It is warm.")
    assert (verdict.label, verdict.reason) == ("unsupported", "prior")
    assert (verdict.against.start, verdict.against.end) == (0, 20)


def test_no_evidence_against_is_shown_for_a_supported_claim():
    verdict = checked("The paper states it.")
    assert (verdict.label, verdict.against) == ("supported", None)


def test_a_model_with_a_score_alone_has_no_stance():
    class Plain:
        fingerprint = "plain"

        def score(self, contexts, claims):
            return [0.8] * len(claims)

        def evidence(self, passages, claims):
            return [None] * len(claims)

    result = Guard(faithfulness=Plain()).check(QUESTION, PASSAGES, TEXT)
    (verdict,) = result.verdicts
    assert verdict.label == "supported"
    assert verdict.raw == {"faithfulness": 0.8, "uq_faith": 0.8, "passages": 2.0}


def test_who_wrote_stands_in_a_row():
    row = {"question": "q", "passages": ["p"], "answer": "A b.", "writer": OWN}
    token = {"start": 0, "end": 4, "logprob": -1.0}
    read = trace_from_dict(row).generation
    assert (read.writer, read.source) == (OWN, "none")
    read = trace_from_dict(row | {"tokens": [token], "source": "captured"}).generation
    assert (read.writer, read.source) == (OWN, "captured")
    assert trace_from_dict(row | {"tokens": [token], "writer": None}).generation.source == "server"
    elsewhere = trace_from_dict(row | {"source": "wikipedia"}).generation  # another's column
    assert elsewhere.source == "none"
    for wrong in ({"writer": 1}, {"writer": ""}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            trace_from_dict(row | wrong)


def test_the_shipped_calibrators_say_whom_they_are_for():
    for calibrator in defaults.shipped():
        assert {"writer", "source", "faithfulness", "claims"} <= set(calibrator.fingerprint)
        if calibrator.evidence_only:
            assert calibrator.labels.false_below is None
            assert not calibrator.labels.unsupported_true
    forms = {c.form for c in defaults.shipped() if c.evidence_only}
    assert forms == {"long", "short"}
    assert all(c.fingerprint["methods"] == EVIDENCE.methods for c in map(for_any, forms))


def test_a_policys_number_decides_over_the_calibrators():
    lenient = Policy(weak=("false", "doubtful"))
    guard = Guard(faithfulness=FakeFaithfulness(), policy=lenient)
    assert guard.check(QUESTION, PASSAGES, "Bears eat fish.").text == "Bears eat fish."
    sure = Policy(false_below=0.6)
    guard = Guard(faithfulness=FakeFaithfulness(), policy=sure)
    assert guard.check(QUESTION, PASSAGES, "Bears eat fish.").verdicts[0].label == "false"


@pytest.mark.parametrize("form", ["long", "short", "auto"])
def test_a_splitter_that_fails_breaks_nothing_in_any_form(form):
    class Broken:
        fingerprint = "broken"

        def split(self, answer, *, question=""):
            raise RuntimeError("no claims today")

    result = guard_of(claims=Broken(), form=form).check_trace(trace())
    wanted = "ok" if form == "short" else "unverified"  # the short form splits nothing
    assert (result.status, result.original) == (wanted, TEXT)


def test_a_calibrator_of_methods_that_there_are_not_is_refused_by_its_name():
    with pytest.raises(ValueError, match="with calibrator own: no method 'guess'"):
        guard_of(franq=fitted(methods="guess + ccp"))


class InAFolder(FakeFaithfulness):
    """A model whose weights lie in a folder, as those do that are trained anew."""

    fingerprint = "trained-anew"

    def __init__(self, folder):
        super().__init__()
        self.weights_folder = str(folder)


def in_folder(folder, *calibrators):
    """A guard whose faithfulness model has these calibrators beside its weights."""
    for number, one in enumerate(calibrators):
        known = {**one.fingerprint, "faithfulness": InAFolder.fingerprint}
        replace(one, fingerprint=known).save(folder / f"{number}.json")
    return Guard(faithfulness=lambda: InAFolder(folder), language_model=refuse)


def test_calibrators_beside_the_weights_are_used_with_the_model(tmp_path, caplog):
    guard = in_folder(tmp_path, for_any(), of_the_answer())
    assert guard.check_trace(trace(written())).calibrator == "own long"
    assert guard.check_trace(trace(written(writer="other"))).calibrator == "any long"
    assert caplog.text == ""
    assert copy.deepcopy(guard).check_trace(trace()).calibrator == "any long"


def test_what_lies_beside_the_weights_and_does_not_fit_is_not_used(tmp_path, caplog):
    (tmp_path / "blend.json").write_text('{"weights": [1.0]}')
    (tmp_path / "data.json").write_text(f'["{"franq.calibrator/1 " * 60_000}"]')
    (tmp_path / "broken.json").write_text('{"schema": "franq.calibrator/1"}')
    for_any().save(tmp_path / "of-another-model.json")
    # a language model would have to read the answer again, which nothing says before it is loaded
    guard = in_folder(tmp_path, fitted(source="server"))
    assert guard.check_trace(trace(written(source="server"))).calibrator == "uncalibrated evidence"
    assert "broken.json is not used" in caplog.text
    assert "blend.json" not in caplog.text
    assert "data.json" not in caplog.text
    assert "no calibrator fits" in caplog.text


def test_a_calibrator_that_is_given_goes_before_those_beside_the_weights(tmp_path):
    in_folder(tmp_path, for_any())
    mine = replace(for_any(), name="mine")
    guard = Guard(faithfulness=InAFolder(tmp_path), franq=mine)
    assert guard.check_trace(trace()).calibrator == "mine"
