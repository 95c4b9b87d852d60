"""Versions of the packages that a run's figures depend on; stored with its results."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

__all__ = ["installed_versions", "today"]

PACKAGES = ("franq-guard", "torch", "transformers", "numpy", "scikit-learn", "xgboost-cpu")


def installed_versions() -> dict[str, str | None]:
    """Versions of Python and :data:`PACKAGES`; None for a package that is not installed."""
    return {"python": platform.python_version()} | {p: _version(p) for p in PACKAGES}


def today() -> str:
    """The date of the run, such as 2026-01-31."""
    return datetime.now(UTC).date().isoformat()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
