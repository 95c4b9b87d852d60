"""Loads a language model by one argument, as given to the command line's ``--language-model``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from franq_guard.basics.numbers import chosen_dtype
from franq_guard.language_model.base import LanguageModel


def language_model_from(
    where: str,
    *,
    api_key: str | None = None,
    dtype: str | None = None,
    notify: Callable[[str], None] | None = None,
) -> LanguageModel:
    """The model at ``where``, loaded; a server is probed.

    Args:
        where: ``bundled``; a ``.gguf`` file, run by llama.cpp in this process; a folder in the
            format of transformers; or the base URL of a completions server that returns prompt
            log-probabilities, with the served model's name after ``#`` if it serves several
            (``http://localhost:8000/v1#name``).
        api_key: for a server.
        dtype: of a transformers model; default: float32 for the bundled one, for a folder as
            stored. ``auto``: the one that is fastest on this processor.
        notify: called with a message when the bundled model is prepared for its first use.

    Raises:
        ValueError: for anything else, or a ``dtype`` for a model where it cannot be chosen.
        MissingModelError: if the model, or the package that runs it, is not installed.
        ServerError: if the server cannot be reached or its numbers are wrong.
    """
    if where == "bundled":
        from franq_guard.language_model.transformers.smollm2 import load_bundled

        return load_bundled(notify=notify, dtype=dtype or "float32")
    if dtype and not Path(where).is_dir():
        raise ValueError(f"the number format of {where} cannot be chosen: leave out --dtype")
    if where.startswith(("http://", "https://")):
        from franq_guard.language_model.server.model import ServerModel

        base_url, _, name = where.partition("#")
        return ServerModel(base_url, name or None, api_key=api_key)
    if where.endswith(".gguf"):
        from franq_guard.language_model.llama_cpp.model import LlamaCppModel

        return LlamaCppModel.from_gguf(where)
    if Path(where).is_dir():
        from franq_guard.language_model.transformers.model import TransformersModel

        stored = "auto"  # transformers' name for "as stored"
        return TransformersModel.from_pretrained(
            where, dtype=chosen_dtype(dtype) if dtype else stored
        )
    raise ValueError(
        f"no language model {where!r}: give bundled, a .gguf file, a model folder, or the URL of a "
        "completions server such as http://localhost:8000/v1"
    )
