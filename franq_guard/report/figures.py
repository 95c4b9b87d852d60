"""Shows a calibrator's stored figures as a text table and a reliability diagram."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from franq_guard.calibration.store import Calibrator
from franq_guard.metrics.measures import Reliability
from franq_guard.metrics.plots import reliability_diagram, reliability_text, to_svg
from franq_guard.report.words import promise_words

if TYPE_CHECKING:  # it needs scikit-learn, which a promise's line does not
    from franq_guard.calibration.holding import Holding

_SHOWN = ("n", "answers", "share_true", "auroc", "pr_auc", "prr", "ece", "brier")


def figures_text(figures: Mapping[str, Any]) -> str:
    """Figures (± bootstrap standard error) and the reliability table."""
    lines = [_line(key, figures) for key in _SHOWN if key in figures]
    if unscored := figures.get("unscored"):
        lines.append(f"unscored    {unscored} of these claims, left out of the figures")
    return "\n".join([*lines, "", reliability_text(_reliability(figures))])


def compared_text(calibrator: Calibrator) -> str:
    """All calibrations on claims they did not see; then each source of labels, if several."""
    compared = calibrator.figures.get("compared", {})
    wide = max([11, *map(len, compared)])
    lines = [f"{'':{wide}} {'auroc':>6} {'pr_auc':>6} {'ece':>6} {'brier':>6}"]
    for way, found in compared.items():
        here = "  (this one)" if way == calibrator.calibration else ""
        lines.append(f"{way:{wide}} {_cells(found, ('auroc', 'pr_auc', 'ece', 'brier'))}{here}")
    sources = calibrator.figures.get("sources", {})
    if len(sources) > 1:
        lines += ["", f"{'labels of':11} {'auroc':>6} {'ece':>6} {'true':>6} {'weight':>6} claims"]
        for name, found in sources.items():
            shown = _cells(found, ("auroc", "ece", "share_true", "weight"))
            lines.append(f"{name:11} {shown} {found['n']:6}")
    return "\n".join(lines)


def _cells(found: Mapping[str, Any] | str, keys: tuple[str, ...]) -> str:
    if isinstance(found, str):  # why there is no fit
        return found
    return " ".join("     -" if found[key] is None else f"{found[key]:6.3f}" for key in keys)


def promise_line(promise: Mapping[str, Any]) -> str:
    """A calibrator's promise in one line, with the data it is based on."""
    source = ", ".join(str(promise[key]) for key in ("data", "date") if promise.get(key))
    return f"promise     {promise_words(promise)}{f'; {source}' if source else ''}"


def promise_text(calibrator: Calibrator) -> str:
    """The threshold, what is promised about it, and the claims the promise is based on."""
    threshold, made = calibrator.labels.threshold, calibrator.promise
    if made is None:
        return f"threshold   {threshold:.3f}, without a promise"
    lines = [
        f"threshold   {threshold:.3f}",
        promise_line(made),
        f"rests on    answers that no fit saw, one claim of each: {made['flagged']} of {made['n']} "
        f"flagged, so at most {made['bound']:.3f} of all",
    ]
    if made["others"]:
        lines.append(f"caught      {made['caught']} of {made['others']} other claims (no promise)")
    return "\n".join(lines)


_DRAWN = """\
Claims of one answer are not independent, so one of each answer counts. It is drawn twice: for what
is flagged from its true claims, for P(true) from all. So the two are about different claims."""


def holding_text(found: Holding) -> str:
    """The result of testing a calibrator on new labels, and what to do."""
    lines = [
        f"claims      {found.claims}, one of each answer",
        f"flagged     {found.flagged} of {found.true} {found.about}, one of each answer with any: "
        f"at most {found.bound:.3f} of all, at 0.9 confidence",
    ]
    if found.promised is not None:
        kept = "BROKEN" if found.promise_broken else "not contradicted"
        lines.append(
            f"promise     at most {found.promised:g} flagged: {kept} (p = {found.p_promise:.3f})"
        )
    off = "CONTRADICTED" if found.miscalibrated else "not contradicted"
    lines.append(
        f"P(true)     says {found.said:.3f} on average, {found.found:.3f} are true: {off} "
        f"(p = {found.p_calibration:.3f}, ECE {found.ece:.3f})"
    )
    lines += ["", _DRAWN]
    if found.fit_again:
        return "\n".join([*lines, "", "fit it again: franq calibrate with these labels"])
    return "\n".join([*lines, "", "no test failed; with few labels the tests can miss errors"])


def reliability_svg(figures: Mapping[str, Any]) -> str:
    """The reliability diagram as one ``<svg>`` element."""
    return to_svg(reliability_diagram({"P(true)": _reliability(figures)}))


def _line(key: str, figures: Mapping[str, Any]) -> str:
    value, error = figures[key], figures.get(f"{key}_se")
    shown = f"{value:.3f}" if isinstance(value, float) else str(value)
    return f"{key:11} {shown}" + (f" ± {error:.3f}" if error is not None else "")


def _reliability(figures: Mapping[str, Any]) -> Reliability:
    stored = figures["reliability"]
    return Reliability(
        np.array(stored["claims"], np.int64),
        np.array(stored["confidence"], float),
        np.array(stored["share_true"], float),
    )
