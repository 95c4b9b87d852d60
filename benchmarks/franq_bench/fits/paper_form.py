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


def as_paper_said(
    signals: Sequence[str], rows: Iterable[Score], *, faithful_above: float = 0.5
) -> str:
    """What the row :data:`~franq_bench.tables.method_names.AS_PAPER` is in a run, in words.

    Args:
        signals: P_faithful, UQ_faith and UQ_unfaith.
        rows: of the score matrix; a condition without any training row is named.
        faithful_above: P_faithful above which a row counts as faithful.
    """
    given = list(rows)
    taken = as_paper(signals, given)
    empty = _empty_said(taken, given, faithful_above)
    rule = "no fallback where a condition has rows" if empty else "no fallback"
    if taken not in _PAPERS:
        return (
            f"{title(AS_PAPER)}, has the paper's rule, {rule}, but this run's signals, which "
            f"are not the paper's.{empty}"
        )
    also = ", and" if empty else " and"
    form = f"{also} the paper's form of UQ_faith, {title(_LIBRARY)}" if _LIBRARY in taken else ""
    return f"{title(AS_PAPER)}, has {rule}{form}.{empty}"


def _empty_said(signals: Sequence[str], rows: Sequence[Score], faithful_above: float) -> str:
    """Where it has no row to fit a branch on, and so takes the curve of all; empty: nowhere.

    A row counts where both P_faithful and the branch's signal were measured.
    """
    train: dict[str, list[Score]] = {}
    for row in rows:
        if row.split == "train":
            train.setdefault(row.dataset, []).append(row)
    # Where all rows have one label nothing is fitted.
    fits = {name: own for name, own in train.items() if len({row.is_true for row in own}) > 1}
    said = []
    for faithful, branch, kind, signal in (
        (True, "UQ_faith", "faithful", signals[1]),
        (False, "UQ_unfaith", "unfaithful", signals[2]),
    ):
        names = [
            name
            for name, own in fits.items()
            if not any(
                (p > faithful_above) is faithful
                for row in own
                if (p := row.scores.get(signals[0])) is not None
                and row.scores.get(signal) is not None
            )
        ]
        if names:
            have = "has" if len(names) == 1 else "have"
            said.append(f"{branch} on {', '.join(names)}, which {have} no {kind} training row")
    return f" It takes the curve of all rows for {' and for '.join(said)}." if said else ""
