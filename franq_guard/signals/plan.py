"""Plans which of the chosen methods are measured for an answer, and why the others cannot be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from franq_guard.language_model.base import Contrast, LanguageModel
from franq_guard.records import Claim, Form, Reason, Trace
from franq_guard.signals.components import OF_FAITHFULNESS, level_of
from franq_guard.signals.faithfulness import Support
from franq_guard.signals.likelihoods import contrast_of, has_logprobs
from franq_guard.signals.request import Request, TokenRule
from franq_guard.signals.samples import SAMPLED
from franq_guard.uncertainty.methods import find

__all__ = ["Plan", "plan_of"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured for one answer; ``missing`` has the methods left out, and the reasons."""

    request: Request
    missing: Mapping[str, Reason]


def plan_of(
    names: Sequence[str],
    trace: Trace,
    claims: Sequence[Claim],
    supports: Sequence[Support],
    model: LanguageModel | None,
    form: Form,
    rule: TokenRule,
) -> Plan:
    """The plan for one answer.

    Args:
        names: of the methods.
        trace: the answer.
        claims: of the answer; in the short form the whole answer is the only claim.
        supports: the faithfulness of each claim, already measured.
        model: None: only what came with the trace can be used.
        form: ``long`` or ``short``.
        rule: which tokens state a claim.
    """
    needs = {name: find(name).need for name in names}
    bare = None
    if model is not None and "parametric" in needs.values():
        bare = contrast_of(model, trace)
    missing = {name: _missing(need, trace, model, bare) for name, need in needs.items()}
    request = Request(
        trace,
        tuple(name for name, reason in missing.items() if reason is None),
        claims,
        level_of(form),
        [np.nan if found.p_faithful is None else found.p_faithful for found in supports],
        bare,
        rule,
    )
    return Plan(request, {name: reason for name, reason in missing.items() if reason is not None})


def _missing(
    need: str, trace: Trace, model: LanguageModel | None, bare: Contrast | None
) -> Reason | None:
    """Why a statistic cannot be measured for a trace; None if it can."""
    if model is not None:
        return bare.reason if bare is not None and need == "parametric" else None
    if need in OF_FAITHFULNESS:
        return None
    if need in SAMPLED:
        known = bool(trace.samples) and all(map(has_logprobs, trace.samples))
        return None if known else "no_logprobs"
    if not has_logprobs(trace.generation):
        return "no_logprobs"
    if need == "parametric":
        return "no_contrast"
    return None if need in ("logprobs", "entropies") else "no_logprobs"
