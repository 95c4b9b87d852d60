"""What ``franq bench short`` says of the grades of its answers, on standard error."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from franq_guard.cli.console import say

if TYPE_CHECKING:
    from franq_bench.tables.results import Results

__all__ = ["tell_grades"]


def tell_grades(results: Results, out: Path) -> None:
    """How often a grader agrees with the aliases, and where the grades leave nothing to fit.

    Args:
        results: of the run.
        out: the run's folder, which has its scores.
    """
    if counts := results.settings.get("answers_graded_as_by_alias"):
        both = counts["same"] + counts["different"]
        say(f"the grader agrees with the aliases on {counts['same']} of {both} answers")
    for name, label in _all_alike(out).items():
        say(f"warning: nothing can be fitted on {name}: all training answers are graded {label}")


def _all_alike(out: Path) -> dict[str, str]:
    """The data sets whose training answers are all true or all false, with the label."""
    from franq_bench.tables.scores import Scores

    seen: dict[str, set[str]] = {}
    for row in Scores.read(out).rows:
        if row.split == "train":
            seen.setdefault(row.dataset, set()).add("true" if row.is_true else "false")
    return {name: label for name, labels in seen.items() if len(labels) == 1 for label in labels}
