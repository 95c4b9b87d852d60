"""Further tables of the long form: the data that was used, and figures on unfaithful claims."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from franq_bench.data.labelled_answers import LabelledAnswer
from franq_bench.fits.fallback import fallback_note, fell_back
from franq_bench.fits.long_form import SIGNALS
from franq_bench.fits.paper_form import as_paper_said
from franq_bench.tables.layout import METRIC_TITLES, figures_table
from franq_bench.tables.method_names import AS_PAPER, PRIMARY, order
from franq_bench.tables.results import metric_rows
from franq_bench.tables.scores import GOLD, Score, Scores
from franq_guard.report.tables import Cell, Column, Table

__all__ = ["UNFAITHFUL", "claims_table", "unfaithful_of", "unfaithful_rows"]

UNFAITHFUL = 0.5
"""Without a gold label, a claim with P(faithful) below this counts as unfaithful."""

_MEANS = {
    "factuality": "true in the world",
    "faithfulness": "entailed by the passages",
}
_SHOWN = ("pr_auc", "prr", "auroc")


def claims_table(answers: Sequence[LabelledAnswer], scores: Scores) -> Table:
    """What a data set's labels mean, its sizes, and the claims left out."""
    rows: list[tuple[Cell, ...]] = []
    for name, members in _by_dataset(answers).items():
        found = [scores.part(name, split) for split in ("train", "test")]
        rows.append((
            name,
            f"{members[0].target}: {_MEANS[members[0].target]}",
            ", ".join(sorted({a.writer for a in members if a.writer})) or None,
            *(len({row.group for row in part.rows}) for part in found),
            *(len(part.rows) for part in found),
            sum(a.unaligned for a in members),
        ))  # fmt: skip
    titles = ("data set", "a true claim is", "answers by", "answers, train", "answers, test",
              "claims, train", "claims, test", "claims not found in their answer")  # fmt: skip
    return Table(
        name="claims",
        title="Answers and claims",
        columns=tuple(map(Column, titles)),
        rows=tuple(rows),
        note="Claims whose words were not found in their answer have no tokens: they are left out.",
    )


def unfaithful_of(
    targets: Mapping[str, str],
    scores: Scores,
    *,
    seed: int = 0,
    signals: Sequence[str] | None = None,
    faithful_above: float = 0.5,
) -> Iterator[Table]:
    """Every method on the unfaithful test claims of each data set that has true and false ones.

    Faithful claims are left out: by the gold label if every test claim of the data set has one in
    addition to the label that is predicted, else if P(faithful) is at least :data:`UNFAITHFUL`.

    Args:
        targets: what a true claim is (factuality or faithfulness), by data set.
        scores: the matrix, with the fitted methods.
        seed: of the bootstrap.
        signals: of the fits, for the note on their fallback; None: it says nothing of it.
        faithful_above: of the fits.
    """
    for name, target in targets.items():
        rows = scores.part(name).rows
        kept = unfaithful_rows(rows)
        if len({row.is_true for row in kept}) < 2:
            continue
        found = {
            row.method: [row.figure(metric) for metric in _SHOWN]
            for row in metric_rows(Scores(tuple(kept)), seed=seed)
            if row.dataset == name and row.pr_auc is not None
        }
        by = "gold label" if _all_gold(rows) else f"P(faithful) < {UNFAITHFUL:g}"
        false = sum(not row.is_true for row in kept)
        note = f"{len(kept)} test claims, {false} of them not {_MEANS[target]}."
        own = Scores(tuple(row for row in scores.rows if row.dataset == name))
        fits = _fits_said(own, found, signals, faithful_above) if signals else ""
        yield figures_table(
            f"unfaithful-{name}",
            f"{name}: unfaithful claims only ({by}), {target}",
            [Column("method"), *(Column(METRIC_TITLES[metric], "higher") for metric in _SHOWN)],
            {method: found[method] for method in order(found)},
            families=True,
            note=f"{note} {fits}".strip(),
        )


def _fits_said(
    own: Scores, shown: Collection[str], signals: Sequence[str], faithful_above: float
) -> str:
    """What the rows shown of condition-calibrated FRANQ are, fitted on one data set's claims."""
    said = []
    if PRIMARY in shown:
        fell = fell_back(own, signals, log_space=True, faithful_above=faithful_above)
        said.append(fallback_note({"": fell}))
    if AS_PAPER in shown:
        said.append(as_paper_said(signals, own.rows, faithful_above=faithful_above))
    return " ".join(said)


def unfaithful_rows(rows: Sequence[Score]) -> list[Score]:
    """The rows of unfaithful claims: by gold label where all rows have one, else by score."""
    if _all_gold(rows):
        return [row for row in rows if not row.scores[GOLD]]
    known = [(row, row.scores.get(SIGNALS[0])) for row in rows]
    return [row for row, score in known if score is not None and score < UNFAITHFUL]


def _all_gold(rows: Sequence[Score]) -> bool:
    """Whether every row carries gold faithfulness."""
    return all(row.scores.get(GOLD) is not None for row in rows)


def _by_dataset(answers: Sequence[LabelledAnswer]) -> dict[str, list[LabelledAnswer]]:
    found: dict[str, list[LabelledAnswer]] = {}
    for answer in answers:
        found.setdefault(answer.dataset, []).append(answer)
    return found
