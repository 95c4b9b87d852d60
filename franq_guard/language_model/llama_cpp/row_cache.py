"""Log-probabilities of llama.cpp after a row of ids; what was read before is reused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franq_guard.basics.deadline import between_batches
from franq_guard.basics.text import common_start

Row = NDArray[np.float64]
"""Log-probabilities (V,) of one position, in nats."""


class RowCache:
    """Uses one ``Llama`` while its lock is held; a beginning that was read is not read again."""

    def __init__(self, llama: Any) -> None:
        self._llama = llama
        self._library = import_module("llama_cpp")
        self._held: list[int] = []
        llama.reset()  # the application's own state must not be continued

    def last_row(self, ids: Sequence[int]) -> Row:
        """Log-probabilities (V,) of the next token after the ids."""
        self._read(ids)
        return log_softmax(self._llama.scores[len(ids) - 1])

    def rows(self, context: Sequence[int], targets: Sequence[int]) -> Iterator[Row]:
        """Log-probabilities (V,) at the position of each target after the context."""
        self._read([*context, *targets][:-1])
        for at in range(len(context) - 1, len(context) - 1 + len(targets)):
            yield log_softmax(self._llama.scores[at])

    def _read(self, ids: Sequence[int]) -> None:
        between_batches()
        common = common_start(self._held, ids)
        if common < len(self._held) and not self._cut(common):
            common = 0
            self._llama.reset()
        self._held = list(ids)
        if common < len(ids):
            self._llama.eval(list(ids[common:]))

    def _cut(self, length: int) -> bool:
        """Forget what was read after ``length`` ids; False if the model cannot (recurrent)."""
        memory = self._library.llama_get_memory(self._llama.ctx)
        if not length or not self._library.llama_memory_seq_rm(memory, -1, length, -1):
            return False
        self._llama.n_tokens = length
        return True


def log_softmax(logits: NDArray[np.float32]) -> Row:
    """Log-probabilities (V,) of one row of logits, in float64."""
    row = logits.astype(np.float64)
    row -= row.max()
    row -= np.log(np.exp(row).sum())
    return row
