"""Rows of an earlier, smaller run, so that a table can grow over days and machines.

``scores.jsonl`` holds all that the tables need of a question, so a question that is there need not
be answered again. The draw is nested: a larger run contains the questions of a smaller one. Where
passages are spoiled, they are so with the help of the other questions, so their number must agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from franq_bench.tables.results import Results
from franq_bench.tables.scores import Score, Scores
from franq_guard.datasets.questions import Question

__all__ = ["Row", "known_rows", "still_to_ask"]

Row = tuple[str, str]
"""Data set and id of a question."""

_MAY_DIFFER = frozenset({
    "configuration", "date", "gold_lost_by_cutting", "signals", "threshold_faithful",
    "test_questions_the_small_model_was_trained_on", "answers_graded_as_by_alias",
    "passages_rewritten",
})  # fmt: skip
"""Settings that are counts, or say how FRANQ is fitted to the rows."""
_OF_MODELS = {"grader": "alias", "rewrite": "rules"}
"""What of the configuration decides on rows and stands nowhere else in the settings; the usual."""
_SIZE = frozenset({"data", "train", "test"})


def known_rows(folder: Path, settings: Mapping[str, Any]) -> dict[Row, Score]:
    """The rows of the run in ``folder``.

    Args:
        folder: with ``results.json`` and ``scores.jsonl`` of ``franq bench short``.
        settings: of the run that takes them.

    Raises:
        ValueError: the two runs do not answer in the same way; names what differs.
        FileNotFoundError: there is no such run in the folder.
    """
    theirs, settings = _opened(Results.read(folder).settings), _opened(settings)
    free = _MAY_DIFFER | (_SIZE if settings.get("retrieval") == "original" else frozenset())
    keys = [key for key in {**theirs, **settings} if key not in free]
    differing = sorted(key for key in keys if theirs.get(key) != settings.get(key))
    if differing:
        told = ", ".join(f"{k} ({theirs.get(k)} there, {settings.get(k)} here)" for k in differing)
        raise ValueError(
            f"the run in {folder} answered in another way: {told}. Give its settings, or leave out "
            "--known"
        )
    return {(row.dataset, row.id): row for row in Scores.read(folder).rows}


def _opened(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, and beside them who grades and rewrites."""
    chosen: Mapping[str, Any] = settings.get("configuration", {})
    return {**settings, **{key: chosen.get(key, usual) for key, usual in _OF_MODELS.items()}}


def still_to_ask(questions: Sequence[Question], known: Mapping[Row, Score]) -> list[Question]:
    """The questions without a row, in order."""
    return [q for q in questions if (q.dataset, q.id) not in known]
