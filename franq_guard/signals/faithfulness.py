"""P(faithful) of every claim, and the stretches of the passages for and against it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from franq_guard.faithfulness.base import FaithfulnessModel, PassageScorer
from franq_guard.policy import ANY_MARK
from franq_guard.records import Claim, Evidence, Form, Reason, Trace
from franq_guard.signals.stances import Stance, stances

_MARKS = re.compile(rf"\s*(?:{ANY_MARK.pattern})")

__all__ = ["Support", "context_of", "scores", "stated", "support"]


@dataclass(frozen=True, slots=True)
class Support:
    """Faithfulness of one claim."""

    p_faithful: float | None
    evidence: Evidence | None
    stance: Stance
    reason: Reason | None = None


def context_of(trace: Trace) -> str:
    """The passages joined in order by one newline, as in the paper."""
    return "\n".join(passage.text for passage in trace.passages)


def support(
    model: FaithfulnessModel,
    traces: Sequence[Trace],
    claims: Sequence[Sequence[Claim]],
    form: Form,
    *,
    evidence: bool = True,
) -> list[list[Support]]:
    """Faithfulness of every claim of every trace, in one call of the model's ``score``.

    Beside it what each passage says of the claim (:mod:`.stances`).

    Where nothing was retrieved P(faithful) is 0 by definition and the reason is ``no_evidence``.
    Where nobody saw the prompt (``prompt_seen`` is False: an answer out of a cache) the reason is
    ``no_prompt``, for the probabilities are then those under the guard's own prompt. Without
    ``evidence`` no stretch of the passages is looked for.
    """
    texts = [
        [stated(trace, claim, form) for claim in of_trace]
        for trace, of_trace in zip(traces, claims, strict=True)
    ]
    found = [i for i, trace in enumerate(traces) if context_of(trace).strip()]
    owners = [traces[i] for i in found for _ in texts[i]]
    asked = [text for i in found for text in texts[i]]
    scored = iter(scores(model, owners, asked))
    shown = {i: _stretches(model, traces[i], texts[i], wanted=evidence) for i in found}
    taken = iter(stances(model, owners, asked, evidence=evidence))
    return [
        [
            Support(_probability(next(scored)), stretch, next(taken), _unseen(trace))
            for stretch in shown[i]
        ]
        if i in shown
        else [Support(0.0, None, Stance(), "no_evidence")] * len(texts[i])
        for i, trace in enumerate(traces)
    ]


def _stretches(
    model: FaithfulnessModel, trace: Trace, texts: Sequence[str], *, wanted: bool
) -> list[Evidence | None]:
    """The stretch of the passages that supports each text best, with its words."""
    if not wanted:
        return [None] * len(texts)
    found = model.evidence(trace.passages, texts)
    return [stretch and stretch.quoted(trace.passages) for stretch in found]


def scores(
    model: FaithfulnessModel, traces: Sequence[Trace], texts: Sequence[str]
) -> Sequence[float]:
    """P(faithful) of each text given the passages of its trace, in one call."""
    if not texts:
        return ()
    if isinstance(model, PassageScorer):  # it decides itself what of the passages is the context
        return model.score_passages([trace.passages for trace in traces], texts)
    return model.score([context_of(trace) for trace in traces], texts)


def _unseen(trace: Trace) -> Reason | None:
    return None if trace.prompt_seen else "no_prompt"


def _probability(score: float) -> float | None:
    """A model's score without its rounding beyond [0, 1]; None where it is no number."""
    if math.isnan(score):
        return None
    return min(1.0, max(0.0, float(score))) if -1e-6 <= score <= 1 + 1e-6 else float(score)


def stated(trace: Trace, claim: Claim, form: Form) -> str:
    """What of a claim the faithfulness model reads."""
    # A short answer says nothing without its question: the paper scores both together. A claim's
    # context ("it: Rome") is not added: the models were trained on plain statements. Its text in
    # full is one: "He died in 1989." is scored as "Christiaan Barnard died in 1989."
    # Marks of a guard that stand in the answer already say nothing of the world.
    full = claim.text if form == "short" else claim.in_full
    plain = _MARKS.sub("", full)
    text = plain if any(map(str.isalnum, plain)) else full
    return f"{trace.question} {text}" if form == "short" else text
