"""Converts an AlignScore checkpoint to a directory a third of its size that loads fast and offline.

The directory contains the checkpoint's tensors, bit for bit (without optimizer states and masked-LM
head), and the configuration and tokenizer of the backbone.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from franq_guard.faithfulness.alignscore.checkpoint import read_weights
from franq_guard.faithfulness.alignscore.files import CONFIG_FILE, TOKENIZER_FILE, WEIGHTS_FILE


def convert_checkpoint(
    source: str | Path, target: str | Path, *, backbone: str | Path | None = None
) -> Path:
    """Write the checkpoint `source` as a directory that ``AlignScore.from_checkpoint`` reads.

    `backbone` is as in `read_weights`. Existing files of an earlier conversion are replaced.
    Returns `target`.

    Raises:
        FileNotFoundError: `source` does not exist.
        CheckpointError: `source` is damaged or does not fit the backbone.
    """
    from safetensors.torch import save_file

    weights = read_weights(source, backbone=backbone)
    target = Path(target)
    target.mkdir(parents=True, exist_ok=True)
    config = {"model_type": "roberta", "hidden_act": "gelu", **asdict(weights.config)}
    (target / CONFIG_FILE).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    weights.tokenizer.save(str(target / TOKENIZER_FILE))
    # The weights are written last, in one step: a directory that has them is complete.
    partial = target / f"{WEIGHTS_FILE}.part"
    tensors = {name: tensor.contiguous() for name, tensor in weights.tensors.items()}
    save_file(tensors, partial, metadata={"format": "pt"})
    os.replace(partial, target / WEIGHTS_FILE)
    return target


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line: ``python -m franq_guard.faithfulness.alignscore.convert SOURCE TARGET``."""
    parser = argparse.ArgumentParser(prog="franq convert-alignscore", description=__doc__)
    parser.add_argument("source", type=Path, help="checkpoint, such as AlignScore-base.ckpt")
    parser.add_argument("target", type=Path, help="directory to write")
    parser.add_argument(
        "--backbone", help="roberta-base, roberta-large or a directory; default: what SOURCE names"
    )
    given = parser.parse_args(arguments)
    target = convert_checkpoint(given.source, given.target, backbone=given.backbone)
    size = (target / WEIGHTS_FILE).stat().st_size
    print(
        f"{target / WEIGHTS_FILE}: {size / 1e6:.0f} MB of {given.source.stat().st_size / 1e6:.0f}"
    )


if __name__ == "__main__":
    main()
