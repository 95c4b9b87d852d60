"""Converts statistics to and from JSON values, for the cache of measurements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from franq_guard.uncertainty.statistics import Samples, Statistics

__all__ = ["from_json", "to_json"]


def to_json(statistics: Statistics) -> dict[str, Any]:
    """The statistics as JSON values, without those that were not measured."""
    return _packed(statistics)


def from_json(row: Mapping[str, Any]) -> Statistics:
    """Read what :func:`to_json` wrote."""
    values = {name: _unpacked(value) for name, value in row.items() if name != "samples"}
    if "samples" in row:
        of_samples = {name: _unpacked(value) for name, value in row["samples"].items()}
        values["samples"] = Samples(**of_samples)
    return Statistics(**values)


def _packed(record: Any) -> dict[str, Any]:
    found = {f.name: getattr(record, f.name) for f in fields(record)}
    return {name: _value(value) for name, value in found.items() if value is not None}


def _value(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"dtype": str(value.dtype), "values": value.tolist()}
    if isinstance(value, tuple):
        return [_value(item) for item in value]
    return _packed(value) if isinstance(value, Samples) else value


def _unpacked(value: Any) -> Any:
    if isinstance(value, dict):
        return np.array(value["values"], value["dtype"])
    return tuple(_unpacked(item) for item in value) if isinstance(value, list) else value
