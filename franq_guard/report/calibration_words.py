"""What a calibrator's figures mean, in sentences: what was found, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from franq_guard.calibration.fit import FEW_PER_CLASS

__all__ = ["METRICS_IN_WORDS", "found_text", "warnings_of"]

_TOO_GOOD = 0.9995  # an AUROC that is printed as 1.000
_CHANCE = 0.5
_SURELY = 2  # an AUROC so many standard errors below chance is hardly there by chance
_FEW = 200  # with fewer claims the standard error of an AUROC of 0.8 exceeds 0.03
_MADE = (
    "Measured on own answers of the bundled model (SQuAD; CLAP-NQ), a calibrator from made "
    "statements alone had an AUROC of .54; .62 and an ECE of .36; .33 with condition, and an AUROC "
    "of .69; .52 and an ECE of .06; .15 with learned."
)  # benchmarks/results/from-documents; a test compares

METRICS_IN_WORDS = (
    "AUROC: how often a true claim has a higher P(true) than a false one; .5 is chance, 1 is "
    "always. PR-AUC: how well the lowest P(true) find the false claims; chance is their share. "
    "PRR: how much is gained by leaving out the least certain claims; 0 is chance, 1 the best "
    "possible. ECE: how far P(true) is from the share of claims that are true, on average; 0 is "
    "perfect. Brier score: the mean squared distance of P(true) from what is true; 0 is perfect."
)
"""The metrics of a calibrator's table, each in a sentence."""


def found_text(figures: Mapping[str, Any]) -> str:
    """What the labels and the figures say, for somebody who has never seen such a report."""
    n, true = figures["n"], round(figures["n"] * figures["share_true"])
    said = f"{n} labelled claims of {figures.get('answers', 0)} answers, {true} of them true. "
    auroc, ece = figures.get("auroc"), figures.get("ece")
    if auroc is None or ece is None:
        return f"{said}That is not enough to say how good the calibrator is."
    return (
        f"{said}On answers that the fit did not see, a true claim has a higher P(true) than a "
        f"false one in {auroc:.0%} of the pairs (50 % is chance), and P(true) is {ece:.2f} away "
        "from the share of claims that are true, on average."
    )


def warnings_of(figures: Mapping[str, Any]) -> Iterator[str]:
    """Warnings about figures that are probably not reliable."""
    if (figures.get("auroc") or 0) >= _TOO_GOOD:
        yield (
            "AUROC 1.0: true and false claims are told apart without an error, which real answers "
            "never are. Were the false ones made up, or the labels taken from the scores?"
        )
    auroc, error = figures.get("auroc"), figures.get("auroc_se")
    if auroc is not None and error is not None and auroc + _SURELY * error < _CHANCE:
        yield (
            f"AUROC {auroc:.2f}: below chance (.5), so true claims have a lower P(true) than false "
            "ones. Are true and false interchanged in the labels, or do the labels belong to other "
            "answers? Do not use this calibrator."
        )
    if set(figures.get("sources", ())) == {"edit"}:
        yield (
            "all labels are of statements that were made from documents. How often your model is "
            "wrong does not show in them, and its probabilities of text it did not write mean "
            f"little: P(true) will be off on real answers. {_MADE} Vote on 30 of them or more."
        )
    rarest = _rarest(figures)
    if rarest < FEW_PER_CLASS:
        yield (
            f"only {rarest} claims of the rarer label: AUROC {_width(figures, 'auroc')}, PR-AUC "
            f"{_width(figures, 'pr_auc')}, ECE {_width(figures, 'ece')} (± a standard error). "
            f"From {FEW_PER_CLASS} on the curves are less a matter of chance."
        )
    if figures["n"] < _FEW:
        yield (
            f"fitted on {figures['n']} claims only: the curves and figures are rough. Label "
            f"{_FEW} or more before you rely on them."
        )


def _rarest(figures: Mapping[str, Any]) -> int:
    """How many claims have the rarer of the two labels."""
    true = round(figures["n"] * figures["share_true"])
    return int(min(true, figures["n"] - true))


def _width(figures: Mapping[str, Any], name: str) -> str:
    """A figure with its standard error."""
    value, error = figures.get(name), figures.get(f"{name}_se")
    if value is None:
        return "not defined"
    return f"{value:.2f} ± {error:.2f}" if error is not None else f"{value:.2f}"
