"""The small random models of the language model's tests."""

from ..language_model.conftest import byte_level, make_llama

__all__ = ["byte_level", "make_llama"]
