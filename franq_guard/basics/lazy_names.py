"""Names of a package whose modules are loaded when a name is first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """A package's ``__all__``, ``__getattr__`` and ``__dir__``.

    For mypy and editors the package imports the same names under ``TYPE_CHECKING``.

    Args:
        package: the package's ``__name__``.
        homes: from names, separated by blanks, to the module below the package that holds them.
    """
    home_of = {name: home for names, home in homes.items() for name in names.split()}

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{home_of[name]}"), name)

    def known() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return sorted(home_of), load, known
