"""P(faithful) of every claim, and the passage stretches that support or contradict it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from franq_guard.basics.failures import OwnMessage
from franq_guard.claims.attribution import bare
from franq_guard.claims.rules.openers import unopened
from franq_guard.faithfulness.base import FaithfulnessModel, PassageScorer
from franq_guard.policy import ANY_MARK
from franq_guard.records import Claim, Evidence, Form, Reason, Trace
from franq_guard.signals.stances import Stance, stances

_MARKS = re.compile(rf"\s*(?:{ANY_MARK.pattern})")

__all__ = ["ScoreError", "Support", "context_of", "probability", "scores", "stated", "support"]


@dataclass(frozen=True, slots=True)
class Support:
    """What the faithfulness model finds for one claim."""

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

    It includes whether each passage by itself states or contradicts the claim (:mod:`.stances`).

    If nothing was retrieved, P(faithful) is 0 by definition and the reason is ``no_evidence``. If
    the prompt is not known (``prompt_seen`` is False: an answer from a cache), the reason is
    ``no_prompt``, because log-probabilities are then computed under the guard's own prompt. If
    ``evidence`` is False, no stretches of the passages are looked for.
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
    of = [claim for i in found for claim in claims[i]]
    taken = iter(stances(model, owners, asked, of, evidence=evidence))
    return [
        [
            Support(probability(next(scored)), stretch, next(taken), _unseen(trace))
            for stretch in shown[i]
        ]
        if i in shown
        else [Support(0.0, None, Stance(), "no_evidence")] * len(texts[i])
        for i, trace in enumerate(traces)
    ]


def _stretches(
    model: FaithfulnessModel, trace: Trace, texts: Sequence[str], *, wanted: bool
) -> list[Evidence | None]:
    """The stretch of the passages that supports each text best, with the stretch's own text."""
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
    if hasattr(model, "score_passages"):  # it chooses the context from the passages itself
        # isinstance would see no method that WithNli forwards from Python 3.12.
        own = cast("PassageScorer", model)
        return own.score_passages([trace.passages for trace in traces], texts)
    return model.score([context_of(trace) for trace in traces], texts)


def _unseen(trace: Trace) -> Reason | None:
    return None if trace.prompt_seen else "no_prompt"


class ScoreError(ValueError, OwnMessage):
    """A faithfulness model gave a number that is no probability; the message has the number."""


def probability(score: float) -> float | None:
    """A model's score, with rounding errors outside [0, 1] clipped; None for NaN.

    Raises:
        ScoreError: for another number outside [0, 1].
    """
    if math.isnan(score):
        return None
    if not -1e-6 <= score <= 1 + 1e-6:
        raise ScoreError(f"P(faithful) must lie in [0, 1]; the faithfulness model gave {score:g}")
    return min(1.0, max(0.0, float(score)))


def stated(trace: Trace, claim: Claim, form: Form) -> str:
    """The text of a claim that the faithfulness model reads."""
    # A short answer means nothing without its question, so both are scored together, as in the
    # paper. A claim's context ("it: Rome") is not added, since the models were trained on plain
    # statements. The claim in full is a plain statement: "He died in 1989." is scored as
    # "Christiaan Barnard died in 1989."
    # Marks that another guard put into the answer are not part of the claim, nor are "In summary,",
    # "Third," or "According to passage 2,", whose numbers no passage states.
    full = claim.text
    if form == "long":
        full = bare(unopened(claim.in_full, trace.passages), trace.passages)
    plain = _MARKS.sub("", full)
    text = plain if any(map(str.isalnum, plain)) else full
    return f"{trace.question} {text}" if form == "short" else text
