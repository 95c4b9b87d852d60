"""The larger faithfulness model: SmolLM2-135M as a cross-encoder, beside the small model's network.

It judges pairs as the small model does (:mod:`franq_guard.faithfulness.small.blended`), from the
mean log-probabilities of two networks: the small one, and one six times as large. The two err on
different claims, so the mean ranks claims better than either. Its folder holds the large network's
adapter and the blend that was fitted for the mean; they are a distribution of their own,
`franq-larger`.
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
from franq_guard.faithfulness.small.reading import BATCH_TOKENS, EncoderReader, MeanReader

BLEND: Final = "blend.json"


class LargerFaithfulness(BlendedFaithfulness):
    """P(faithful), NLI and evidence by SmolLM2-135M with an adapter and the small network.

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
        """Load an adapter and its blend, the bundled language model for it, and the small network.

        Args:
            folder: with ``adapter.safetensors`` and ``blend.json``; calibrators that lie there and
                were fitted with this model are used with it.
            dtype: "auto" uses bfloat16 where the CPU multiplies it natively, else float32. Not part
                of the fingerprint.
            blend: in place of the stored one.
            cache: how many pairs are cached.

        Raises:
            ValueError: the folder has no adapter, or none for the bundled language model.
            WeightsError: the small network's weights are missing or damaged.
            OSError: the blend cannot be read.
            MissingModelError: the bundled language model is not installed.
        """
        from franq_guard.faithfulness.small.minilm import Embedder

        if dtype not in DTYPES:
            raise ValueError(f"dtype must be auto, float32 or bfloat16, not {dtype!r}")
        adapter.about(folder / ADAPTER)
        if blend is None:
            blend = Blend.from_json((folder / BLEND).read_text(encoding="utf-8"))
        reader, weights = _both_networks(folder / ADAPTER, dtype, cache)
        digest = hashlib.sha256((weights + blend.to_json()).encode()).hexdigest()
        name = f"larger-{digest[:16]}"
        model = cls(reader, blend, name=name, embed=Embedder(dtype=dtype), cache=cache)
        model.weights_folder = folder
        return model


def _both_networks(file: Path, dtype: Dtype, cache: int) -> tuple[MeanReader, str]:
    """The reader of the large network (its adapter's file) and the small, and their digests."""
    import torch

    from franq_guard.faithfulness.larger.network import load_network
    from franq_guard.faithfulness.larger.reading import LanguageModelReader
    from franq_guard.faithfulness.small import storage
    from franq_guard.faithfulness.small.minilm import load_minilm
    from franq_guard.language_model.transformers.smollm2 import load_bundled

    bundled = load_bundled()
    large = load_network(bundled.model, file)
    small, _, digest = storage.load(storage.FOLDER)
    if chosen_dtype(dtype) == "bfloat16":
        large, small = large.to(torch.bfloat16), small.to(torch.bfloat16)
    reader = MeanReader(
        LanguageModelReader(large, bundled.tokenizer, room=cache),
        EncoderReader(small, load_minilm()[1], batch_tokens=BATCH_TOKENS, room=cache),
    )
    return reader, sha256(file) + digest
