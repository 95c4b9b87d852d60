"""A second, slower faithfulness model: the bundled language model with a trained adapter."""

from typing import Final

ADAPTER: Final = "adapter.safetensors"
"""The file by which a folder of this model is known."""
