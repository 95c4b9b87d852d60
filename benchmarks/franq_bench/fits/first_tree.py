"""The first tree of the XGBoost baseline, as readable rules."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from franq_bench.fits.fitted import features_of, matrix
from franq_bench.fits.xgboost import xgboost_classifier
from franq_bench.tables.method_names import title
from franq_bench.tables.scores import Score, Scores
from franq_guard.report.tables import Cell, Column, Table

__all__ = ["first_tree"]


def first_tree(scores: Scores, *, features: Sequence[str] | None = None) -> Table:
    """The first tree of XGBoost on each data set: a line per leaf.

    Args:
        scores: raw methods; only training rows count.
        features: the methods it is fitted on, such as FRANQ's three signals; None: all.
    """
    trained = "xgboost-all" if features is None else "xgboost-franq"
    rows: list[tuple[Cell, ...]] = []
    for name in scores.datasets:
        train = scores.part(name, "train").rows
        rows += [(name,), *_leaves(train, features)]
    return Table(
        name="first-tree" if features is None else "first-tree-of-signals",
        title=f"First tree of {title(trained)}",
        columns=(
            Column("rows where"),
            Column("adds to the log-odds of true"),
            Column("training rows"),
            Column("share true"),
        ),
        rows=tuple(rows),
        note="Of 100 trees, each fitted on 80 % of a data set's training rows; counts and shares "
        "are of all of them. Values are confidences: higher = more likely true. 'or missing': "
        "rows that lack the value go that way too.",
    )


def _leaves(train: Sequence[Score], features: Sequence[str] | None) -> list[tuple[Cell, ...]]:
    labels = np.array([row.is_true for row in train], int)
    if len(set(labels.tolist())) < 2:
        return [("no tree: the training rows are of one class", None, None, None)]
    names = features or features_of("xgboost-all", train, ())
    values = matrix(train, names)
    model = xgboost_classifier().fit(values, labels)
    tree = json.loads(model.get_booster().get_dump(dump_format="json")[0])
    leaf_of = model.apply(values)[:, 0]
    gaps = [bool(np.isnan(column).any()) for column in values.T]
    found: list[tuple[Cell, ...]] = []
    for leaf, conditions in _paths(tree, names, gaps):
        own = labels[leaf_of == leaf["nodeid"]]
        share = float(own.mean()) if len(own) else None
        found.append((" and ".join(conditions) or "always", float(leaf["leaf"]), len(own), share))
    return found


def _paths(
    node: Mapping[str, Any], names: Sequence[str], gaps: Sequence[bool]
) -> Iterator[tuple[Mapping[str, Any], list[str]]]:
    """Every leaf with the conditions that lead to it, from the root down."""
    if "leaf" in node:
        yield node, []
        return
    feature = int(node["split"][1:])  # "f12"
    children = {child["nodeid"]: child for child in node["children"]}
    for way, sign in (("yes", "<"), ("no", "≥")):
        text = f"{title(names[feature])} {sign} {node['split_condition']:.3g}"
        if gaps[feature] and node["missing"] == node[way]:
            text += " (or missing)"
        for leaf, conditions in _paths(children[node[way]], names, gaps):
            yield leaf, [text, *conditions]
