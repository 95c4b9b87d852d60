"""The larger faithfulness model: SmolLM2-135M as a cross-encoder; better than the small, slower.

It judges pairs as the small model does (:mod:`franq_guard.faithfulness.small.blended`); only the
logits come from a network six times as large. Its folder holds an adapter and the blend that was
fitted for it; they are a distribution of their own, `franq-larger`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from franq_guard.basics.files import sha256
from franq_guard.basics.numbers import DTYPES, Dtype, chosen_dtype
from franq_guard.faithfulness.larger import ADAPTER, adapter, bundled_folder
from franq_guard.faithfulness.small.blend import Blend
from franq_guard.faithfulness.small.blended import BlendedFaithfulness

BLEND: Final = "blend.json"


class LargerFaithfulness(BlendedFaithfulness):
    """P(faithful), three-way NLI and evidence by SmolLM2-135M with an adapter; see :meth:`load`.

    A score depends on the other pairs of the call by rounding alone.
    """

    @classmethod
    def bundled(cls, *, dtype: Dtype = "auto", cache: int = 8192) -> LargerFaithfulness:
        """Load the model of the distribution `franq-larger`; arguments and errors as :meth:`load`.

        Raises:
            MissingModelError: it or the bundled language model is not installed; names the command
                to run.
        """
        return cls.load(bundled_folder(), dtype=dtype, cache=cache)

    @classmethod
    def load(
        cls, folder: Path, *, dtype: Dtype = "auto", blend: Blend | None = None, cache: int = 8192
    ) -> LargerFaithfulness:
        """Load an adapter and its blend, and the bundled language model once more for it.

        Args:
            folder: with ``adapter.safetensors`` and ``blend.json``; calibrators that lie there and
                were fitted with this model are used with it.
            dtype: "auto" uses bfloat16 where the CPU multiplies it natively, else float32. Not part
                of the fingerprint.
            blend: in place of the stored one.
            cache: how many pairs are cached.

        Raises:
            ValueError: the folder has no adapter, or none for the bundled language model.
            OSError: the blend cannot be read.
            MissingModelError: the bundled language model is not installed.
        """
        import torch

        from franq_guard.faithfulness.larger.network import load_network
        from franq_guard.faithfulness.larger.reading import LanguageModelReader
        from franq_guard.faithfulness.small.minilm import Embedder
        from franq_guard.language_model.transformers.smollm2 import load_bundled

        if dtype not in DTYPES:
            raise ValueError(f"dtype must be auto, float32 or bfloat16, not {dtype!r}")
        file = folder / ADAPTER
        adapter.about(file)
        if blend is None:
            blend = Blend.from_json((folder / BLEND).read_text(encoding="utf-8"))
        bundled = load_bundled()
        network = load_network(bundled.model, file)
        if chosen_dtype(dtype) == "bfloat16":
            network = network.to(torch.bfloat16)
        reader = LanguageModelReader(network, bundled.tokenizer, room=cache)
        digest = hashlib.sha256((sha256(file) + blend.to_json()).encode()).hexdigest()
        name = f"larger-{digest[:16]}"
        model = cls(reader, blend, name=name, embed=Embedder(dtype=dtype), cache=cache)
        model.weights_folder = folder
        return model
