"""The titles, order and families of a benchmark's methods in tables."""

from __future__ import annotations

from collections.abc import Iterable

from franq_bench.tables.scores import BY_ALIAS, GOLD, TRAINED_ON
from franq_guard.uncertainty.methods import methods

__all__ = ["AS_PAPER", "MAIN", "PRIMARY", "family", "main", "order", "title"]

PRIMARY = "franq-condition"
"""Condition-calibrated FRANQ as it is by default: with a fallback where labels are few."""
AS_PAPER = "franq-condition-alone"
"""Condition-calibrated FRANQ by the paper's rule: no fallback, and UQ_faith as the paper ran it."""

MAIN = (PRIMARY, "franq-none", "xgboost-all", "max-probability", "semantic-entropy",
        "faithfulness")  # fmt: skip
"""The methods that curves are drawn for; as many as a plot has colours."""

_FAMILIES = {
    "information": "Information-based",
    "reflexive": "Reflexive",
    "diversity": "Sample diversity",
    "rag": "RAG-specific",
    "logistic": "Logistic regression",
    "xgboost": "XGBoost",
    "franq": "FRANQ",
}
_OTHER = "Other"
_TRAINED = ("Logistic regression", "XGBoost", "FRANQ")
_ADDED = {
    "faithfulness": ("Faithfulness score", "rag"),
    "faithfulness-answer": ("Faithfulness score, answer alone", "rag"),
    "logistic-franq": ("Logistic regression (FRANQ features)", "logistic"),
    "xgboost-franq": ("XGBoost (FRANQ features)", "xgboost"),
    "xgboost-all": ("XGBoost (all features)", "xgboost"),
    "franq-none": ("FRANQ, no calibration", "franq"),
    "franq-global": ("FRANQ, calibrated", "franq"),
    PRIMARY: ("FRANQ, condition-calibrated", "franq"),
    AS_PAPER: ("FRANQ, condition-calibrated, as in the paper", "franq"),
    "franq-learned": ("FRANQ, learned", "franq"),
}
_MARKS = {
    GOLD: "gold faithfulness",
    TRAINED_ON: "gold passage in the small model's training",
    BY_ALIAS: "true by the gold aliases",
}
_KNOWN = {method.name: (method.title, method.family) for method in methods()} | _ADDED


def title(name: str) -> str:
    """A method's title as in the paper's tables, with its variant; unknown names are unchanged."""
    if name in _MARKS:
        return _MARKS[name]
    known = _KNOWN.get(name, (name, ""))[0]
    _, _, variant = name.partition(":")
    return f"{known} ({variant})" if variant and variant not in known else known


def family(name: str) -> str:
    """The heading a method stands under."""
    return _FAMILIES.get(_KNOWN.get(name, ("", ""))[1], _OTHER)


def main(names: Iterable[str]) -> list[str]:
    """Those of :data:`MAIN` that are there; where none is, the last ones in the order of tables."""
    there = order(names)
    return [name for name in MAIN if name in there] or there[-len(MAIN) :]


def order(names: Iterable[str]) -> list[str]:
    """Methods in the order of tables: by family, FRANQ last; unknown ones before XGBoost."""
    there = dict.fromkeys(names)
    known = [name for name in _KNOWN if name in there]  # the catalogue stands by family
    late = [name for name in known if family(name) in _TRAINED]
    early = [name for name in known if name not in late]
    return [*early, *(name for name in there if name not in _KNOWN), *late]
