"""The findings of a benchmark in words: heading, first paragraph, explanation of the figures."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from franq_bench.tables.method_names import AS_PAPER, PRIMARY, title
from franq_bench.tables.results import Results, Row, figures_of, firsts, of_all, place
from franq_bench.tables.summary import TITLES, form_of
from franq_guard.report.sections import Banner
from franq_guard.report.tables import number

__all__ = ["EXPLAINED", "findings", "heading", "titles_shown", "too_few"]

_ROUGH = 0.03
"""With this standard error or a larger one, differences between usual methods may be chance."""
_NAMED = 3
_KINDS = {"long": "claims of long answers", "short": "short answers"}
_VERBS = {
    "auroc": ("tells true from false best", "tell true from false best"),
    "ece": ("is best calibrated", "are best calibrated"),
}
"""What the first method does, and what several do."""
EXPLAINED = (
    "What the figures mean. Each method gives every claim (or short answer) a number: how sure it "
    "is that it is true. ± is a standard error: how far a figure might have come out elsewhere "
    "with other rows of the same kind. Claims of one answer are drawn together.",
    "ROC-AUC: take a true and a false one at random; how often the true one has the higher number. "
    ".50 is a coin, 1.00 is always.",
    "PR-AUC: go through all of them from the least sure on; the share of false ones among those "
    "met so far, on average. By chance it is the share of false ones.",
    "PRR, the prediction rejection ratio: leave the least sure ones unanswered, at most half; how "
    "much better the rest is, from 0 (as if drawn by lot) to 1 (as if one knew which are false).",
    "ECE, the expected calibration error: of those that it calls 80 % sure, are 80 % true? The "
    "mean gap between the two; 0 is honest. It says nothing about ranking.",
)
"""For readers who meet PR-AUC, PRR, ROC-AUC and ECE for the first time."""


def heading(results: Results) -> str:
    """The model, the data and the date, as far as they are known."""
    model = results.settings.get("language_model")
    names = [d.name for d in results.datasets]
    data = ", ".join(names) if len(names) <= _NAMED else f"{len(names)} data sets"
    by = f" of {model.split('/')[0]}" if isinstance(model, str) and model else ""
    date = results.settings.get("date")
    on = f", {date}" if isinstance(date, str) and date else ""
    return f"Benchmark report: {_KINDS[form_of(results)]}{by} on {data}{on}"


def findings(results: Results) -> str:
    """Which method comes first and where FRANQ stands, in two or three sentences."""
    rows = sum(d.n_test for d in results.datasets)
    sets = len(results.datasets)
    on = f"{rows} test rows of {sets} data set{'' if sets == 1 else 's'}"
    said = [text for metric, verbs in _VERBS.items() if (text := _first(results, metric, verbs))]
    return f"Found on {on}: {' '.join(said)}" if said else f"No method could be judged on {on}."


def _first(results: Results, metric: str, verbs: tuple[str, str]) -> str:
    rows = of_all(results)
    figures = figures_of(rows, metric)
    if not figures:
        return ""
    shown = {row.method: _figure(row, metric) for row in rows}
    own = (AS_PAPER, PRIMARY)
    best = firsts(figures, metric)
    named = " and ".join(map(title, best))
    said = f"{named} {verbs[len(best) > 1]} ({TITLES[metric]} {shown[best[0]]})"
    said += f", first of {len(figures)}" if not {*best}.isdisjoint(own) else ""
    others = [
        f"{title(m)}, is number {place(figures, m, metric)} of {len(figures)} ({shown[m]})"
        for m in own
        if m in figures and m not in best
    ]
    return f"{'; '.join((said, *others))}."


def _figure(row: Row, metric: str) -> str:
    value, error = row.figure(metric)
    return number(value) + ("" if error is None else f" ±{number(error)}")


def too_few(results: Results) -> Iterator[Banner]:
    """A banner where chance may have made the ranking: the standard errors are too large."""
    errors = [row.auroc_se for row in of_all(results) if row.auroc_se is not None]
    if errors and (rough := median(errors)) > _ROUGH:
        rows = sum(d.n_test for d in results.datasets)
        yield Banner(
            f"Too few rows to rank the methods: on {rows} test rows a ROC-AUC has a standard error "
            f"of about {number(rough)}. Methods that lie closer together than twice that may well "
            "change places on other rows."
        )


def titles_shown(results: Results) -> Iterator[Banner]:
    """A banner on short-form runs whose Parametric Knowledge was scored with the titles shown."""
    of_short = results.settings.get("benchmark") == "short"
    if of_short and "parametric_knowledge_prompt" not in results.settings:
        yield Banner(
            "Parametric Knowledge of this run was scored with the passages' titles still in the "
            "prompt, and a title often is the answer. Its rows, and every row made from it "
            "(XGBoost of all features; FRANQ where it is one of the signals), are doubtful until "
            "the run is made again: the prompt is now the question alone."
        )
