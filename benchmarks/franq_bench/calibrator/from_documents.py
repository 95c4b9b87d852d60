"""What a calibrator from documents alone is worth on a model's real answers.

    python -m franq_bench.calibrator.from_documents --out benchmarks/results/from-documents

Statements are made from the gold passages of SQuAD and CLAP-NQ as ``franq dataset build`` makes
them: a sentence as it stands (true), and with one fact changed (false). A calibrator is fitted to
those of one data set and applied to the bundled model's own answers to questions of the same set,
which were labelled by reading: SQuAD's are in `benchmarks/results/own-answers`, CLAP-NQ's
were made in the same way and read once. Beside it stand the shipped calibrator for any writer, and
calibrators that were fitted to the answers themselves, by leaving answers out. Questions and
passages are of the fitting fold; nothing shipped is chosen by this.

With ``--data FOLDER`` the statements and CLAP-NQ's answers are made and scored anew, otherwise the
scores in the output folder are used: then no model is loaded.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from franq_bench.calibrator import measured
from franq_bench.calibrator.build import answer, questions
from franq_bench.data.files import LONG
from franq_bench.data.folds import Folds
from franq_bench.data.read_claims import Label, digest_of, labels
from franq_bench.tables.scores import Score, Scores, Split
from franq_guard import metrics
from franq_guard.calibration.defaults import shipped
from franq_guard.calibration.fit import flagged_always, out_of_fold
from franq_guard.calibration.fitting import Fit, Fitted, fit_by, learned
from franq_guard.calibration.labels import Labelled, labelled, p_true_of
from franq_guard.calibration.store import AnyCalibration
from franq_guard.claims import RuleSplitter
from franq_guard.datasets.building import Recipe, build
from franq_guard.datasets.building.build import plan
from franq_guard.datasets.building.questions import by_rules
from franq_guard.datasets.claim_set import ClaimSet
from franq_guard.datasets.entities import Pool
from franq_guard.datasets.generations import GenerationStore
from franq_guard.datasets.jsonl import json_rows
from franq_guard.datasets.labelled import SignalStore, labelled_rows
from franq_guard.datasets.questions import digest
from franq_guard.datasets.search import Bm25
from franq_guard.franq import FloatArray
from franq_guard.guard import Guard
from franq_guard.label_rule import LabelRule
from franq_guard.records import Claim, ClaimLabel, Passage

REAL = 30
"""Labels of real answers that set the level in the fourth row of the table."""
DRAWS = 20
"""How often they are drawn: with so few, which answers are among them decides much."""
SETS = {
    "squad": ("SQuAD", "rag_qa_squad.jsonl.gz", "own-answers"),
    "clapnq": ("CLAP-NQ", LONG[0], "own-answers-clapnq"),
}
"""Of each data set: its name, the file of its passages, the results with its labelled answers."""
QUESTIONS = 30
"""Of CLAP-NQ, whose answers were read."""
_RESAMPLES = 200
_SEED = 0
_RESULTS = Path(__file__).parents[2] / "results"
_WAYS: tuple[AnyCalibration, ...] = ("condition", "learned")
_SIGNALS = {
    "p_faithful": "faithfulness",
    "uq_faith": "max-probability",
    "uq_unfaith": "parametric-knowledge",
}
_MEASURES = ("AUROC", "ECE", "true claims flagged", "false claims flagged")


class Judged(NamedTuple):
    """How a calibrator was fitted; of each real claim (n,) P(true), and whether it is flagged.

    ``fell``: for each of its fits by condition the branches fitted to all claims, for want of
    labels.
    """

    name: str
    answers: Labelled
    p_true: FloatArray
    flagged: NDArray[np.bool_]
    fell: Sequence[Sequence[str]] = ()


def documents(folder: Path, file: str) -> list[Passage]:
    """The gold passages of the fitting fold's questions, in an order of their hashes."""
    folds = Folds.read(folder)
    texts = dict.fromkeys(
        passage["text"]
        for row in json_rows(folder / file)
        if folds.of(row) == "fitting"
        for passage in row["passages"]
        if passage["is_gold"]
    )
    return [Passage(text) for text in sorted(texts, key=lambda t: digest(0, "made", t))][:200]


