"""Which texts the shipped small model was trained or calibrated on.

The training command writes a file of 32-bit digests, so the data itself is not needed. About one in
100,000 unseen texts is wrongly reported as seen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from franq_bench.data.folds import text_key

FILE: Final = Path(str(files("franq_bench.data"))) / "seen.bin"


def seen(text: str) -> bool:
    """Whether the text (premise, gold passage, pool passage) was in training or calibration."""
    known = _known()
    place = int(np.searchsorted(known, _digest(text)))
    return place < len(known) and bool(known[place] == _digest(text))


def write(texts: Iterable[str], path: Path) -> None:
    """Write the digests of all `texts` to `path`: sorted, little-endian, four bytes each."""
    np.array(sorted(set(map(_digest, texts))), dtype="<u4").tofile(path)


@cache
def _known() -> NDArray[np.uint32]:
    return np.fromfile(FILE, dtype="<u4")


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text_key(text).encode()).digest()[:4], "little")
