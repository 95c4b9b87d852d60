"""From traces and claims to what FRANQ needs for each claim: P(faithful), UQ_faith, UQ_unfaith.

All signals are computed here, for any methods, for one answer, a batch, or an answer that is still
being written: first faithfulness, then the statistics that the two methods read (:mod:`.gather`),
then their uncertainties as confidences: log-probabilities (nats) in the long form, values in [0, 1]
in the short form. The default methods are the paper's (arXiv 2505.21072, section 3). With
:data:`.components.EVIDENCE` in their place only the first step is done: the passages alone decide,
and no language model runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat

import numpy as np

from franq_guard.claims import first_statements, token_indices
from franq_guard.claims.language import in_another_language
from franq_guard.faithfulness.base import FaithfulnessModel, languages_of
from franq_guard.records import Claim, Form, Signals, Trace
from franq_guard.signals.clock import Clock
from franq_guard.signals.components import EVIDENCE, Components, level_of
from franq_guard.signals.faithfulness import Support, support
from franq_guard.signals.gather import gather
from franq_guard.signals.likelihoods import has_logprobs, logprobs_of
from franq_guard.signals.plan import Plan, plan_of
from franq_guard.signals.request import Models
from franq_guard.signals.samples import SAMPLED
from franq_guard.signals.stated import Stated
from franq_guard.uncertainty.methods import compute, confidence, find, log_confidence
from franq_guard.uncertainty.statistics import Samples, Statistics, needed

__all__ = ["measure", "read_ahead"]

Claims = Sequence[Claim]

_ROUNDING = 1e-3
"""A sum of log-probabilities above this value is invalid; up to it, it is a rounding error."""
_READ_AHEAD = frozenset({"logprobs", "entropies", "parametric"})


def measure(
    components: Components,
    traces: Sequence[Trace],
    claims: Sequence[Claims],
    models: Models,
    *,
    form: Form,
    clock: Clock,
    earlier: Sequence[Stated] | None = None,
) -> list[list[Signals]]:
    """The signals of every claim of every trace; empty for a stretch that is not a claim.

    They are also empty, with the reason ``language``, for all claims of an answer in a language
    that the faithfulness model was not trained on; no model runs for such an answer.

    Args:
        components: names of the two methods, or ``EVIDENCE``.
        traces: answers; their model calls are pooled.
        claims: of each trace; in the short form the answer as the only one.
        models: ``faithfulness`` is required; without ``language_model`` only what came with the
            traces is used.
        form: ``long`` or ``short``.
        clock: measures the seconds of each stage.
        earlier: for each trace, what was measured for its earlier claims; the new values are added
            to it. With the default methods a claim that repeats another one is judged by the tokens
            that stated it first, because a model is nearly certain of anything it repeats.

    Raises:
        DeadlineExceeded: when the clock's deadline has passed.
        Exception: whatever a model raises.
    """
    judge = needed(models.faithfulness, "faithfulness")
    real = [[c for c in of_trace if c.not_a_claim is None] for of_trace in claims]
    foreign = _in_another_language(traces, judge)
    todo = [i for i, of_trace in enumerate(real) if of_trace and i not in foreign]
    answers, asked = [traces[i] for i in todo], [real[i] for i in todo]
    before = [earlier[i] if earlier else None for i in todo]
    with clock.stage("faithfulness"):
        supports = support(judge, answers, asked, form, evidence=models.evidence)
    if components == EVIDENCE:
        told = [
            _sent_log_probabilities(*of_trace, form)
            for of_trace in zip(answers, asked, before, strict=True)
        ]
        made = [_of_evidence(*of_trace) for of_trace in zip(answers, supports, told, strict=True)]
    else:
        made = _of_methods(components, answers, asked, supports, models, form, clock, before)
    signals: dict[int, Iterator[Signals]]
    signals = {i: iter(of_trace) for i, of_trace in zip(todo, made, strict=True)}
    signals |= {i: repeat(Signals(reason="language")) for i in foreign}
    return [
        [Signals() if c.not_a_claim is not None else next(signals[i]) for c in of_trace]
        for i, of_trace in enumerate(claims)
    ]


def _in_another_language(traces: Sequence[Trace], model: FaithfulnessModel) -> set[int]:
    """The traces whose answer is in a language that the model was not trained on."""
    languages = languages_of(model)
    if languages is None:
        return set()
    return {i for i, t in enumerate(traces) if in_another_language(t.generation.text, languages)}


def _of_methods(
    components: Components,
    traces: Sequence[Trace],
    claims: Sequence[Claims],
    supports: Sequence[Sequence[Support]],
    models: Models,
    form: Form,
    clock: Clock,
    earlier: Sequence[Stated | None],
) -> list[list[Signals]]:
    """The signals from two uncertainty methods, once faithfulness is known."""
    names, model, rule = components.names, models.language_model, components.token_rule
    with clock.stage("uncertainty"):
        placed = [_where_first(of) if rule.first_statement else list(of) for of in claims]
        plans = [
            plan_of(names, *of_trace, model, form, rule)
            for of_trace in zip(traces, placed, supports, strict=True)
        ]
    statistics = gather([plan.request for plan in plans], models, clock=clock)
    with clock.stage("uncertainty"):
        return [
            _signals(components, *of_trace, form)
            for of_trace in zip(plans, statistics, supports, earlier, strict=True)
        ]


def _sent_log_probabilities(
    trace: Trace, claims: Claims, stated: Stated | None, form: Form
) -> list[dict[str, float]]:
    """The log-probability (nats) of each claim, if it came with the answer: shown, not weighed.

    A claim that no token of the answer states has none.
    """
    answer = trace.generation
    if form == "short" or not has_logprobs(answer):
        return [{} for _ in claims]
    logprobs, found = logprobs_of(answer), []
    for claim, first in zip(claims, _where_first(claims), strict=True):
        tokens = list(token_indices(first.spans, answer.tokens, text=answer.text))
        known: Mapping[str, float] = {}
        if tokens:
            known = {"log_probability": float(logprobs[tokens].sum())}
        found.append(dict(known if stated is None else stated.first(claim, known)))
    return found


def _of_evidence(
    trace: Trace, supports: Sequence[Support], told: Sequence[Mapping[str, float]]
) -> list[Signals]:
    """Signals from the passages alone; P(faithful) replaces Max NLI for a model without NLI."""
    signals = []
    for found, of_claim in zip(supports, told, strict=True):
        stance = found.stance
        shown = found.p_faithful if stance.max_nli is None else stance.max_nli
        raw = {**_of_passages(found), "uq_faith": shown, "passages": float(len(trace.passages))}
        one = Signals(
            p_faithful=found.p_faithful,
            uq_faith=shown,
            uq_unfaith=0.0,  # not used: the calibrator's prior is the same for every claim
            contradiction=stance.contradiction,
            entailment=stance.entailment,
            evidence=found.evidence,
            against=stance.against,
            # The prompt is not used here, so it does not matter whether it is known.
            reason="no_evidence" if found.reason == "no_evidence" else None,
            raw={name: value for name, value in raw.items() if value is not None} | dict(of_claim),
        )
        signals.append(one)
    return signals


def _of_passages(found: Support) -> dict[str, float | None]:
    """The raw scores that come from the passages."""
    return {
        "faithfulness": found.p_faithful,
        "entailment": found.stance.entailment,
        "contradiction": found.stance.contradiction,
    }


def read_ahead(components: Components, trace: Trace, models: Models, *, clock: Clock) -> None:
    """Let the language model read an unfinished answer under the prompts that will be needed.

    It saves time later with a model that caches what it has read.
    """
    names = [name for name in components.names if find(name).need in _READ_AHEAD]
    rule = components.token_rule
    plan = plan_of(names, trace, (), (), models.language_model, "long", rule)
    gather([plan.request], models, clock=clock)


def _where_first(claims: Claims) -> list[Claim]:
    """Each claim with the spans of its first statement."""
    first = first_statements(claims)
    return [replace(c, spans=claims[i].spans) for c, i in zip(claims, first, strict=True)]


def _signals(
    components: Components,
    plan: Plan,
    statistics: Statistics,
    supports: Sequence[Support],
    stated: Stated | None,
    form: Form,
) -> list[Signals]:
    """The signals of one answer's claims; ``stated`` has earlier claims and gets these added."""
    found = compute(plan.request.names, statistics, level=level_of(form))
    if statistics.samples is not None and not _comparable(statistics.samples):
        found = {name: v for name, v in found.items() if find(name).need not in SAMPLED}
    n = len(statistics.samples.texts) if statistics.samples is not None else 0
    signals = []
    for i, one in enumerate(supports):
        own: Mapping[str, float] = {name: float(values[i]) for name, values in found.items()}
        if stated is not None and components.token_rule.first_statement:
            own = stated.first(plan.request.claims[i], own)
        signals.append(_of_claim(components, plan, one, own, n, form))
    return signals


