"""The models that come as packages: looked for when a guard is made, loaded on first use."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from franq_guard.faithfulness.base import FaithfulnessModel
from franq_guard.language_model.base import LanguageModel, MissingModelError
from franq_guard.signals.similarity import Embed

__all__ = ["bundled_language_model", "sentence_embeddings", "small_faithfulness"]

_INSTALL = "pip install 'franq-guard[offline]'"
_RUNTIME = ("torch", "transformers", "safetensors")


def small_faithfulness() -> Callable[[], FaithfulnessModel]:
    """What loads the small faithfulness model.

    Raises:
        MissingModelError: if it, or what runs it, is not installed; names the command to run.
    """
    _check_minilm()
    from franq_guard.faithfulness.small.model import SmallFaithfulness

    return SmallFaithfulness.bundled


def sentence_embeddings() -> Callable[[], Embed]:
    """What loads the embeddings that SAR reads; raises as :func:`small_faithfulness` does."""
    _check_minilm()
    from franq_guard.faithfulness.small.minilm import Embedder

    return Embedder


def bundled_language_model() -> Callable[[], LanguageModel]:
    """What loads the bundled language model; raises as :func:`small_faithfulness` does."""
    _check_runtime()
    from franq_guard.language_model.transformers.smollm2 import bundled_file, load_bundled

    bundled_file()
    return load_bundled


def _check_minilm() -> None:
    _check_runtime()
    from franq_guard.faithfulness.small.minilm import WeightsError, minilm_folder

    try:
        minilm_folder()
    except WeightsError as error:
        raise MissingModelError(str(error)) from error


def _check_runtime() -> None:
    missing = next((name for name in _RUNTIME if find_spec(name) is None), None)
    if missing is not None:
        raise MissingModelError(f"{missing}, which runs the models, is not installed: {_INSTALL}")
