"""What FRANQ needs of each claim: P(faithful), UQ_faith, UQ_unfaith, from the two models.

Long form (arXiv 2505.21072, section 3): UQ_faith is the claim's probability with the passages in
the prompt, UQ_unfaith (Parametric Knowledge) that of the same tokens without them; both stay
log-probabilities here. The functions take a batch of traces so that each model is called once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from franq_guard.claims import first_statements, token_indices
from franq_guard.faithfulness.base import FaithfulnessModel, PassageScorer
from franq_guard.language_model.base import Contrast, LanguageModel
from franq_guard.language_model.prompts import rag_prompt
from franq_guard.records import Claim, Evidence, Generation, Reason, Signals, Trace
from franq_guard.signals.short_form import ShortFormSignals, short_form_signals

Claims = Sequence[Claim]

TEMPERATURE = 0.5
"""Of samples: the best for Semantic Entropy in its paper (arXiv 2302.09664).

With SmolLM2 0.5 and 1 could not be told apart (README, the paper's tables); at 0.5 more samples
share their beginnings, which are computed once."""


@dataclass(frozen=True, slots=True)
class Support:
    """Faithfulness of one claim."""

    p_faithful: float | None
    evidence: Evidence | None
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class Confidence:
    """One answer's tokens with log-probabilities under the prompt with and without evidence."""

    with_evidence: Generation | None
    without_evidence: Generation | None
    reason: Reason | None = None


def context_of(trace: Trace) -> str:
    """The passages joined in order by one newline, as in the paper."""
    return "\n".join(passage.text for passage in trace.passages)


def support(
    model: FaithfulnessModel, traces: Sequence[Trace], claims: Sequence[Claims], *, form: str
) -> list[list[Support]]:
    """Faithfulness of every claim of every trace, in one call of the model's ``score``.

    Where nothing was retrieved P(faithful) is 0 by definition and the reason is ``no_evidence``.
    Where nobody saw the prompt (``prompt_seen`` is False: an answer out of a cache) the reason is
    ``no_prompt``, for the probabilities are then those under the guard's own prompt.
    """
    texts = [
        [_stated(trace, c, form) for c in of] for trace, of in zip(traces, claims, strict=True)
    ]
    found = [i for i, trace in enumerate(traces) if context_of(trace).strip()]
    owners = [traces[i] for i in found for _ in texts[i]]
    scores = iter(_scores(model, owners, [text for i in found for text in texts[i]]))
    evidence = {i: model.evidence(traces[i].passages, texts[i]) for i in found}
    return [
        [Support(_probability(next(scores)), stretch, _unseen(trace)) for stretch in evidence[i]]
        if i in evidence
        else [Support(0.0, None, "no_evidence")] * len(texts[i])
        for i, trace in enumerate(traces)
    ]


def _unseen(trace: Trace) -> Reason | None:
    return None if trace.prompt_seen else "no_prompt"


def _scores(
    model: FaithfulnessModel, traces: Sequence[Trace], texts: Sequence[str]
) -> Sequence[float]:
    if not texts:
        return ()
    if isinstance(model, PassageScorer):  # it decides itself what of the passages is the context
        return model.score_passages([trace.passages for trace in traces], texts)
    return model.score([context_of(trace) for trace in traces], texts)


def _probability(score: float) -> float | None:
    """A model's score without its rounding beyond [0, 1]; None where it is no number."""
    if math.isnan(score):
        return None
    return min(1.0, max(0.0, float(score))) if -1e-6 <= score <= 1 + 1e-6 else float(score)


def _stated(trace: Trace, claim: Claim, form: str) -> str:
    # A short answer says nothing without its question: the paper scores both together. A claim's
    # context ("it: Rome") is not added: the models were trained on plain statements.
    return f"{trace.question} {claim.text}" if form == "short" else claim.text


def confidence(model: LanguageModel | None, traces: Sequence[Trace]) -> list[Confidence]:
    """Log-probabilities of every answer with and without evidence.

    Captured (or server) log-probabilities are used as they are; answers without them are
    teacher-forced, all in one call, and so is every answer under its prompt without evidence.
    """
    given = _with_evidence(model, traces)
    if model is None:
        return [Confidence(g, None, "no_contrast" if g else "no_logprobs") for g in given]
    contrasts = [contrast(model, trace) for trace in traces]
    # Without passages the two prompts are the same: nothing is scored twice.
    todo = [i for i, t in enumerate(traces) if contrasts[i].prompt is not None and t.passages]
    prompts = [contrasts[i].prompt or "" for i in todo]
    answers = [given[i] or traces[i].generation for i in todo]
    scored = dict(zip(todo, model.score(prompts, answers), strict=True)) if todo else {}
    return [
        Confidence(given[i], scored.get(i) if t.passages else given[i], contrasts[i].reason)
        for i, t in enumerate(traces)
    ]


def contrast(model: LanguageModel, trace: Trace) -> Contrast:
    """The trace's prompt without evidence: the one an integration knows exactly, or taken out."""
    exact, total = trace.contrast_prompt, len(trace.passages)
    if exact is not None and trace.passages:
        return Contrast(exact, None, total, total, 0.0)
    return model.without_evidence(trace)


def _with_evidence(model: LanguageModel | None, traces: Sequence[Trace]) -> list[Generation | None]:
    known: list[Generation | None] = [
        trace.generation if _has_logprobs(trace.generation) else None for trace in traces
    ]
    todo = [i for i, generation in enumerate(known) if generation is None]
    if model is not None and todo:
        prompts = [prompt_of(model, traces[i]) for i in todo]
        for i, scored in zip(
            todo, model.score(prompts, [traces[i].generation for i in todo]), strict=True
        ):
            known[i] = scored
    return known


def prompt_of(model: LanguageModel, trace: Trace) -> str | Sequence[int]:
    """The prompt the answer was written under; the guard's own RAG prompt where none is known."""
    generation = trace.generation
    if generation.prompt_token_ids is not None:
        return generation.prompt_token_ids
    if generation.prompt is not None:
        return generation.prompt
    return model.render(rag_prompt(trace.question, trace.passages))


def _has_logprobs(generation: Generation) -> bool:
    tokens = generation.tokens
    return bool(tokens) and all(math.isfinite(t.logprob) for t in tokens if t.end > t.start)


def long_form(
    model: LanguageModel | None,
    traces: Sequence[Trace],
    claims: Sequence[Claims],
    supports: Sequence[Sequence[Support]],
) -> list[list[Signals]]:
    """The signals of every claim of long answers; UQ values are log-probabilities (nats)."""
    known = confidence(model, traces)
    return [
        [
            # A repetition is judged where it was first stated: a copy is nearly certain in itself.
            _of_claim(of_trace[first], found, of_answer)
            for first, found in zip(first_statements(of_trace), supported, strict=True)
        ]
        for of_trace, supported, of_answer in zip(claims, supports, known, strict=True)
    ]


def _of_claim(claim: Claim, found: Support, known: Confidence) -> Signals:
    with_evidence = _log_probability(claim, known.with_evidence)
    without = _log_probability(claim, known.without_evidence)
    reason = known.reason
    if reason is None and (with_evidence is None or without is None):
        reason = "no_logprobs"
    raw = {
        "faithfulness": found.p_faithful,
        "uq_faith": with_evidence,
        "uq_unfaith": without,
    }
    return Signals(
        p_faithful=found.p_faithful,
        uq_faith=with_evidence,
        uq_unfaith=without,
        evidence=found.evidence,
        reason=reason or found.reason,
        raw={name: value for name, value in raw.items() if value is not None},
    )


def short_form(
    faithfulness: FaithfulnessModel,
    samples: Sequence[Sequence[Generation]],
    supports: Sequence[Sequence[Support]],
) -> list[list[Signals]]:
    """The signals of short answers, each one claim, from their samples; confidences in [0, 1].

    UQ_faith is Semantic Entropy, UQ_unfaith the Sum of Eigenvalues (arXiv 2505.21072, section 3).
    """
    found = short_form_signals(samples, faithfulness.nli)
    return [
        [_of_samples(found_for, one) for one in supported]
        for found_for, supported in zip(found, supports, strict=True)
    ]


def samples(
    model: LanguageModel | None, traces: Sequence[Trace], *, n: int
) -> list[Sequence[Generation]]:
    """Samples with log-probabilities for each trace; empty where there is no way to get them."""
    known: list[Sequence[Generation]] = [trace.samples for trace in traces]
    if model is None:
        return [of if all(map(_has_logprobs, of)) else () for of in known]
    bare = [i for i, of in enumerate(known) if not of]
    if bare:
        prompts = [_text_prompt(model, traces[i]) for i in bare]
        drawn = model.sample(prompts, n=n, temperature=TEMPERATURE)
        for i, made in zip(bare, drawn, strict=True):
            known[i] = made
    return [
        of if all(map(_has_logprobs, of)) else model.score([prompt_of(model, t)] * len(of), of)
        for of, t in zip(known, traces, strict=True)
    ]


def _text_prompt(model: LanguageModel, trace: Trace) -> str:
    prompt = trace.generation.prompt
    return model.render(rag_prompt(trace.question, trace.passages)) if prompt is None else prompt


def _of_samples(found: ShortFormSignals | None, one: Support) -> Signals:
    raw = {} if one.p_faithful is None else {"faithfulness": one.p_faithful}
    if found is None:
        return Signals(one.p_faithful, None, None, one.evidence, "no_logprobs", raw)
    raw |= {
        "uq_faith": found.uq_faith,
        "uq_unfaith": found.uq_unfaith,
        "semantic_entropy": found.semantic_entropy,
        "sum_of_eigenvalues": found.sum_of_eigenvalues,
    }
    return Signals(one.p_faithful, found.uq_faith, found.uq_unfaith, one.evidence, one.reason, raw)


def _log_probability(claim: Claim, generation: Generation | None) -> float | None:
    """Sum of log p over the claim's tokens; None when it has none, or one is unknown or wrong."""
    if generation is None:
        return None
    indices = token_indices(claim.spans, generation.tokens, text=generation.text)
    total = math.fsum(generation.tokens[i].logprob for i in indices)
    # Above 0 (but for rounding) it is no log-probability, whoever sent it.
    return total if indices and total <= 1e-3 else None
