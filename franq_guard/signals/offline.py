"""The models that come as packages: looked for when a guard is made, loaded on first use."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from franq_guard.faithfulness.base import FaithfulnessModel
from franq_guard.faithfulness.larger import NAME as LARGER
from franq_guard.faithfulness.loading import loader_of
from franq_guard.language_model.base import LanguageModel, MissingModelError
from franq_guard.signals.similarity import Embed

__all__ = ["bundled_language_model", "faithfulness_named", "sentence_embeddings"]

_INSTALL = "pip install 'franq-guard[offline]'"
_RUNTIME = ("torch", "transformers", "safetensors")


def faithfulness_named(name: str) -> Callable[[], FaithfulnessModel]:
    """What loads a faithfulness model by the name that ``--faithfulness`` takes.

    Raises:
        MissingModelError: if it, or what runs it, is not installed; names the command to run.
        ValueError: for an unknown name; lists the known ones.
    """
    load = loader_of(name)
    if name in ("small", LARGER):
        _check_minilm()
    if name == LARGER:
        bundled_language_model()
    return load


def sentence_embeddings() -> Callable[[], Embed]:
    """What loads the embeddings that SAR reads; raises as :func:`faithfulness_named` does."""
    _check_minilm()
    from franq_guard.faithfulness.small.minilm import Embedder

    return Embedder


def bundled_language_model() -> Callable[[], LanguageModel]:
    """What loads the bundled language model; raises as :func:`faithfulness_named` does."""
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