def made_rows(
    guard: Guard, passages: Sequence[Passage], limit: int, store: SignalStore | None = None
) -> list[dict[str, Any]]:
    """Labelled claims with signals from ``limit`` sentences of the passages, two of each."""
    made = by_rules(passages, common=Pool(p.text for p in passages).common)
    recipe = Recipe(k=1, edits=1.0)
    search = Bm25([p.text for p in passages], k=20)
    planned = [row for row in plan(made, passages, search, recipe) if row.given is not None]
    model = guard.language_model
    if model is None:
        raise ValueError("the guard has no language model")
    with tempfile.TemporaryDirectory() as place:
        claims = ClaimSet.create(Path(place), {})
        build(claims, planned[: 2 * limit], passages, model, recipe)
        answers = claims.labelled(["edit"])
    return [row for rows in labelled_rows(guard, answers, store=store) for row in rows]


def read_rows(
    guard: Guard,
    folder: Path,
    read: Mapping[str, Label],
    generations: GenerationStore,
    store: SignalStore | None,
) -> list[dict[str, Any]]:
    """The claims of the model's answers to CLAP-NQ's questions that were read, with signals.

    An answer's claim with another text than the one that was read is left out.
    """
    asked = questions(folder, limit=QUESTIONS, seed=0, files=LONG)
    asked = [question for question in asked if f"{question.id}/0" in read]
    traces = []
    for trace in answer(guard, asked, generations, lambda done: None):
        assert trace.generation is not None
        claims = RuleSplitter().split(trace.generation.text)
        real = [claim for claim in claims if claim.not_a_claim is None]
        labels = [_label(read.get(f"{trace.id}/{i}"), claim) for i, claim in enumerate(real)]
        traces.append(replace(trace, claims=tuple(real), labels=tuple(labels)))
    return [row for rows in labelled_rows(guard, traces, store=store) for row in rows]


def _label(read: Label | None, claim: Claim) -> ClaimLabel:
    if read is None or not read.settled or read.digest != digest_of(claim.text):
        return ClaimLabel()
    return ClaimLabel(read.truth[0] == "T", source="person")


def scores(dataset: str, rows: Sequence[Mapping[str, Any]], split: Split) -> Iterator[Score]:
    """Labelled claims as rows of a score matrix: numbers, no text."""
    for number, row in enumerate(rows):
        found = {key: row[name] for name, key in _SIGNALS.items()}
        named = f"{dataset}-{split}-{number}"
        yield Score(named, dataset, split, row["is_true"], found, group=row["group"])


def rows_of(matrix: Sequence[Score], dataset: str, source: str) -> Iterator[dict[str, Any]]:
    """The labelled claims of one data set, as a fit takes them."""
    for row in matrix:
        if row.dataset == dataset:
            signals = {name: row.scores[key] for name, key in _SIGNALS.items()}
            yield {**signals, "is_true": row.is_true, "group": row.group, "source": source}


