"""What the rows of own answers were measured with, kept beside them, and said in their report.

Their answers take an hour to make again, so the rows may be older than the code that uses them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from franq_bench.tables.summary import settings_table
from franq_bench.versions import installed_versions, today
from franq_guard.calibration.defaults import shipped
from franq_guard.guard import Guard

__all__ = ["FILE", "read", "settings_section", "write"]

FILE: Final = "measured.json"
_KEYS: Final = ("faithfulness", "claims")
_SAID: Final = (*_KEYS, "language_model", "versions", "date")
_UNKNOWN: Final = "not recorded"


def write(folder: Path, guard: Guard) -> None:
    """Keep the fingerprints of the guard that measured the rows of ``folder``, and the versions."""
    found: dict[str, Any] = {key: guard.fingerprint[key] for key in (*_KEYS, "language_model")}
    found |= {"versions": installed_versions(), "date": today()}
    (folder / FILE).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def read(folder: Path) -> dict[str, str]:
    """The fingerprints of ``faithfulness`` and ``claims``.

    Raises:
        FileNotFoundError: the rows come without them.
    """
    found = json.loads((folder / FILE).read_text(encoding="utf-8"))
    return {key: found[key] for key in _KEYS}


def settings_section(settings: Mapping[str, Any], measured: Mapping[str, Path]) -> str:
    """The end of a report, as Markdown: its settings, how its rows were measured, the versions.

    Args:
        settings: of what the report computes from the rows.
        measured: the folders of the rows, by what these are; what a folder does not tell of their
            measurement is "not recorded".
    """
    told = {**settings, "evidence alone, for any writer": _any_writer()}
    for what, folder in measured.items():
        told |= {f"{what} measured with{key}": value for key, value in _told(folder).items()}
    tables = (
        settings_table(told, "settings", "Settings"),
        settings_table(installed_versions(), "versions", "Versions that made this report"),
    )
    return "\n".join(("## Settings\n", *(table.markdown() for table in tables)))


def _told(folder: Path) -> dict[str, Any]:
    """What is known of how the rows of a folder were measured.

    A file may also name a signal that another model measured than the rest.
    """
    if not (folder / FILE).exists():
        return {"": _UNKNOWN}
    known = json.loads((folder / FILE).read_text(encoding="utf-8"))
    return {f": {key}": known.get(key, _UNKNOWN) for key in (*_SAID, *(known.keys() - {*_SAID}))}


def _any_writer() -> str:
    """The shipped calibrator of evidence alone, as a setting."""
    found = next(c.fingerprint for c in shipped() if c.writer is None and c.form == "long")
    return f"shipped calibrator of {found['date']}, {found['claims']}, {found['faithfulness']}"
