"""Runs the models once for any choice of methods: takes a batch of answers, returns statistics.

What several methods need is measured once, and each step calls a model once for the whole batch:
one call scores all answers that lack log-probabilities, one scores all answers without their
evidence, one draws the samples, one NLI call reads all pairs of samples, one the alternatives of
all tokens. Only what the methods need is measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from franq_guard.faithfulness.base import FaithfulnessModel
from franq_guard.franq import FloatArray
from franq_guard.language_model.base import LanguageModel
from franq_guard.signals import likelihoods
from franq_guard.signals.alternatives import alternatives
from franq_guard.signals.clock import Clock
from franq_guard.signals.faithfulness import context_of, scores
from franq_guard.signals.likelihoods import Answer, Fields, pieces_of
from franq_guard.signals.p_true import (
    OPTIONS,
    p_true_logprobs,
    p_true_question,
    polygraph_question,
)
from franq_guard.signals.request import Models, Request
from franq_guard.signals.samples import SAMPLED, compared, drawn
from franq_guard.signals.similarity import similarity_and_relevances
from franq_guard.uncertainty.numeric import in_parts
from franq_guard.uncertainty.statistics import Statistics, needed

__all__ = ["gather"]

Step = Callable[[Sequence[Answer], Models], list[Fields]]


def gather(
    requests: Sequence[Request], models: Models, *, clock: Clock | None = None
) -> list[Statistics]:
    """Measure what the methods of each request need, each thing once.

    Args:
        requests: answers and methods.
        models: what may be run.
        clock: measures the seconds of ``language_model``, ``samples`` and ``uncertainty`` (NLI,
            embeddings, further faithfulness scores).

    Returns:
        The statistics of each request, for ``compute(names, statistics, level=level)``.

    Raises:
        ValueError: for an unknown method, or one that needs a model which is None.
        DeadlineExceeded: when the clock's deadline has passed.
    """
    clock = clock or Clock(None)
    needs = [request.needs for request in requests]
    answers = [Answer(request, None, None) for request in requests]
    if any(of & likelihoods.OF_TOKENS for of in needs):
        with clock.stage("language_model"):
            answers = likelihoods.read(models.language_model, requests)
    found = [likelihoods.token_fields(answer) for answer in answers]
    for stage, reads, step in _STEPS:
        mine = [i for i, of in enumerate(needs) if of & reads]
        if mine:
            with clock.stage(stage):
                measured = step([answers[i] for i in mine], models)
            for i, fields in zip(mine, measured, strict=True):
                found[i] |= fields
    sampled = [i for i, of in enumerate(needs) if of & SAMPLED]
    for i, fields in zip(
        sampled, _samples([requests[i] for i in sampled], models, clock), strict=True
    ):
        found[i] |= fields
    return [Statistics(**fields) for fields in found]


def _parametric(answers: Sequence[Answer], models: Models) -> list[Fields]:
    return likelihoods.without_evidence(_model(models), answers)


def _unconditional(answers: Sequence[Answer], models: Models) -> list[Fields]:
    return likelihoods.unconditional(_model(models), answers)


def _p_true(answers: Sequence[Answer], models: Models) -> list[Fields]:
    def ask(request: Request, statement: str) -> str:
        context = context_of(request.trace)
        return p_true_question(request.trace.question, statement, passages=context)

    return _asked(answers, models, "p_true", ask)


def _p_true_polygraph(answers: Sequence[Answer], models: Models) -> list[Fields]:
    """As lm-polygraph asks: the word "True" without a blank, whatever stands before it."""

    def ask(request: Request, statement: str) -> str:
        context, claim = context_of(request.trace), request.level == "claim"
        return polygraph_question(request.trace.question, statement, passages=context, claim=claim)

    return _asked(answers, models, "p_true_polygraph", ask, options=OPTIONS)


def _asked(
    answers: Sequence[Answer],
    models: Models,
    name: str,
    ask: Callable[[Request, str], str],
    *,
    options: Sequence[str] | None = None,
) -> list[Fields]:
    """What the model says of every claim, or of the answer, if asked in the words of ``ask``."""
    requests = [answer.request for answer in answers]
    questions = [[ask(request, text) for text in _statements(request)] for request in requests]
    values = p_true_logprobs(_model(models), questions, options=options)
    return [_at_level(request, name, of) for request, of in zip(requests, values, strict=True)]


def _statements(request: Request) -> list[str]:
    if request.level == "sequence":
        return [request.trace.generation.text]
    return [claim.text for claim in request.claims]


def _at_level(request: Request, name: str, values: FloatArray) -> Fields:
    """A statistic of each claim, or of the whole answer, which is then the only value."""
    return {f"claim_{name}": values} if request.level == "claim" else {name: values[0]}


def _alternatives(answers: Sequence[Answer], models: Models) -> list[Fields]:
    return alternatives(_model(models), _judge(models).nli, answers)


def _relevance(answers: Sequence[Answer], models: Models) -> list[Fields]:
    pieces = [pieces_of(needed(answer.own, "relevance")) for answer in answers]
    embed = needed(models.embed, "embed")
    _, relevances = similarity_and_relevances(embed, pieces, per_token=True)
    return [{"relevance": relevance} for relevance in relevances]


def _faithfulness(answers: Sequence[Answer], models: Models) -> list[Fields]:
    """P(faithful): earlier values are reused, all others are measured in one call."""
    requests = [answer.request for answer in answers]
    asked = [request for request in requests if request.p_faithful is None]
    texts = [text for request in asked for text in request.stated]
    owners = [request.trace for request in asked for _ in request.stated]
    made = iter(scores(_judge(models), owners, texts) if asked else ())
    found: list[Fields] = []
    for request in requests:
        known = request.p_faithful
        values = [next(made) for _ in request.stated] if known is None else list(known)
        found.append(_at_level(request, "p_faithful", np.array(values)))
    return found


def _answer_faithfulness(answers: Sequence[Answer], models: Models) -> list[Fields]:
    traces = [answer.request.trace for answer in answers]
    stated = [trace for trace in traces if trace.generation.text.strip()]
    made = iter(scores(_judge(models), stated, [trace.generation.text for trace in stated]))
    return [  # a blank answer claims nothing
        {"answer_p_faithful": next(made) if trace.generation.text.strip() else math.nan}
        for trace in traces
    ]


def _entailed(answers: Sequence[Answer], models: Models) -> list[Fields]:
    requests = [answer.request for answer in answers]
    pairs = [
        (passage.text, stated)
        for request in requests
        for stated in request.stated
        for passage in request.trace.passages
    ]
    nli = _judge(models).nli
    classes = nli(*map(list, zip(*pairs, strict=True))) if pairs else np.empty((0, 3))
    shapes = [(len(request.stated), len(request.trace.passages)) for request in requests]
    parts = in_parts(classes[:, 0], [rows * k for rows, k in shapes])
    tables = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
    return [_at_level(r, "entailed", table) for r, table in zip(requests, tables, strict=True)]


def _samples(requests: Sequence[Request], models: Models, clock: Clock) -> list[Fields]:
    """All statistics of the samples, for all methods together."""
    if not requests:
        return []
    with clock.stage("samples"):
        made = drawn(
            models.language_model,
            [request.trace for request in requests],
            n=models.n_samples,
            max_new_tokens=models.sample_tokens,
            temperature=models.temperature,
        )
    judge = models.faithfulness
    with clock.stage("uncertainty"):
        return compared(requests, made, None if judge is None else judge.nli, models.embed)


_STEPS: tuple[tuple[str, frozenset[str], Step], ...] = (
    ("language_model", frozenset({"parametric"}), _parametric),
    ("language_model", frozenset({"unconditional"}), _unconditional),
    ("language_model", frozenset({"p_true"}), _p_true),
    ("language_model", frozenset({"p_true_polygraph"}), _p_true_polygraph),
    ("uncertainty", frozenset({"alternatives"}), _alternatives),
    ("uncertainty", frozenset({"relevance"}), _relevance),
    ("uncertainty", frozenset({"p_faithful"}), _faithfulness),
    ("uncertainty", frozenset({"answer_p_faithful"}), _answer_faithfulness),
    ("uncertainty", frozenset({"entailed"}), _entailed),
)


def _model(models: Models) -> LanguageModel:
    return needed(models.language_model, "language_model")


def _judge(models: Models) -> FaithfulnessModel:
    return needed(models.faithfulness, "faithfulness")
