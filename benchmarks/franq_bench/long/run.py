"""``franq bench claims-factuality`` and ``long-form``: compute results from labelled claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from franq_bench.data.labelled_answers import LabelledAnswer
from franq_bench.data.seen import seen
from franq_bench.fits.by_faithfulness import p_faithful_table
from franq_bench.fits.fitted import with_fitted
from franq_bench.fits.long_form import LOGARITHMS, SIGNALS, ablation_tables
from franq_bench.long.matrix import score_rows, splits
from franq_bench.long.statistics import statistics_of
from franq_bench.long.tables import claims_table, unfaithful_of
from franq_bench.progress import Bar
from franq_bench.store.cache import Cache
from franq_bench.tables.results import Dataset, Results, metric_rows
from franq_bench.tables.scores import Scores, Split
from franq_bench.versions import installed_versions, today
from franq_guard.datasets.jsonl import write_rows
from franq_guard.datasets.questions import digest
from franq_guard.signals.request import Models
from franq_guard.uncertainty.methods import find

__all__ = ["PROXY", "Plan", "drawn", "run", "unseen"]

PROXY = (
    "a proxy: the log-probabilities are those of the language model named here, which did not "
    "write the answers"
)


@dataclass(frozen=True, slots=True)
class Plan:
    """The settings of a run.

    Args:
        benchmark: the command's name.
        data: files the answers came from; only stored with the results.
        limit: at most this many answers of each data set; None: all.
        train_share: share of each data set's questions that calibrations are fitted on.
        seed: seed of draw, split and bootstrap.
        white_box: whose log-probabilities are used; only stored with the results.
        more: further settings to store with the results.
        signals: methods that serve as P_faithful, UQ_faith and UQ_unfaith; the paper's by default.
        faithful_above: P_faithful above which a claim counts as faithful for the two curves.

    Raises:
        ValueError: if a signal is no method for claims with values in [0, 1].
    """

    benchmark: str
    data: tuple[Path, ...]
    limit: int | None = None
    train_share: float = 0.4
    seed: int = 0
    white_box: str = PROXY
    more: Mapping[str, Any] = field(default_factory=dict)
    signals: tuple[str, str, str] = SIGNALS
    faithful_above: float = 0.5

    def __post_init__(self) -> None:
        for name in self.signals:
            if "claim" not in find(name).levels or not find(name).has_scale:
                raise ValueError(f"{name} gives claims no value in [0, 1]; see `franq methods`")


def drawn(
    answers: Sequence[LabelledAnswer], *, limit: int | None, seed: int
) -> list[LabelledAnswer]:
    """At most ``limit`` answers of each data set, in order; a larger draw holds a smaller one."""
    if limit is None:
        return list(answers)
    ranked = sorted(answers, key=lambda a: digest(seed, "draw", a.id))
    names = {answer.dataset for answer in answers}
    chosen = {
        (a.dataset, a.id)
        for name in names
        for a in [one for one in ranked if one.dataset == name][:limit]
    }
    return [answer for answer in answers if (answer.dataset, answer.id) in chosen]


def unseen(answers: Sequence[LabelledAnswer]) -> list[LabelledAnswer]:
    """The answers none of whose passages the shipped faithfulness model was trained or fitted on.

    It counts for data sets it was trained on, such as refchecker-nq and Factcheck-GPT's passages.
    """
    return [a for a in answers if not any(seen(p.text) for p in a.trace.passages)]


def run(
    plan: Plan,
    answers: Sequence[LabelledAnswer],
    models: Models,
    cache: Path,
    progress: Bar,
    *,
    out: Path | None = None,
) -> Results:
    """Measure the claims, fit the methods and compute their figures.

    Args:
        plan: the settings.
        answers: answers with their labelled claims.
        models: language model, faithfulness model and embeddings.
        cache: folder with measurements of earlier runs; it will contain text of the data.
        progress: takes the name of a stage; a context manager that yields ``show(done, total)``.
        out: folder for the results, created if needed.

    Raises:
        ValueError: if there is too little data.
    """
    chosen = drawn(answers, limit=plan.limit, seed=plan.seed)
    usable = [answer for answer in chosen if answer.claims]
    parts = splits(usable, train_share=plan.train_share, seed=plan.seed)
    with progress("measuring") as show:
        statistics = statistics_of(usable, models, Cache(cache), progress=show)
    together = zip(usable, statistics, parts, strict=True)
    logs = {*LOGARITHMS, *plan.signals[1:]}
    raw = Scores(tuple(row for a, s, part in together for row in score_rows(a, s, part, logs)))
    above = plan.faithful_above
    with progress("judging"):
        scores = with_fitted(raw, signals=plan.signals, log_space=True, faithful_above=above)
        results = Results(
            settings={**_settings(plan, chosen, models), "date": today()},
            versions=installed_versions(),
            datasets=tuple(_dataset(name, scores) for name in scores.datasets),
            rows=tuple(metric_rows(scores, seed=plan.seed)),
            tables=(
                *ablation_tables(scores, signals=plan.signals, faithful_above=above),
                claims_table(chosen, scores),
                *unfaithful_of(
                    {answer.dataset: answer.target for answer in usable},
                    scores,
                    seed=plan.seed,
                    signals=plan.signals,
                    faithful_above=above,
                ),
                p_faithful_table(scores),
            ),
        )
    if out is not None:
        results.write(out)
        scores.write(out)
        _write_answers(out, usable, parts)
    return results


def _settings(plan: Plan, answers: Sequence[LabelledAnswer], models: Models) -> dict[str, Any]:
    targets = {answer.dataset: answer.target for answer in answers}
    return {
        "benchmark": plan.benchmark,
        "form": "long",
        "data": [path.name for path in plan.data],
        "target": "; ".join(f"{name}: {target}" for name, target in targets.items()),
        "answers": len(answers),
        "limit": plan.limit,
        "train_share": plan.train_share,
        "split": "by question: answers to one question, and claims of one answer, stay together",
        "claims_not_found_in_their_answer": sum(answer.unaligned for answer in answers),
        "seed": plan.seed,
        "signals": list(plan.signals),
        "threshold_faithful": plan.faithful_above,
        "log_space": "the second and third signal are log-probabilities",
        "language_model": cast(Any, models.language_model).fingerprint,
        "white_box": plan.white_box,
        "nli_and_faithfulness": cast(Any, models.faithfulness).fingerprint,
        "sentence_similarity": getattr(models.embed, "fingerprint", None),
        "answers_with_passages_in_training_folds_of_the_small_model": (
            len(answers) - len(unseen(answers))
        ),
        **plan.more,
    }


def _dataset(name: str, scores: Scores) -> Dataset:
    train, test = scores.part(name, "train").rows, scores.part(name)
    accuracy = float(test.is_true().mean()) if test.rows else None
    return Dataset(name, n_train=len(train), n_test=len(test.rows), accuracy=accuracy)


def _write_answers(out: Path, answers: Sequence[LabelledAnswer], parts: Sequence[Split]) -> None:
    """Text for the report's browser of mistakes; not to be published."""
    both = zip(answers, parts, strict=True)
    write_rows(
        out / "answers.jsonl", (_answer_row(answer) | {"split": part} for answer, part in both)
    )


def _answer_row(answer: LabelledAnswer) -> dict[str, Any]:
    return {
        "id": answer.id,
        "dataset": answer.dataset,
        "question": answer.trace.question,
        "answers": [],
        "answer": answer.trace.generation.text,
        "passages": [{"title": p.title, "text": p.text} for p in answer.trace.passages],
        "claims": [
            {"text": c.claim.text, "is_true": c.is_true, "is_faithful": c.is_faithful}
            for c in answer.claims
        ],
    }
