"""A page on a calibrator's quality: curves, comparison with the shipped one, worst mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franq_guard import metrics
from franq_guard.calibration.defaults import shipped
from franq_guard.calibration.fit import (
    Labelled,
    flagged_always,
    kept_for_threshold,
    labelled,
    out_of_fold,
)
from franq_guard.calibration.fitting import FEWEST, fit_by
from franq_guard.calibration.store import Calibrator
from franq_guard.calibration.thresholds import flagged_by
from franq_guard.franq import FloatArray
from franq_guard.metrics.plots import Line, Plot, reliability_plot
from franq_guard.report.calibration_words import METRICS_IN_WORDS, found_text, warnings_of
from franq_guard.report.figures import promise_text
from franq_guard.report.page import page
from franq_guard.report.sections import Banner, Block, Curves, Note, Section
from franq_guard.report.tables import Column, Table

MISTAKES = 20

__all__ = ["MISTAKES", "calibration_page", "calibration_plots"]


def calibration_page(
    fitted: Calibrator,
    rows: Sequence[Mapping[str, Any]],
    *,
    weights: Mapping[str, float] | None = None,
    data: str = "",
    day: date | None = None,
) -> str:
    """One self-contained HTML page about a calibrator and the labelled claims it was fitted on.

    Every P(true) of the page comes from a fit that saw no claim of the same answer. The curves and
    tables are of the same claims as the calibrator's figures.

    Args:
        fitted: the calibrator.
        rows: as for :func:`~franq_guard.calibration.fit.fit_calibrator`; ``claim`` and ``question``
            are shown if present.
        weights: those of the fit.
        data: a name for the labelled data, for the title.
        day: of the fit, for the title.
    """
    judged, p, places = _unseen(fitted, rows, weights)
    sections = [
        Section("In short", list(_in_short(fitted))),
        Section("Curves", _curves(fitted, judged, p)),
        Section("Beside the shipped calibrator", [_beside(fitted, judged, p)]),
        *_beside_others(fitted),
        Section("Worst mistakes", [_mistakes([rows[i] for i in places.tolist()], p)]),
    ]
    model = fitted.fingerprint.get("language_model", "")
    told = (f"Calibrator {fitted.name}", model and f"for {model}", data and f"fitted on {data}")
    when = "" if day is None else day.isoformat()
    return page(", ".join(part for part in (*told, when) if part), sections)


def calibration_plots(
    fitted: Calibrator,
    rows: Sequence[Mapping[str, Any]],
    *,
    weights: Mapping[str, float] | None = None,
) -> tuple[Plot, Plot]:
    """The page's two drawings: the reliability curve, and flagged against caught by threshold.

    Arguments as for :func:`calibration_page`. A notebook draws a :class:`Plot` by itself.
    """
    data, p, _ = _unseen(fitted, rows, weights)
    return reliability_plot(data.is_true, {"P(true)": p}), _traded(fitted, data, p)


def _unseen(
    fitted: Calibrator, rows: Sequence[Mapping[str, Any]], weights: Mapping[str, float] | None
) -> tuple[Labelled, FloatArray, NDArray[np.intp]]:
    """The claims of the stored figures, their P(true) by fits without their answer, their rows.

    Statements made for the fit, claims that set the threshold and those without P(true) are not
    among them.
    """
    data = labelled(rows, weights)
    fit = fit_by(
        fitted.calibration,
        log_space=fitted.log_space,
        interpolation=fitted.interpolation,
        faithful_threshold=fitted.labels.supported_from,
        min_per_class=fitted.figures.get("min_per_class", FEWEST),
    )
    fitted_on = np.ones(len(rows), bool) if fitted.promise is None else ~kept_for_threshold(data)
    data = data.only(fitted_on)
    p_true = out_of_fold(fit, data)
    shown = data.judged & ~np.isnan(p_true)
    return data.only(shown), p_true[shown], np.flatnonzero(fitted_on)[shown]


def _in_short(fitted: Calibrator) -> Iterator[str | Block]:
    yield Note(found_text(fitted.figures), main=True)
    yield from map(Banner, warnings_of(fitted.figures))
    yield promise_text(fitted)
    yield _more(fitted.figures)
    yield METRICS_IN_WORDS


def _more(figures: Mapping[str, Any]) -> str:
    answers, error = figures.get("answers", 0), figures.get("auroc_se")
    if not error:
        return f"{answers} answers: too few to say how sure the figures are."
    return (
        f"AUROC {figures['auroc']:.3f} +- {error:.3f} on {answers} answers. An error falls with "
        f"the root of their number: {3 * answers} more labelled answers would halve it."
    )


def _curves(fitted: Calibrator, data: Labelled, p: FloatArray) -> list[str | Block]:
    reliable = reliability_plot(data.is_true, {"P(true)": p})
    at = _shares(fitted, data, p, np.array([fitted.labels.threshold]))
    if not at:
        return [Curves((reliable,)), "All these claims have one label: nothing can be told apart."]
    share = f"{at[0][0]:.0%} of the true claims are flagged and {at[0][1]:.0%} of the false ones"
    said = f"At the threshold {fitted.labels.threshold:.3f} {share} caught."
    return [Curves((reliable, _traded(fitted, data, p))), said]


def _traded(fitted: Calibrator, data: Labelled, p: FloatArray) -> Plot:
    """What each threshold flags of the true claims and catches of the false ones."""
    flagged = _shares(fitted, data, p, np.unique(np.append(p, [0.0, 1.01])))
    at = _shares(fitted, data, p, np.array([fitted.labels.threshold]))
    lines = (
        Line("chance", ((0.0, 0.0), (1.0, 1.0)), guide=True),
        Line("by threshold", flagged),
        Line("the chosen one", at, markers=True),
    )
    title, flags, catches = "Flagged against caught", "true claims flagged", "false claims caught"
    return Plot(title, flags, catches, lines)


def _shares(
    fitted: Calibrator, data: Labelled, p: FloatArray, thresholds: FloatArray
) -> tuple[tuple[float, float], ...]:
    """Share of true and of false claims that each threshold flags; none if one kind is missing."""
    fixed, true = flagged_always(data, fitted.labels), data.is_true == 1
    if true.all() or not true.any():
        return ()
    shares = (flagged_by(p[of], fixed[of], thresholds) / of.sum() for of in (true, ~true))
    return tuple(dict.fromkeys(zip(*(share.tolist() for share in shares), strict=True)))


def _beside(fitted: Calibrator, data: Labelled, p: FloatArray) -> Table:
    """Compares this calibrator with the shipped one for any writer, on the same claims."""
    rows: list[tuple[str | float | None, ...]] = [
        ("this one, on answers it did not see", *_figures(fitted, data, p))
    ]
    for other in shipped():
        if other.writer is None and other.form == fitted.form:
            zeros = np.zeros(len(p))
            theirs = other.apply(data.signals[:, 0], zeros, zeros)[0]
            rows.append((other.name, *_figures(other, data, theirs)))
    titles = (("AUROC", "higher"), ("ECE", "lower"), ("true claims flagged", "lower"))
    columns = [Column(title, better) for title, better in titles]  # type: ignore[arg-type]
    return Table(
        "beside",
        "The same labelled claims",
        (Column("calibrator"), *columns, Column("false claims caught", "higher")),
        tuple(rows),
        note="The shipped one reads the passages alone and was fitted on other data.",
    )


def _beside_others(fitted: Calibrator) -> Iterator[Section]:
    """The other ways to calibrate, on the same claims; nothing if they were not measured."""
    compared: Mapping[str, Any] = fitted.figures.get("compared", {})
    names = ("auroc", "pr_auc", "prr", "ece", "brier")
    rows: list[tuple[str | float | None, ...]] = []
    for way, found in compared.items():
        if isinstance(found, Mapping):
            rows.append((way, *(found[name] for name in names)))
    if rows:
        better = ("higher", "higher", "higher", "lower", "lower")
        titles = ("AUROC", "PR-AUC (false claims)", "PRR", "ECE", "Brier score")
        columns = [Column(t, b) for t, b in zip(titles, better, strict=True)]  # type: ignore[arg-type]
        note = "Each on claims of answers that its fit did not see. `learned`: logistic curves."
        table = Table(
            "ways", "Ways to calibrate", (Column("way"), *columns), tuple(rows), note=note
        )
        missing = [f"Not done: {said}." for said in fitted.figures.get("not_done", ())]
        yield Section("The other calibrations", [table, *missing])


def _figures(made: Calibrator, data: Labelled, p: FloatArray) -> Iterator[float | None]:
    shares = _shares(made, data, p, np.array([made.labels.threshold]))
    yield metrics.auroc(data.is_true, p) if shares else None
    yield metrics.ece(data.is_true, p)
    yield from shares[0] if shares else (None, None)


def _mistakes(rows: Sequence[Mapping[str, Any]], p: FloatArray) -> Table:
    truth = np.array([bool(row["is_true"]) for row in rows], float)
    worst = np.argsort(-np.abs(truth - p), kind="stable")[:MISTAKES]
    return Table(
        "mistakes",
        f"Claims whose P(true) is farthest from their label ({len(worst)} of {len(rows)})",
        (Column("claim"), Column("question"), Column("label"), Column("P(true)")),
        tuple(
            (
                str(rows[i].get("claim", rows[i].get("group", ""))),
                str(rows[i].get("question", "")),
                "true" if truth[i] else "false",
                round(float(p[i]), 3),
            )
            for i in worst.tolist()
        ),
        note="Read them: some are wrong labels.",
    )
