"""Names of the files that AlignScore is read from, and the error for an unusable one."""

from __future__ import annotations

from typing import Final

WEIGHTS_FILE: Final = "model.safetensors"
CONFIG_FILE: Final = "config.json"
TOKENIZER_FILE: Final = "tokenizer.json"


class CheckpointError(ValueError):
    """A checkpoint or its backbone cannot be used; the message says why and what to do."""
