"""Short answers of the bundled model with their signals and truth, for its calibrator.

`python -m franq_bench.calibrator.own_short --data DATA --out benchmarks/results/own-short`

Three passages each, the gold one among them for 60 %: those of :func:`.build.questions`. Questions
of the folds "fitting" and "thresholds" are the part "train" of the rows, those of the test fold the
part "test". The prompt is that of ``franq bench short``; the gold aliases grade.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from franq_bench.calibrator import measured
from franq_bench.calibrator.build import Question, answer, questions
from franq_bench.data.folds import Fold
from franq_bench.progress import Bar
from franq_bench.short.prompts import answer_prompt
from franq_bench.tables.scores import Score, Scores, Split
from franq_guard.cli.console import bar, say
from franq_guard.datasets.generations import GenerationStore
from franq_guard.datasets.grading import grade_by_alias
from franq_guard.datasets.questions import Question as Asked
from franq_guard.guard import Guard
from franq_guard.language_model.base import Prompt
from franq_guard.language_model.transformers.prompt_reading import first_line
from franq_guard.records import Trace
from franq_guard.signals.gather import gather
from franq_guard.signals.request import Models, Request
from franq_guard.uncertainty.methods import compute, confidence

__all__ = ["SIGNALS", "rows"]

SIGNALS: Final = ("mean-token-entropy", "max-token-entropy", "perplexity")
"""Measured beside P(faithful): those that come with the answer and do not depend on its length."""
MAX_NEW_TOKENS: Final = 32
_FOLDS: Final[Mapping[Split, tuple[Fold, ...]]] = {
    "train": ("fitting", "thresholds"),
    "test": ("test",),
}


def rows(folder: Path, *, limit: int, seed: int, cache: Path, progress: Bar) -> Scores:
    """A row for every question that the model attempts.

    Args:
        folder: with the data files.
        limit: number of questions of each part.
        seed: of the draw.
        cache: file with answers of earlier runs; it will contain text of the data.
        progress: shows the progress of each stage.
    """
    guard = Guard.offline(form="short")
    store = GenerationStore(cache)
    found: list[Score] = []
    for part, folds in _FOLDS.items():
        asked = questions(folder, limit=limit, seed=seed, of=folds)
        found += _rows_of(part, asked, guard, store, progress)
    return Scores(tuple(found))


def _rows_of(
    part: Split, asked: Sequence[Question], guard: Guard, store: GenerationStore, progress: Bar
) -> Iterator[Score]:
    with progress(f"answering {part}") as show:
        tell: Callable[[int], None] = lambda done: show(done, len(asked))  # noqa: E731
        made = answer(
            guard, asked, store, tell, prompt=_short_prompt, max_new_tokens=MAX_NEW_TOKENS
        )
    traces = [replace(t, generation=first_line(t.generation)) for t in made]
    with progress(f"checking {part}") as show:
        checked = list(guard.check_many(traces, progress=lambda done: show(done, len(asked))))
    for question, trace, result in zip(asked, traces, checked, strict=True):
        grade = grade_by_alias(question.text, trace.generation.text, question.answers)
        p_faithful = result.verdicts[0].p_faithful
        if grade in ("correct", "incorrect") and p_faithful is not None:
            scores = {"faithfulness": p_faithful, **_signals(trace)}
            name = question.id.split("-")[0]
            yield Score(question.id, name, part, grade == "correct", scores)


def _short_prompt(question: Question) -> Prompt:
    unknown = (False,) * len(question.passages)  # the prompt does not say which one is gold
    return answer_prompt(
        Asked(question.id, "", question.text, question.answers, question.passages, unknown)
    )


def _signals(trace: Trace) -> dict[str, float]:
    [statistics] = gather([Request(trace, SIGNALS)], Models())
    found = compute(SIGNALS, statistics)
    return {name: confidence(name, float(of[0]), samples=0) for name, of in found.items()}


def main(arguments: list[str] | None = None) -> None:
    """Ask, grade and measure; write ``scores.jsonl``."""
    from franq_guard.language_model.transformers.smollm2 import cache_dir

    parser = argparse.ArgumentParser(description="Short answers of the bundled model, measured.")
    parser.add_argument("--data", type=Path, required=True, help="folder with the data files")
    parser.add_argument("--out", type=Path, required=True, help="folder for scores.jsonl")
    parser.add_argument("--limit", type=int, default=1000, help="questions of each part")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache", type=Path, default=None, help="answers are kept in this file")
    asked = parser.parse_args(arguments)
    if not asked.data.is_dir():
        parser.error(f"--data: {asked.data} is not a folder with the data files")
    cache = asked.cache or cache_dir() / "own-short-generations.jsonl"
    found = rows(asked.data, limit=asked.limit, seed=asked.seed, cache=cache, progress=bar)
    found.write(asked.out)
    measured.write(asked.out, Guard.offline(form="short"))
    true = sum(row.is_true for row in found.rows)
    say(f"{len(found.rows)} answers, {true} of them true; written to {asked.out}")


if __name__ == "__main__":
    main()
