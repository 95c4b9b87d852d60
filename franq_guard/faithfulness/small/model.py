"""The small offline faithfulness model: a MiniLM cross-encoder that ships with the package.

How its logits become P(faithful) stands in :mod:`.blended`; `weights/MODEL_CARD.md` describes the
training data, the results and known failures.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from franq_guard.basics.numbers import DTYPES, Dtype, chosen_dtype
from franq_guard.faithfulness.small.blend import Blend
from franq_guard.faithfulness.small.blended import BlendedFaithfulness
from franq_guard.faithfulness.small.nearness import Embed
from franq_guard.faithfulness.small.reading import BATCH_TOKENS, EncoderReader

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from franq_guard.faithfulness.small.encoder import Encoder


class SmallFaithfulness(BlendedFaithfulness):
    """P(faithful), three-way NLI and evidence on a CPU, without any download.

    Args:
        network: the encoder, in evaluation mode.
        tokenizer: MiniLM's.
        blend: turns logits and features into a calibrated probability.
        name: identifies the weights; `fingerprint` begins with it.
        embed: sentence embeddings for the blend's cosine; None: that input is 0.
        batch_tokens: padded tokens per forward pass; limits the memory used.
        cache: how many pairs are cached; 0 turns the cache off.
    """

    def __init__(
        self,
        network: Encoder,
        tokenizer: Tokenizer,
        blend: Blend,
        *,
        name: str,
        embed: Embed | None = None,
        batch_tokens: int = BATCH_TOKENS,
        cache: int = 8192,
    ) -> None:
        reader = EncoderReader(network, tokenizer, batch_tokens=batch_tokens, room=cache)
        super().__init__(reader, blend, name=name, embed=embed, cache=cache)

    @classmethod
    def bundled(
        cls, *, dtype: Dtype = "auto", threads: int | None = None, weights: Path | None = None
    ) -> SmallFaithfulness:
        """Load the shipped weights; needs no internet access.

        Args:
            dtype: "auto" uses bfloat16 where the CPU multiplies it natively, else float32; the
                model card states what bfloat16 changes. Not part of the fingerprint.
            threads: number of torch threads, for the whole process; None does not change it. Small
                inputs always run on one thread (:mod:`franq_guard.basics.threads`).
            weights: another folder written by the training command; calibrators that lie there and
                were fitted with this model are used with it.

        Raises:
            WeightsError: weights or package missing or damaged; says which pip command helps.
        """
        import torch

        from franq_guard.faithfulness.small import storage
        from franq_guard.faithfulness.small.minilm import Embedder, load_minilm

        if dtype not in DTYPES:
            raise ValueError(f"dtype must be auto, float32 or bfloat16, not {dtype!r}")
        if threads is not None:
            torch.set_num_threads(threads)
        network, blend, digest = storage.load(weights or storage.FOLDER)
        if chosen_dtype(dtype) == "bfloat16":
            network = network.to(torch.bfloat16)
        embed = Embedder(dtype=dtype)
        model = cls(network, load_minilm()[1], blend, name=f"small-{digest[:16]}", embed=embed)
        model.weights_folder = weights
        return model
