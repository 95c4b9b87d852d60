"""Makes the shipped files from a training run: averages, quantises and calibrates the weights."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from franq_bench.data.pairs import Example, Question
from franq_bench.training.calibrate import SURE, Held, fit, held_back
from franq_guard.faithfulness.small import storage
from franq_guard.faithfulness.small.blend import encoder_alone
from franq_guard.faithfulness.small.minilm import Embedder, load_minilm
from franq_guard.faithfulness.small.model import SmallFaithfulness


@torch.no_grad()
def export(
    tensors: dict[str, Tensor],
    examples: Sequence[Example],
    questions: Sequence[Question],
    own: Sequence[Held],
    folder: Path,
    *,
    seed: int,
    report: Callable[[str], None],
    limit: int | None = None,
) -> str:
    """Write weight file and manifest into `folder`; returns the SHA-256.

    The file is written twice: first without calibration, which is then fitted on the quantised
    network, because that is the network users run. `examples`, `questions` and `own` are those of
    the fitting fold.
    """
    storage.save(folder, tensors, encoder_alone())
    return refit(folder, folder, examples, questions, own, seed=seed, report=report, limit=limit)


def refit(
    folder: Path,
    out: Path,
    examples: Sequence[Example],
    questions: Sequence[Question],
    own: Sequence[Held],
    *,
    seed: int,
    report: Callable[[str], None],
    limit: int | None = None,
) -> str:
    """Refit the blend of the model in `folder`, write the model to `out`; returns the SHA-256.

    The network stays as it is, byte for byte, and the look-ups (`SURE`) keep the shipped model's
    weights. `examples`, `questions` and `own` are the fitting fold's; with `limit` only so many of
    the pairs are drawn.
    """
    network = storage.load_network(folder)
    if torch.cpu._is_avx512_bf16_supported():
        network = network.to(torch.bfloat16)
    model = SmallFaithfulness(
        network,
        load_minilm()[1],
        encoder_alone(),
        name="uncalibrated",
        embed=Embedder(),
        cache=50_000,
    )
    pairs = held_back(examples, questions, own, seed=seed)
    if limit is not None:
        pairs = random.Random(seed).sample(pairs, min(limit, len(pairs)))  # noqa: S311 - no secret
    report(f"calibrating on {len(pairs)} pairs")
    shipped = storage.blend_weights(storage.FOLDER)
    fitted = fit(model, pairs, {name: shipped[name] for name in SURE & shipped.keys()})
    report(fitted.to_json())
    return storage.with_blend(folder, out, fitted)
