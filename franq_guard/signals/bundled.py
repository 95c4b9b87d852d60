"""The models that come with the package, as a guard takes them: loaded at the first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, Literal

from franq_guard.faithfulness.base import FaithfulnessModel
from franq_guard.language_model.base import LanguageModel
from franq_guard.signals.lazy import Lazy

__all__ = ["JUDGES", "Judge", "bundled_models"]

Judge = Literal["small", "reader"]
"""Who judges faithfulness: the small model alone, or with the language model that reads."""
JUDGES: Final = ("small", "reader")


def bundled_models(
    faithfulness: Judge,
) -> tuple[Callable[[], LanguageModel], Callable[[], FaithfulnessModel]]:
    """The bundled language model and the faithfulness model of this name, not loaded yet.

    Where the language model reads for both, it is loaded once.

    Raises:
        ValueError: for another name.
        MissingModelError: with the command to run, where the bundled model is not installed.
    """
    from franq_guard.faithfulness.small.model import SmallFaithfulness
    from franq_guard.language_model.transformers.smollm2 import bundled_file, load_bundled

    if faithfulness not in JUDGES:
        raise ValueError(f"faithfulness must be 'small' or 'reader', not {faithfulness!r}")
    bundled_file()  # a missing package is told now, not in the middle of a chain
    if faithfulness == "small":
        return load_bundled, SmallFaithfulness.bundled
    from franq_guard.faithfulness.reader.model import ReaderFaithfulness

    shared = Lazy[LanguageModel](load_bundled)
    return shared, partial(ReaderFaithfulness.bundled, shared)
