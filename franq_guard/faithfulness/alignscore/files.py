"""The files that AlignScore is read from, and the error of one that cannot be used."""

from __future__ import annotations

from typing import Final

WEIGHTS_FILE: Final = "model.safetensors"
CONFIG_FILE: Final = "config.json"
TOKENIZER_FILE: Final = "tokenizer.json"


class CheckpointError(ValueError):
    """A checkpoint, or what belongs to it, cannot be used; the message says why and what to do."""
