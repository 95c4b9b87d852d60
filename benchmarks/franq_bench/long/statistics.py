"""Measures the statistics of an answer that claim-level methods use, and stores them at once.

Teacher forcing with the RAG prompt, with the same prompt without evidence and without a prompt;
P(True) of each claim; NLI of alternatives; faithfulness. The methods are then computed from these
arrays, so that a rerun takes seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, cast

from franq_bench.data.labelled_answers import LabelledAnswer
from franq_bench.progress import Show
from franq_bench.store.cache import Cache, content_key
from franq_bench.store.statistics import from_json, to_json
from franq_guard.language_model.base import LanguageModel
from franq_guard.signals.gather import gather
from franq_guard.signals.likelihoods import contrast_of, prompt_of
from franq_guard.signals.request import Models, Request
from franq_guard.uncertainty.methods import methods
from franq_guard.uncertainty.statistics import Statistics, needed

__all__ = ["NAMES", "statistics_of"]

NAMES: tuple[str, ...] = tuple(m.name for m in methods() if "claim" in m.levels)
"""Every method that has a value for a claim."""

_VERSION = 1


def statistics_of(
    answers: Sequence[LabelledAnswer],
    models: Models,
    cache: Cache,
    *,
    progress: Show | None = None,
) -> list[Statistics]:
    """Statistics of each answer's claims, in order; what the cache holds is not measured again.

    Args:
        answers: each with at least one claim.
        models: language model, faithfulness model and embeddings.
        cache: where statistics are kept.
        progress: called with (made, to make) at the start and after every answer.
    """
    keys = [_key(answer, models) for answer in answers]
    missing = [(k, a) for k, a in zip(keys, answers, strict=True) if k not in cache]
    for made, (key, answer) in enumerate(missing):
        if progress is not None:
            progress(made, len(missing))
        cache[key] = to_json(_measured(answer, models))
    if progress is not None:
        progress(len(missing), len(missing))
    return [from_json(cache[key]) for key in keys]


def _measured(answer: LabelledAnswer, models: Models) -> Statistics:
    claims = [labelled.claim for labelled in answer.claims]
    [found] = gather([Request(answer.trace, NAMES, claims, "claim")], models)
    return found


def _key(answer: LabelledAnswer, models: Models) -> str:
    """The cache key: a digest of models, prompts, answer and claims."""
    model: LanguageModel = needed(models.language_model, "language_model")
    trace = answer.trace
    return content_key(
        _VERSION,
        [model.fingerprint, cast(Any, models.faithfulness).fingerprint],
        getattr(models.embed, "fingerprint", None),
        NAMES,
        trace.question,
        [[passage.title, passage.text] for passage in trace.passages],
        prompt_of(model, trace),
        contrast_of(model, trace).prompt,
        [trace.generation.text, [asdict(token) for token in trace.generation.tokens]],
        [[labelled.claim.text, labelled.claim.spans] for labelled in answer.claims],
    )
