"""What one check sends: its span, spans of its stages, a result for the answer and each claim."""

from dataclasses import replace

import pytest

from franq_guard import Claim, GuardedAnswer, Policy, Verdict
from franq_guard.telemetry import configure, names
from franq_guard.telemetry.check import opened

from .examples import STAGES, TEXT, guard, place, raising, trace


def test_a_check_is_a_span_with_its_stages_below(seen):
    with seen.span("chat") as model:
        answer = guard().check_trace(trace())
    (check,) = seen.named("franq.check")
    assert check.parent.span_id == model.context.span_id
    assert check.instrumentation_scope.name == "franq_guard"
    stages = [span for span in seen.spans if span.name.startswith("franq.stage.")]
    assert {span.name.removeprefix("franq.stage.") for span in stages} == STAGES
    assert set(answer.timings) == STAGES
    assert {span.parent.span_id for span in stages} == {check.context.span_id}
    assert check.status.is_unset
    assert dict(check.attributes) == {
        "franq.batch_size": 1,
        "franq.status": "ok",
        "franq.claims.count": 2,
        **{f"franq.labels.{v.label.replace('-', '_')}": 1 for v in answer.verdicts},
        "franq.calibrator": answer.calibrator,
        "franq.likelihoods": answer.likelihoods,
        "gen_ai.response.id": "run-1",
    }


def test_samples_are_a_stage_too(seen):
    guard(form="short").check_trace(trace("Pisa."))
    assert seen.named("franq.stage.samples")


def test_the_results_belong_to_the_span_of_the_model(seen):
    with seen.span("chat") as model:
        answer = guard().check_trace(trace())
    (result,) = seen.answers
    assert (result.name, result.scope) == ("gen_ai.evaluation.result", "franq_guard")
    assert {event.parent for event in seen.events} == {place(model)}
    labels = sorted(verdict.label for verdict in answer.verdicts)
    assert result.attributes == {
        "gen_ai.evaluation.name": "franq",
        "gen_ai.evaluation.score.value": min(v.p_true for v in answer.verdicts),
        "gen_ai.evaluation.score.label": "ok",
        "gen_ai.evaluation.explanation": ", ".join(f"{label}: 1" for label in labels),
        "gen_ai.response.id": "run-1",
    }
    assert result.severity == "INFO"
    for i, (event, verdict) in enumerate(zip(seen.claims, answer.verdicts, strict=True)):
        assert event.attributes["franq.claim.index"] == i
        assert event.attributes["gen_ai.evaluation.score.value"] == verdict.p_true
        assert event.attributes["gen_ai.evaluation.score.label"] == verdict.label
        assert event.attributes["gen_ai.evaluation.explanation"].startswith("p_faithful: ")


def test_remarks_on_a_claim_and_whose_probabilities_entered_are_told(seen):
    claims = (Claim("Ann did.", ((0, 8),)), Claim("Bob did.", ((0, 8),)))
    remarked = Verdict(claims[0], 0.5, 0.1, 0.9, 0.5, {}, "unsupported", "prior")
    plain = Verdict(claims[1], 0.9, 0.9, 0.9, 0.5, {}, "supported")
    answer = GuardedAnswer("A", "A", (remarked, plain), "ok", likelihoods="captured from writer")
    (check,) = opened([None], [None])
    check.finish(answer)
    first, second = (event.attributes for event in seen.claims)
    assert (first["franq.claim.reason"], "franq.claim.reason" in second) == ("prior", False)
    assert "error.type" not in first
    (span,) = seen.named("franq.check")
    assert span.attributes["franq.likelihoods"] == "captured from writer"
    assert span.attributes["franq.labels.unsupported"] == 1


def test_without_a_span_of_the_model_the_results_belong_to_the_check(seen):
    guard().check_trace(trace())
    (check,) = seen.named("franq.check")
    assert {event.parent for event in seen.events} == {place(check)}


def everything(seen):
    return repr(
        [dict(span.attributes) for span in seen.spans] + [e.attributes for e in seen.events]
    )


def test_no_text_by_default(seen):
    secret = "Zebras sing: hunter2."
    failing = guard(faithfulness=lambda: raising(ValueError(secret))())
    for one in (guard(), failing, guard(claims=_Splits(raising(ValueError(secret))))):
        one.check_trace(replace(trace(secret), question=secret))
    assert len(seen.answers) == 3
    assert "hunter2" not in everything(seen)
    assert not any(span.events for span in seen.spans)  # an exception's message is text, too
    assert not any(span.status.description for span in seen.spans)


class _Splits:
    fingerprint = "broken"

    def __init__(self, fail):
        self.fail = fail

    def split(self, answer, *, question=""):
        self.fail()


@pytest.mark.parametrize("way", ["argument", "environment", "environment, configured"])
def test_text_where_it_is_asked_for(seen, monkeypatch, way):
    if way == "argument":
        more = {"record_text": True}
    else:
        monkeypatch.setenv(names.TEXT_VARIABLE, "1")
        more = {}
    configure(tracer_provider=seen.tracers, logger_provider=seen.loggers, **more)
    guard().check_trace(trace())
    told = ["The tower of Pisa leans.", "Zebras sing loud tunes."]
    assert [event.attributes["franq.claim.text"] for event in seen.claims] == told
    assert list(seen.named("franq.check")[0].attributes["franq.claim.texts"]) == told
    configure(record_text=False, tracer_provider=seen.tracers, logger_provider=seen.loggers)
    guard().check_trace(trace())
    assert len(seen.claims) == 4
    assert "franq.claim.text" not in seen.claims[-1].attributes


def test_so_many_claims_and_no_more(seen):
    long = trace(" ".join(f"The tower has {i} steps." for i in range(30)))
    guard().check_trace(long)
    assert len(seen.claims) == 20
    assert seen.named("franq.check")[0].attributes["franq.claims.count"] == 30
    configure(claims_told=0, tracer_provider=seen.tracers, logger_provider=seen.loggers)
    guard().check_trace(long)
    assert (len(seen.answers), len(seen.claims)) == (2, 20)
    with pytest.raises(ValueError, match="negative"):
        configure(claims_told=-1)


def test_what_is_no_claim_is_counted_apart(seen):
    guard().check_trace(trace("# Towers\n\nThe tower of Pisa leans."))
    attributes = seen.named("franq.check")[0].attributes
    assert attributes["franq.claims.count"] == 1
    assert attributes["franq.labels.not_a_claim"] == 1
    assert [event.attributes["franq.claim.index"] for event in seen.claims] == [1]


def test_an_answer_that_states_nothing_has_neither_score_nor_error(seen):
    guard().check_trace(trace("I do not know."))
    (result,) = seen.answers
    assert result.attributes["gen_ai.evaluation.score.label"] == "ok"
    assert not {"gen_ai.evaluation.score.value", "error.type"} & set(result.attributes)


def test_an_answer_and_the_policy_are_as_without(seen):
    seen_by = [guard(policy=Policy(action="filter")).check_trace(trace())]
    configure()
    seen_by.append(guard(policy=Policy(action="filter")).check_trace(trace()))
    first, second = (replace(answer, timings={}) for answer in seen_by)
    assert first == second
    assert first.original == TEXT
