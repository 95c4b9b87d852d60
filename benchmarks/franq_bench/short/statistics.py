"""Measures the statistics that methods use (NLI, similarity, faithfulness) and stores them.

The methods are computed from these arrays, so that a corrected method is recomputed in seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from franq_bench.progress import Show
from franq_bench.short.answers import Answered
from franq_bench.store.cache import Kept, content_key
from franq_bench.store.statistics import from_json, to_json
from franq_guard.datasets.questions import Question
from franq_guard.records import Trace
from franq_guard.signals.gather import gather
from franq_guard.signals.request import Models, Request
from franq_guard.uncertainty.methods import methods
from franq_guard.uncertainty.statistics import Statistics

__all__ = ["NAMES", "statistics_key", "statistics_of"]

NAMES: tuple[str, ...] = tuple(
    m.name for m in methods() if "sequence" in m.levels and m.reciprocal_of is None
)
"""Every method that has a value of its own for a whole answer."""

_FROM_THE_ANSWER = {"parametric", "unconditional", "p_true"}
_VERSION = 2


def statistics_of(
    questions: Sequence[Question],
    answers: Mapping[str, Answered],
    models: Models,
    cache: Kept,
    *,
    progress: Show | None = None,
) -> dict[str, Statistics]:
    """Statistics by question id of the questions that were answered.

    Args:
        questions: with the passages that were shown.
        answers: by question id.
        models: the faithfulness model and embeddings; the language model decodes alternatives.
        cache: where statistics are kept.
        progress: called with (made, to make).
    """
    there = [question for question in questions if question.id in answers]
    keys = {q.id: statistics_key(q, answers[q.id], models) for q in there}
    missing = [question for question in there if keys[question.id] not in cache]
    for made, question in enumerate(missing):
        if progress is not None:
            progress(made, len(missing))
        cache[keys[question.id]] = to_json(_measured(question, answers[question.id], models))
    if progress is not None:
        progress(len(missing), len(missing))
    return {i: from_json(cache[key]) for i, key in keys.items()}


def _measured(question: Question, answered: Answered, models: Models) -> Statistics:
    trace = Trace(question.question, question.passages, answered.answer, samples=answered.samples)
    needs = {m.name: m.need for m in methods()}
    names = [name for name in NAMES if needs[name] not in _FROM_THE_ANSWER]
    [found] = gather([Request(trace, names)], models)
    return replace(
        found,
        parametric=answered.parametric,
        unconditional=answered.unconditional,
        p_true=answered.p_true,
    )


def statistics_key(question: Question, answered: Answered, models: Models) -> str:
    """The cache key of a question's statistics."""
    used = [getattr(model, "fingerprint", None) for model in (models.faithfulness, models.embed)]
    shown = [asdict(passage) for passage in question.passages]
    return content_key(_VERSION, NAMES, used, question.question, shown, answered.to_json())
