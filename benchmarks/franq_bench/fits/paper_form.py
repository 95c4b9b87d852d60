"""FRANQ's signals in the form that the paper ran, and whether a run has the paper's signals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from franq_bench.tables.method_names import AS_PAPER, title
from franq_bench.tables.paper import as_run
from franq_bench.tables.scores import Score

__all__ = ["as_paper", "as_paper_said", "whose"]

_LIBRARY = as_run("semantic-entropy")
_PAPERS: dict[tuple[str, ...], str] = {
    ("faithfulness", _LIBRARY, "eigenvalues-entail"): "the paper",
    ("faithfulness", "parametric-knowledge", "eigenvalues-entail"): (
        "the paper, for corrupted passages,"
    ),
    ("faithfulness", "max-probability", "parametric-knowledge"): "the paper",
}
"""The paper's P_faithful, UQ_faith and UQ_unfaith: short answers, the same where passages are
corrupted, claims of long answers."""


def as_paper(signals: Sequence[str], rows: Iterable[Score]) -> tuple[str, ...]:
    """The signals, UQ_faith in the form of the paper's library if that makes them the paper's.

    Our Semantic Entropy counts equal samples once, the library's keeps them. It is taken where
    every row that has ours has the library's, too.

    Args:
        signals: P_faithful, UQ_faith and UQ_unfaith.
        rows: of the score matrix.
    """
    papers = tuple(_LIBRARY if name == "semantic-entropy" else name for name in signals)
    if papers not in _PAPERS or papers == tuple(signals):
        return tuple(signals)
    ours = [row for row in rows if row.scores.get("semantic-entropy") is not None]
    there = bool(ours) and all(row.scores.get(_LIBRARY) is not None for row in ours)
    return papers if there else tuple(signals)


def whose(signals: Sequence[str]) -> str:
    """Who has these signals, as it stands before "has it": the paper, or this run."""
    return _PAPERS.get(tuple(signals), "this run")


def as_paper_said(signals: Sequence[str], rows: Iterable[Score]) -> str:
    """What the row :data:`~franq_bench.tables.method_names.AS_PAPER` is in a run, in a sentence."""
    taken = as_paper(signals, rows)
    if taken not in _PAPERS:
        return (
            f"{title(AS_PAPER)}, has the paper's rule, no fallback, but this run's signals, which "
            "are not the paper's."
        )
    form = f" and the paper's form of UQ_faith, {title(_LIBRARY)}" if _LIBRARY in taken else ""
    return f"{title(AS_PAPER)}, has no fallback{form}."
