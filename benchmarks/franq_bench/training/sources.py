"""Reads what the small model is trained and fitted on: a fold's labelled pairs and its passages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from franq_bench.data.files import files
from franq_bench.data.folds import Fold, Folds
from franq_bench.data.pairs import SOURCES, Example, Question, examples, questions
from franq_bench.data.written import written
from franq_bench.progress import report
from franq_bench.quality.faithfulness import draw, group
from franq_bench.training.balance import balanced
from franq_bench.training.recipe import FIRST


def fold_reader(
    data: Path, without: Sequence[str] = ()
) -> Callable[[Fold], tuple[list[Example], list[Question]]]:
    """Return what reads a fold's pairs of the sets in `SOURCES`, the written ones, and passages.

    Of the data sets in `without` nothing is read. Sets that the folder lacks are reported.

    Raises:
        ValueError: when a fold is read of which the folder has no pairs at all.
    """
    paths, folds = files([data]), Folds.read(data)

    def wanted(dataset: str) -> bool:
        return dataset in SOURCES and group(dataset) not in without

    def read(fold: Fold) -> tuple[list[Example], list[Question]]:
        pairs = examples(paths, lambda row: wanted(row["dataset"]) and folds.of(row) == fold)
        if not pairs:
            raise ValueError(f"{data} has no pairs of the sets that are read for {fold}")
        own = written(fold)
        found = {e.dataset for e in (*pairs, *own)}
        if lacking := [name for name in filter(wanted, SOURCES) if name not in found]:
            report(f"{data} has no pairs for {fold} of: {', '.join(lacking)}")
        pairs += balanced(own, seed=FIRST.seed)
        return pairs, questions(paths, lambda row: folds.of(row) == fold)

    return read


def test_pairs(data: Path, wanted: Collection[str], *, limit: int) -> dict[str, list[Example]]:
    """Return at most `limit` pairs of each set in `wanted`, of the test fold.

    Args:
        data: folder of JSONL files.
        wanted: sets as the figures group them.
        limit: pairs of a set.
    """
    folds = Folds.read(data)
    pairs = examples(files([data]), lambda row: folds.of(row) == "test")
    return draw([e for e in pairs if group(e.dataset) in wanted], limit=limit, seed=0)


def texts_of(pairs: Sequence[Example], passages: Sequence[Question]) -> list[str]:
    """Return the texts that claims stood beside, for the list of what was read (`data.seen`)."""
    return [*(e.premise for e in pairs), *(q.passage for q in passages)]
