"""The numbers of the training recipe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The settings that decide the trained weights of one run, besides the data.

    The learning rates rise during the first `warm_up` share of the run and then fall to zero. Each
    epoch draws anew: the share `repeated` of the labelled pairs of other people's sets, all written
    ones (`data.written`) where `written` is true, and `generated` pairs made from passages.
    """

    epochs: int = 1
    generated: int = 22_000
    repeated: float = 1.0
    written: bool = False
    batch_tokens: int = 3000
    rate: float = 1.2e-4
    head_rate: float = 5e-4
    warm_up: float = 0.04
    weight_decay: float = 0.01
    dropout: float = 0.0
    averaging: float = 0.998
    seed: int = 20


#: The first run starts from MiniLM. The second goes on from its weights: once over the written
#: pairs, beside enough of everything else that nothing is unlearnt.
FIRST: Final = Recipe()
SECOND: Final = Recipe(
    generated=3_000, repeated=0.4, written=True, rate=6e-5, head_rate=1.2e-4, seed=21
)
#: Starts from MiniLM, too, and reads everything together, three times. Alone it is worse on natural
#: data sets, but the mean of both ways is better than either (`weights/MODEL_CARD.md`).
JOINT: Final = Recipe(epochs=3, generated=16_000, repeated=0.6, written=True, dropout=0.1)
