"""``franq bench short``: answer questions, measure every method, write a folder of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

from franq_bench.fits.fitted import SIGNALS, with_fitted
from franq_bench.fits.reciprocal import with_reciprocals
from franq_bench.fits.short_form import ablation_tables
from franq_bench.progress import Bar
from franq_bench.short.answers import Answered, Settings
from franq_bench.short.generate import Shard, answers_of, in_proportion
from franq_bench.short.known import Row, known_rows, still_to_ask
from franq_bench.short.matrix import graded, score_rows
from franq_bench.short.prompts import PARAMETRIC
from franq_bench.short.runtime import runtime_table
from franq_bench.short.statistics import statistics_of
from franq_bench.short.trained_on import trained_on
from franq_bench.store.cache import Cache
from franq_bench.tables.results import Dataset, Results, metric_rows
from franq_bench.tables.scores import Score, Scores
from franq_bench.versions import installed_versions, today
from franq_guard.datasets.grading import Grade, Grader, grade_by_alias
from franq_guard.datasets.jsonl import write_rows
from franq_guard.datasets.passage_pool import read_passages, with_retrieved
from franq_guard.datasets.perturbation import Rewrite, corrupt_passages, shuffle_passages
from franq_guard.datasets.questions import Question, draw, gold_lost, read_questions, top
from franq_guard.signals.request import Models
from franq_guard.uncertainty.methods import find

__all__ = ["Plan", "Retrieval", "first_of_each", "run"]

_MEASURED = 4  # questions of each data set that runtime is measured on
Retrieval = Literal["original", "shuffled", "corrupted"]


@dataclass(frozen=True, slots=True)
class Plan:
    """The settings of a run.

    Args:
        data: ``rag_qa`` JSONL files.
        train: training questions of each data set.
        test: test questions of each data set.
        passages: how many passages of each question are shown, from the first.
        retrieval: "shuffled" and "corrupted" spoil half of each question's passages
            (:mod:`franq_guard.datasets.perturbation`).
        seed: seed of the draw, the spoiling, the samples and the bootstrap.
        settings: how answers are made.
        pool: passages to search for questions that come without any.
        runtime: measure what methods cost, too.
        signals: methods that serve as P_faithful, UQ_faith and UQ_unfaith; None: the paper's (but
            our Semantic Entropy, which counts equal samples once), with Parametric Knowledge as
            UQ_faith if the retrieval is corrupted.
        faithful_above: P_faithful above which a row counts as faithful for the two curves.
        known: folder of an earlier run with the same settings and fewer questions; its rows are
            taken, and only the other questions are asked.
        more: further settings to store with the results.

    Raises:
        ValueError: if a signal is no method for whole answers with values in [0, 1].
    """

    data: tuple[Path, ...]
    train: int = 200
    test: int = 300
    passages: int = 5
    retrieval: Retrieval = "original"
    seed: int = 0
    settings: Settings = field(default_factory=Settings)
    pool: Path | None = None
    runtime: bool = False
    signals: tuple[str, str, str] | None = None
    faithful_above: float = 0.5
    known: Path | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.chosen_signals:
            if "sequence" not in find(name).levels or not find(name).has_scale:
                raise ValueError(f"{name} gives answers no value in [0, 1]; see `franq methods`")

    @property
    def chosen_signals(self) -> tuple[str, str, str]:
        """``signals``, or those in use for this retrieval."""
        if self.signals is not None:
            return self.signals
        p_faithful, uq_faith, uq_unfaith = SIGNALS
        corrupted = self.retrieval == "corrupted"
        return p_faithful, "parametric-knowledge" if corrupted else uq_faith, uq_unfaith


@dataclass(frozen=True, slots=True)
class Drawn:
    """Questions of both parts; ``gold_lost``: how many lost every gold passage by cutting."""

    train: list[Question]
    test: list[Question]
    gold_lost: int

    @property
    def datasets(self) -> list[str]:
        """The data sets, also those of which the model attempts no question."""
        return sorted({question.dataset for question in (*self.train, *self.test)})

    @property
    def all(self) -> list[Question]:
        """In the order of work: training and test questions of all data sets, mixed."""
        parts = [(name, part) for name in self.datasets for part in (self.train, self.test)]
        return in_proportion(*([q for q in part if q.dataset == name] for name, part in parts))


def run(
    plan: Plan,
    models: Models,
    cache: Path,
    progress: Bar,
    *,
    shard: Shard = (1, 1),
    out: Path | None = None,
    grader: Grader = grade_by_alias,
    rewrite: Rewrite | None = None,
) -> Results | None:
    """Answer and grade the questions, measure and fit the methods, compute their figures.

    Args:
        plan: the settings.
        models: language model, faithfulness model and embeddings.
        cache: folder with results of earlier runs; it will contain text of the data.
        progress: takes the name of a stage; a context manager that yields ``show(done, total)``.
        shard: make only this part's answers and statistics; the tables need all parts.
        out: folder for the results, created if needed.
        grader: decides whether an answer is right.
        rewrite: changes the passages of a corrupted retrieval; None: the rules.

    Returns:
        The results; None if only one of several shards was made.

    Raises:
        ValueError: if the data is invalid or there is too little of it.
    """
    questions = drawn(plan, rewrite)
    model = models.language_model
    assert model is not None
    part = f"{shard[0]}-of-{shard[1]}"
    known = rows_known(plan, models, questions)
    asked = still_to_ask(questions.all, known)
    with progress("answering") as show:
        kept = Cache(cache / "answers", part=part)
        answers = answers_of(model, asked, plan.settings, kept, shard=shard, progress=show)
    with progress("measuring") as show:
        measured = Cache(cache / "statistics", part=part)
        mine = [q for at, q in enumerate(asked) if at % shard[1] == shard[0] - 1]
        statistics = statistics_of(mine, answers, models, measured, progress=show)
    if shard[1] > 1:
        return None
    grades = graded(asked, answers, grader)
    told = _of_models(grades, graded(asked, answers, grade_by_alias), grader, rewrite)
    made = [
        *score_rows(questions.train, grades, statistics, "train"),
        *score_rows(questions.test, grades, statistics, "test"),
    ]
    rows = _in_order(questions, [*known.values(), *made])
    grades |= {i: "correct" if row.is_true else "incorrect" for (_, i), row in known.items()}
    with progress("judging"):
        results, scores = judged(plan, Scores(rows), grades, questions, models)
    results = replace(results, settings={**results.settings, **told})
    if out is not None:
        results.write(out)
        scores.write(out)
        _write_answers(out, questions, answers, grades)
    return results


def first_of_each(questions: Sequence[Question], count: int) -> list[Question]:
    """The first ``count`` questions of each data set."""
    names = dict.fromkeys(question.dataset for question in questions)
    return [q for name in names for q in [q for q in questions if q.dataset == name][:count]]


def rows_known(plan: Plan, models: Models, questions: Drawn) -> dict[Row, Score]:
    """The rows that ``plan.known`` has of the plan's questions; none if it names no run.

    Raises:
        ValueError, FileNotFoundError: as :func:`known_rows`.
    """
    if plan.known is None:
        return {}
    parts = (("train", questions.train), ("test", questions.test))
    split = {(q.dataset, q.id): name for name, part in parts for q in part}
    found = known_rows(plan.known, _settings(plan, models, questions))
    return {key: row for key, row in found.items() if split.get(key) == row.split}


def _in_order(questions: Drawn, rows: Sequence[Score]) -> tuple[Score, ...]:
    """The rows in the order of the questions, training part first."""
    by_key = {(row.dataset, row.id): row for row in rows}
    keys = [(q.dataset, q.id) for q in (*questions.train, *questions.test)]
    return tuple(by_key[key] for key in keys if key in by_key)


def _of_models(
    grades: Mapping[str, Grade],
    by_alias: Mapping[str, Grade],
    grader: Grader,
    rewrite: Rewrite | None,
) -> dict[str, Any]:
    """What language models did: how a grader agrees with the aliases, what came of rewriting."""
    made: dict[str, Any] = {}
    if grader is not grade_by_alias and grades:
        same = sum(grade == by_alias[i] for i, grade in grades.items())
        counts = {"same": same, "different": len(grades) - same}
        made["answers_graded_as_by_alias"] = counts
    if rewrite is not None:
        made["passages_rewritten"] = dict(getattr(rewrite, "counts", {}))
    return made


def judged(
    plan: Plan, raw: Scores, grades: Mapping[str, Grade], questions: Drawn, models: Models
) -> tuple[Results, Scores]:
    """Fitted methods, figures and tables of a score matrix."""
    signals = plan.chosen_signals
    above = plan.faithful_above
    raw = with_reciprocals(raw, signals, samples=plan.settings.samples)
    scores = with_fitted(raw, signals=signals, faithful_above=above)
    options: dict[str, Any] = {"signals": signals, "faithful_above": above}
    tables = ablation_tables(scores, samples=plan.settings.samples, **options)
    few = first_of_each(questions.train, _MEASURED)
    costs = (
        [runtime_table(few, models, scores, plan.settings, signals=signals)] if plan.runtime else []
    )
    results = Results(
        settings={
            **_settings(plan, models, questions),
            "gold_lost_by_cutting": questions.gold_lost,
            "date": today(),
        },
        versions=installed_versions(),
        datasets=tuple(_dataset(name, scores, grades, questions) for name in questions.datasets),
        rows=tuple(metric_rows(scores, seed=plan.seed)),
        tables=(*tables, *costs),
    )
    return results, scores


def drawn(plan: Plan, rewrite: Rewrite | None = None) -> Drawn:
    """The questions of a plan, their passages cut and spoiled as it says."""
    asked = read_questions(plan.data)
    if not asked:
        raise ValueError(f"no questions in {', '.join(str(path) for path in plan.data)}")
    train, test = draw(asked, train=plan.train, test=plan.test, seed=plan.seed)
    if plan.pool is not None:
        pool = read_passages(plan.pool)
        train, test = (with_retrieved(part, pool, k=plan.passages) for part in (train, test))
    lost = gold_lost([*train, *test], plan.passages)
    parts = [[top(q, plan.passages) for q in part] for part in (train, test)]
    if plan.retrieval != "original":
        whole = [*parts[0], *parts[1]]
        if plan.retrieval == "shuffled":
            both = shuffle_passages(whole, seed=plan.seed)
        else:
            both = corrupt_passages(whole, seed=plan.seed, rewrite=rewrite)
        parts = [both[: len(train)], both[len(train) :]]
    return Drawn(parts[0], parts[1], lost)


def _settings(plan: Plan, models: Models, questions: Drawn) -> dict[str, Any]:
    seen = Counter(q.dataset for q in questions.test if trained_on(q))
    return {
        "benchmark": "short",
        "data": [path.name for path in plan.data],
        "train": plan.train,
        "test": plan.test,
        "passages": plan.passages,
        "retrieval": plan.retrieval,
        "pool": plan.pool.name if plan.pool else None,
        "seed": plan.seed,
        "signals": list(plan.chosen_signals),
        "threshold_faithful": plan.faithful_above,
        "parametric_knowledge_prompt": PARAMETRIC,
        "language_model": cast(Any, models.language_model).fingerprint,
        "nli_and_faithfulness": cast(Any, models.faithfulness).fingerprint,
        "sentence_similarity": getattr(models.embed, "fingerprint", None),
        "test_questions_the_small_model_was_trained_on": seen,
        **{f"generation.{key}": value for key, value in asdict(plan.settings).items()},
        **plan.more,
    }


def _dataset(name: str, scores: Scores, grades: Mapping[str, Grade], questions: Drawn) -> Dataset:
    test = scores.part(name)
    asked = [q.id for q in (*questions.train, *questions.test) if q.dataset == name]
    return Dataset(
        name=name,
        n_train=len(scores.part(name, "train").rows),
        n_test=len(test.rows),
        accuracy=float(test.is_true().mean()) if test.rows else None,
        not_attempted=sum(_refused(grades.get(i)) for i in asked),
    )


def _refused(grade: Grade | None) -> bool:
    return grade in ("not_attempted", "error")


def _write_answers(
    out: Path, questions: Drawn, answers: Mapping[str, Answered], grades: Mapping[str, Grade]
) -> None:
    """Text for the report's browser of mistakes; not to be published."""
    parts = {"train": questions.train, "test": questions.test}
    rows = (
        row | {"split": split}
        for split, part in parts.items()
        for row in _answer_rows(part, answers, grades)
    )
    write_rows(out / "answers.jsonl", rows)


def _answer_rows(
    questions: Sequence[Question], answers: Mapping[str, Answered], grades: Mapping[str, Grade]
) -> list[dict[str, Any]]:
    return [
        {
            "id": q.id,
            "dataset": q.dataset,
            "question": q.question,
            "answers": list(q.answers),
            "answer": answers[q.id].answer.text,
            "passages": [{"title": p.title, "text": p.text} for p in q.passages],
            "is_true": grades[q.id] == "correct",
            "grade": grades[q.id],
        }
        for q in questions
        if q.id in answers
    ]
