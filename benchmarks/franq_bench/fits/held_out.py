"""The small faithfulness model on passages it was never trained on."""

from __future__ import annotations

from franq_bench.fits.by_faithfulness import part_table
from franq_bench.tables.scores import TRAINED_ON, Scores
from franq_guard.report.tables import Table

__all__ = ["held_out"]


def held_out(scores: Scores, whole: Scores, *, resamples: int = 200) -> list[Table]:
    """Every method on the test rows whose gold passages the small model had not seen.

    Args:
        scores: rows with the mark :data:`~franq_bench.tables.scores.TRAINED_ON`.
        whole: the same with the fitted methods and without marks.
        resamples: of the bootstrap.

    Returns:
        One table; none where there is nothing to leave out, or nothing is left.
    """
    known = {(r.dataset, r.id) for r in scores.rows if r.scores.get(TRAINED_ON)}
    tests = [row for row in whole.rows if row.split == "test"]
    kept = Scores(tuple(row for row in tests if (row.dataset, row.id) not in known))
    if not kept.rows or len(kept.rows) == len(tests):
        return []
    heading = "Test rows with gold passages that the small faithfulness model was not trained on"
    return [part_table("held-out-passages", heading, kept, resamples)]