def _comparable(samples: Samples) -> bool:
    """Whether there are at least two samples, and every log-probability is known."""
    known = all(len(values) and not np.isnan(values).any() for values in samples.logprobs)
    return len(samples.texts) > 1 and known


def _of_claim(
    components: Components,
    plan: Plan,
    found: Support,
    uncertainties: Mapping[str, float],
    samples: int,
    form: Form,
) -> Signals:
    pair = (components.uq_faith, components.uq_unfaith)
    faith, unfaith = (_value(name, uncertainties.get(name), samples, form) for name in pair)
    reason = next((plan.missing[name] for name in pair if name in plan.missing), None)
    if reason is None and (faith is None or unfaith is None):
        reason = "no_logprobs"
    if found.reason == "no_evidence":  # this reason says most, so it goes before the others
        reason = "no_evidence"
    raw = {**_of_passages(found), "uq_faith": faith, "uq_unfaith": unfaith}
    if form == "short":
        raw |= _by_title(components.names, uncertainties)
    return Signals(
        p_faithful=found.p_faithful,
        uq_faith=faith,
        uq_unfaith=unfaith,
        contradiction=found.stance.contradiction,
        entailment=found.stance.entailment,
        evidence=found.evidence,
        against=found.stance.against,
        reason=reason or found.reason,
        raw={name: value for name, value in raw.items() if value is not None},
    )


def _value(name: str, uncertainty: float | None, samples: int, form: Form) -> float | None:
    """The method's confidence (its logarithm in the long form); None if it was not measured."""
    if uncertainty is None or np.isnan(uncertainty):
        return None
    if find(name).need in ("logprobs", "parametric") and uncertainty < -_ROUNDING:
        return None
    if form == "long":
        return log_confidence(name, uncertainty, samples=samples)
    return confidence(name, uncertainty, samples=samples)


def _by_title(names: Sequence[str], uncertainties: Mapping[str, float]) -> dict[str, float]:
    """Uncertainties by title, as in ``semantic_entropy``; by name if two have the same title."""
    titles = {name: _snake(re.sub(r"\(.*?\)", "", find(name).title)) for name in names}
    alike = len(set(titles.values())) < len(titles)
    return {
        _snake(name) if alike else titles[name]: value
        for name, value in uncertainties.items()
        if not np.isnan(value)
    }


def _snake(text: str) -> str:
    return re.sub(r"\W+", "_", text.lower()).strip("_")