def compared(
    made: Sequence[Mapping[str, Any]], real: Sequence[Mapping[str, Any]]
) -> Iterator[Judged]:
    """Every calibrator on the real answers, or on those that it was not fitted to."""
    edits, answers = labelled(made), labelled(real)
    any_writer = next(c for c in shipped() if c.writer is None and c.form == "long")
    faithful, nothing = answers.signals[:, 0], np.zeros(len(answers.is_true))
    evidence = any_writer.apply(faithful, nothing, nothing)[0]
    yield _judged("shipped, any writer: evidence alone", answers, evidence, any_writer.labels)
    for way in _WAYS:
        fit = _Recorded(fit_by(way))
        alone = fit(edits).calibrator
        p_true = p_true_of(answers, alone)
        found = _judged(f"documents alone, {way}", answers, p_true, alone.labels)
        yield found._replace(fell=fit.fell if way == "condition" else ())
    for few in _draws(answers):
        rows = [row for row, chosen in zip(real, few.tolist(), strict=True) if chosen]
        both, left = learned(labelled([*made, *rows])).calibrator, answers.only(~few)
        p_true = p_true_of(left, both)
        yield _judged(f"learned, level from {REAL} real claims", left, p_true, both.labels)
    for way in _WAYS:
        fit = _Recorded(fit_by(way))
        p_true = out_of_fold(fit, answers)
        rule = fit_by(way)(answers).calibrator.labels
        found = _judged(f"real answers (left out), {way}", answers, p_true, rule)
        yield found._replace(fell=fit.fell if way == "condition" else ())


class _Recorded:
    """A fit that keeps which branches each of its calls fitted to all claims."""

    def __init__(self, fit: Fit) -> None:
        self.fit, self.fell = fit, list[tuple[str, ...]]()

    def __call__(self, data: Labelled) -> Fitted:
        made = self.fit(data)
        self.fell.append(made.fallback)
        return made


def _draws(answers: Labelled) -> Iterator[NDArray[np.bool_]]:
    """For each draw the claims (n,) of whole answers, drawn until there are ``REAL`` of them."""
    rng = np.random.default_rng(_SEED)
    for _ in range(DRAWS):
        chosen = np.zeros(len(answers.is_true), bool)
        for group in rng.permutation(np.unique(answers.groups)):
            if chosen.sum() < REAL:
                chosen |= answers.groups == group
        yield chosen


def _judged(name: str, answers: Labelled, p_true: FloatArray, rule: LabelRule) -> Judged:
    return Judged(name, answers, p_true, flagged_always(answers, rule) | (p_true < rule.threshold))


def quality(found: Judged) -> dict[str, tuple[float, float]]:
    """Each of ``_MEASURES`` with its standard error (bootstrap over answers)."""
    known = ~np.isnan(found.p_true)
    truth, groups = found.answers.is_true[known], found.answers.groups[known]
    p_true, flagged = found.p_true[known], found.flagged[known].astype(float)
    measures: list[tuple[Callable[[FloatArray, FloatArray], float], FloatArray]] = [
        (metrics.auroc, p_true),
        (metrics.ece, p_true),
        (lambda is_true, chosen: _share(chosen[is_true == 1]), flagged),
        (lambda is_true, chosen: _share(chosen[is_true == 0]), flagged),
    ]
    return {
        name: (
            measure(truth, values),
            metrics.bootstrap_se(
                measure, truth, values, groups=groups, resamples=_RESAMPLES, seed=_SEED
            ),
        )
        for name, (measure, values) in zip(_MEASURES, measures, strict=True)
    }


def _cells(draws: Sequence[Judged]) -> Iterator[str]:
    """Each measure with its error; of several draws the mean, and how far they lie apart."""
    found = np.array([list(quality(one).values()) for one in draws])
    errors = found[0, :, 1] if len(found) == 1 else found[:, :, 0].std(axis=0, ddof=1)
    for value, error in zip(found[:, :, 0].mean(axis=0), errors, strict=True):
        yield f"{value:.2f} ±{error:.2f}"


def _share(flagged: FloatArray) -> float:
    return float(flagged.mean()) if len(flagged) else float("nan")


