"""The file beside a result that says how it was made: ``NAME.settings.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from franq_guard.cli.configuration import Configuration, versions
from franq_guard.cli.console import fail

__all__ = ["begin_settings", "write_settings"]


def write_settings(
    out: Path, chosen: Configuration, fingerprint: Mapping[str, str], **more: Any
) -> None:
    """Write the settings, the models' fingerprints and the versions beside a result.

    Beside a pipe or a device, such as /dev/stdout, nothing is written.

    Args:
        out: the result; the file's name is this one with ``.settings.json`` at its end.
        chosen: the settings in force.
        fingerprint: of the guard.
        more: further settings (JSON values), beside the chosen ones.
    """
    if out.exists() and not out.is_file():
        return
    said = {**_to_store(chosen, fingerprint, more), "versions": versions()}
    _beside(out).write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def begin_settings(
    out: Path, chosen: Configuration, fingerprint: Mapping[str, str], *, resumed: bool, **more: Any
) -> None:
    """:func:`write_settings`; a run that goes on ends here if the earlier one had other settings.

    Results of an earlier version of this program have no settings beside them, or fewer: only what
    is in both is compared.
    """
    if not resumed or not _beside(out).exists():
        write_settings(out, chosen, fingerprint, **more)
        return
    now = json.loads(json.dumps(_to_store(chosen, fingerprint, more)))
    try:
        before = json.loads(_beside(out).read_text(encoding="utf-8"))
        other = [key for part in now for key in now[part] if _differ(before[part], now[part], key)]
    except (ValueError, KeyError, TypeError):
        fail(f"{_beside(out)} is damaged: it says how {out} was made; name another file with --out")
    if other:
        fail(
            f"{out} was begun with other settings ({', '.join(other)}): to go on, give the same "
            "options and models; or name another file"
        )


def _to_store(
    chosen: Configuration, fingerprint: Mapping[str, str], more: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    settings = {**chosen.recorded(), **more}
    if "samples" not in fingerprint:  # no method draws any
        settings = {k: v for k, v in settings.items() if k not in ("samples", "temperature")}
    if chosen.calibrator is not None:  # the file may be another one under the same name
        settings["calibrator_sha256"] = sha256(Path(chosen.calibrator).read_bytes()).hexdigest()
    return {"settings": settings, "fingerprint": dict(fingerprint)}


def _differ(before: Mapping[str, Any], now: Mapping[str, Any], key: str) -> bool:
    return key in before and before[key] != now[key]


def _beside(out: Path) -> Path:
    return out.with_name(f"{out.name}.settings.json")
