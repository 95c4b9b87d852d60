"""Metrics of confidence scores (numpy alone), and plots of them in :mod:`.plots`."""

from franq_guard.metrics.measures import (
    Reliability,
    aurc,
    auroc,
    bootstrap_se,
    brier,
    ece,
    pr_auc,
    precision_recall,
    prr,
    prr_raw,
    reliability,
    risk_coverage,
)

__all__ = [
    "Reliability",
    "aurc",
    "auroc",
    "bootstrap_se",
    "brier",
    "ece",
    "pr_auc",
    "precision_recall",
    "prr",
    "prr_raw",
    "reliability",
    "risk_coverage",
]
