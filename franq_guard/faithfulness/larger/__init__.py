"""A second, slower faithfulness model: the bundled language model with a trained adapter."""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from franq_guard.language_model.base import MissingModelError

NAME: Final = "larger"
"""What ``--faithfulness`` calls the model of the package `franq-larger`."""

ADAPTER: Final = "adapter.safetensors"
"""The file by which a folder of this model is known."""


def bundled_folder() -> Path:
    """Return the folder of `franq-larger`'s files without importing the package.

    Raises:
        MissingModelError: the package is not installed.
    """
    spec = find_spec("franq_larger")
    if spec is None or not spec.submodule_search_locations:
        raise MissingModelError(
            "the larger faithfulness model is not installed: pip install franq-larger, or "
            "pip install ./larger in a clone of the repository"
        )
    return Path(next(iter(spec.submodule_search_locations)))


def folder_named(where: str) -> Path:
    """Return the folder that ``--faithfulness`` names; raises as :func:`bundled_folder` does."""
    return bundled_folder() if where == NAME else Path(where)
