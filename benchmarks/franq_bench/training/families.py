"""Families of data sets. A model trained without one of them is tested on it as a new source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: Family -> data sets, named as the figures group them.
FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "dialogue": ("begin-wow", "begin-tc", "begin-cmu", "q2-wow"),
    "summaries": ("summedits", "xsum"),
    "science": ("healthver", "climate-fever"),  # never trained on at all: licences are unclear
    "wiki": ("fm2", "fever-symmetric", "wice", "refchecker-nq", "factcheck-gpt-stance"),
}