def table(made: Sequence[Score], real: Mapping[str, Sequence[Score]]) -> str:
    """A Markdown table for each data set."""
    lines = [
        "# Calibrators from documents alone, on real answers",
        "",
        f"± is a standard error (bootstrap over answers); where {REAL} real claims set the level, "
        f"the standard deviation over {DRAWS} draws of these. Flagged: P(true) below the "
        "calibrator's threshold, or not stated by the passages.",
    ]
    for dataset, (name, _, _) in SETS.items():
        edits = list(rows_of(made, dataset, "edit"))
        answers = list(rows_of(real[dataset], dataset, "person"))
        if not edits or not answers:
            continue
        true = sum(row["is_true"] for row in answers)
        lines += [
            "",
            f"## {name}",
            "",
            f"{len(edits)} claims made from its passages; {len(answers)} claims of "
            f"{len({row['group'] for row in answers})} own answers, {true} of them true.",
            "",
            f"| fitted to | {' | '.join(_MEASURES)} |",
            f"| --- |{' ---: |' * len(_MEASURES)}",
        ]
        every = list(compared(edits, answers))
        for name, draws in groupby(every, key=lambda found: found.name):
            lines.append(f"| {name} | {' | '.join(_cells(list(draws)))} |")
        lines += ["", _fallback(every)]
    return "\n".join(lines) + "\n"


def _fallback(every: Sequence[Judged]) -> str:
    """What was fitted to all claims instead of those of its condition, in a sentence."""
    said = []
    for found in (one for one in every if one.fell):
        counts = {b: sum(b in fell for fell in found.fell) for b in ("faith", "unfaith")}
        where = [f"UQ_{b} ({n} of {len(found.fell)} fits)" for b, n in counts.items() if n]
        said.append(f"{found.name}: {' and '.join(where) or 'none'}")
    return f"Fallback to the curve of all claims for want of labels: {'; '.join(said)}."


def settings(out: Path) -> str:
    """The end of the report: how the claims were measured, and how it was made of them."""
    told = {
        "signals": list(_SIGNALS.values()),
        "resamples of the bootstrap": _RESAMPLES,
        f"seed of the bootstrap and of the draws of {REAL} real claims": _SEED,
    }
    real = {f"answers to {name}": _RESULTS / folder for name, _, folder in SETS.values()}
    return measured.settings_section(told, {"statements": out, **real})


def real_scores() -> dict[str, Sequence[Score]]:
    """The claims of own answers that were labelled by reading, by data set."""
    found: dict[str, Sequence[Score]] = {}
    for dataset, (_, _, folder) in SETS.items():
        there = (_RESULTS / folder / "scores.jsonl").exists()
        found[dataset] = Scores.read(_RESULTS / folder).rows if there else ()
    return found


def main(arguments: list[str] | None = None) -> None:
    """Make and score statements if asked to, write REPORT.md and print it."""
    parser = argparse.ArgumentParser(prog="python -m franq_bench.calibrator.from_documents")
    parser.add_argument("--data", type=Path, help="folder of JSONL files; makes statements anew")
    parser.add_argument("--out", type=Path, required=True, help="folder of scores and report")
    parser.add_argument("--limit", type=int, default=30, help="sentences of each data set")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/franq-guard")
    options = parser.parse_args(arguments)
    if options.data is not None:
        options.cache.mkdir(parents=True, exist_ok=True)
        store, guard = SignalStore(options.cache / "from-documents.jsonl"), Guard.offline()
        made: list[Score] = []
        for dataset, (_, file, _) in SETS.items():
            rows = made_rows(guard, documents(options.data, file), options.limit, store)
            made += scores(dataset, rows, "train")
        Scores(tuple(made)).write(options.out)
        measured.write(options.out, guard)
        place = _RESULTS / SETS["clapnq"][2]
        generations = GenerationStore(options.cache / "calibrator-generations.jsonl")
        read = labels(place / "labels.jsonl")
        rows = read_rows(guard, options.data, read, generations, store)
        Scores(tuple(scores("clapnq", rows, "test"))).write(place)
        measured.write(place, guard)
    elif not (options.out / "scores.jsonl").exists():
        parser.error(f"{options.out} has no scores.jsonl yet: give --data to make statements")
    text = f"{table(Scores.read(options.out).rows, real_scores())}\n{settings(options.out)}"
    (options.out / "REPORT.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
