"""The number format for a model: bfloat16 where the processor supports it, else float32."""

from __future__ import annotations

import logging
from functools import cache
from typing import Literal, get_args

Dtype = Literal["auto", "float32", "bfloat16"]
DTYPES: tuple[str, ...] = get_args(Dtype)

_log = logging.getLogger(__name__)


def chosen_dtype(asked: str) -> str:
    """``float32`` or ``bfloat16`` for ``auto``; any other value is returned as it is.

    Warns once if ``bfloat16`` is asked for on a processor that only emulates it.
    """
    if asked == "auto":
        return "bfloat16" if native_bfloat16() else "float32"
    if asked == "bfloat16" and not native_bfloat16():
        _warn()
    return asked


@cache
def native_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16 in hardware (AVX-512 BF16 or AMX)."""
    import torch

    probe = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return bool(probe is not None and probe())


@cache
def _warn() -> None:
    _log.warning(
        "this processor does not multiply bfloat16 itself, which makes it several times slower "
        "than float32 here; dtype='auto' takes what the processor has"
    )
