"""The cost of the main methods: time beyond writing the answer, time to fit, size when stored.

Each method is measured alone: what was remembered of the texts is emptied before (caches of the
package's functions and of the faithfulness model), or a method would come out cheaper after another
that read the same texts.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from time import process_time
from typing import Any

import numpy as np

from franq_bench.fits.fitted import FITTED, FRANQ, SIGNALS, classifier, features_of, matrix
from franq_bench.fits.logistic import AdditiveLogistic, LearnedFranq
from franq_bench.short.answers import Settings
from franq_bench.short.prompts import answer_prompt, without_passages
from franq_bench.short.statistics import NAMES
from franq_bench.tables.method_names import title
from franq_bench.tables.scores import Score, Scores
from franq_guard.datasets.questions import Question
from franq_guard.language_model.base import LanguageModel
from franq_guard.records import Trace
from franq_guard.report.tables import Column, Table
from franq_guard.signals.gather import gather
from franq_guard.signals.request import Models, Request
from franq_guard.signals.samples import SAMPLED
from franq_guard.uncertainty.methods import find
from franq_guard.uncertainty.statistics import needed

__all__ = ["runtime_table"]

SHOWN = ("max-probability", "perplexity", "max-token-entropy", "p-true", "ccp",
         "parametric-knowledge", "faithfulness", "semantic-entropy")  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Fit:
    seconds: float
    size: int


def runtime_table(
    questions: Sequence[Question],
    models: Models,
    scores: Scores,
    settings: Settings,
    *,
    signals: Sequence[str] = SIGNALS,
) -> Table:
    """Method, inference beyond generation (ratio), training time (seconds), stored size (bytes).

    Args:
        questions: a few to measure on.
        models: language model, faithfulness model and embeddings.
        scores: the matrix whose training rows are fitted.
        settings: of the samples.
        signals: FRANQ's P_faithful, UQ_faith and UQ_unfaith.
    """
    extra = _extra(questions, models, settings, signals)
    fits = _fits(scores, signals)
    rows = [(title(name), extra[name], None, None) for name in dict.fromkeys((*SHOWN, *signals))]
    together = {"xgboost-all": extra["all"]}
    for name in FITTED:
        fit = fits.get(name)
        cost = together.get(name, extra["signals"])
        size = (fit.seconds, fit.size) if fit else (None, None)
        rows.append((title(name), cost, *size))
    return Table(
        name="runtime",
        title="Runtime",
        columns=(
            Column("Method"),
            Column("Inference beyond generation, ratio", "lower"),
            Column("Fit, CPU seconds", "lower"),
            Column("Stored, bytes", "lower"),
        ),
        rows=tuple(rows),
        note=(
            f"CPU time beyond writing the greedy answer, as a ratio to it: median over "
            f"{len(questions)} questions, {settings.samples} samples where a method needs them, "
            "each method measured alone. Fits: mean over data sets. Sizes: the fitted numbers as "
            "JSON, of XGBoost its own JSON."
        ),
    )


def _extra(
    questions: Sequence[Question], models: Models, settings: Settings, signals: Sequence[str]
) -> dict[str, float]:
    sets: dict[str, Sequence[str]] = {name: (name,) for name in (*SHOWN, *signals)}
    sets |= {"signals": signals, "all": NAMES}
    model = needed(models.language_model, "language_model")
    found: dict[str, list[float]] = {name: [] for name in sets}
    for question in questions:
        trace, plain, sampling = _written(model, question, settings)
        for name, names in sets.items():
            _forget(models)
            start = process_time()
            gather([Request(trace, names)], models)
            sampled = any(find(n).need in SAMPLED for n in names)
            found[name].append((process_time() - start + sampling * sampled) / plain)
    return {name: median(ratios) for name, ratios in found.items()}


def _forget(models: Models) -> None:
    """Empty what is remembered of the texts: the package's bounded caches, the model's own ones.

    Caches without a bound hold what is loaded once, such as word lists, and stay.
    """
    loaded = [module for name, module in sys.modules.items() if name.startswith("franq_guard.")]
    for value in [value for module in loaded for value in vars(module).values()]:
        parameters = getattr(value, "cache_parameters", None)  # of functools.lru_cache
        if parameters is not None and parameters()["maxsize"] is not None:
            value.cache_clear()
    forget = getattr(models.faithfulness, "forget", None)
    if forget is not None:
        forget()


def _written(
    model: LanguageModel, question: Question, settings: Settings
) -> tuple[Trace, float, float]:
    """The answered question, CPU seconds of writing the answer and of drawing the samples."""
    prompt = model.render(answer_prompt(question))
    start = process_time()
    [answer] = model.generate([prompt], max_new_tokens=settings.max_new_tokens)
    between = process_time()
    [samples] = model.sample(
        [prompt],
        n=settings.samples,
        max_new_tokens=settings.max_new_tokens,
        temperature=settings.temperature,
    )
    end = process_time()
    trace = Trace(
        question.question,
        question.passages,
        answer,
        tuple(samples),
        contrast_prompt=model.render(without_passages(question)),
    )
    return trace, between - start, end - between


def _fits(scores: Scores, signals: Sequence[str]) -> Mapping[str, _Fit]:
    found: dict[str, list[_Fit]] = {}
    for name in scores.datasets:
        train = scores.part(name, "train").rows
        if len({row.is_true for row in train}) < 2:
            continue
        for method in FITTED:
            found.setdefault(method, []).append(_fit(method, train, signals))
    return {
        method: _Fit(mean(f.seconds for f in fits), round(mean(f.size for f in fits)))
        for method, fits in found.items()
    }


def _fit(method: str, train: Sequence[Score], signals: Sequence[str]) -> _Fit:
    data = matrix(train, features_of(method, train, signals))
    labels = np.array([row.is_true for row in train], int)
    start = process_time()
    fitted = classifier(method).fit(data, labels)
    return _Fit(process_time() - start, len(_stored(fitted, method)))


def _stored(fitted: Any, method: str) -> bytes:
    if method in FRANQ:
        return bytes(fitted.to_calibrator(form="short").to_json().encode())
    if isinstance(fitted, LearnedFranq | AdditiveLogistic):
        return fitted.to_json().encode()
    return bytes(fitted.get_booster().save_raw("json"))
