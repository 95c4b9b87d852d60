"""The numbers of the training recipe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from franq_bench.data.written import ANSWERS, WRITTEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The settings that decide the trained weights of one run, besides the data.

    The learning rates rise during the first `warm_up` share of the run and then fall to zero. Each
    epoch draws anew: the share `repeated` of the labelled pairs of other people's sets, all written
    ones (`data.written`) whose set's name begins as one in `written`, and `generated` pairs made
    from passages.
    """

    epochs: int = 1
    generated: int = 22_000
    repeated: float = 1.0
    written: tuple[str, ...] = ()
    batch_tokens: int = 3000
    rate: float = 1.2e-4
    head_rate: float = 5e-4
    warm_up: float = 0.04
    weight_decay: float = 0.01
    dropout: float = 0.0
    averaging: float = 0.998
    seed: int = 20

    def reads(self, dataset: str) -> bool:
        """Whether the run reads the pairs of a data set."""
        return not dataset.startswith((WRITTEN, ANSWERS)) or dataset.startswith(self.written)


#: The first run starts from MiniLM. The second goes on from its weights: once over the written
#: pairs, beside enough of everything else that nothing is unlearnt.
FIRST: Final = Recipe()
SECOND: Final = Recipe(
    generated=3_000, repeated=0.4, written=(WRITTEN,), rate=6e-5, head_rate=1.2e-4, seed=21
)
#: Starts from MiniLM, too, and reads everything together, three times. Alone it is worse on natural
#: data sets, but the mean of both ways is better than either (`docs/small-model.md`).
JOINT: Final = Recipe(epochs=3, generated=16_000, repeated=0.6, written=(WRITTEN,), dropout=0.1)
#: From the mean of the three: three times over the claims of answers, beside a part of the rest.
LAST: Final = Recipe(
    epochs=3, generated=2_000, repeated=0.3, written=(WRITTEN, ANSWERS),
    rate=6e-5, head_rate=1.2e-4, dropout=0.1, seed=22,
)  # fmt: skip
#: For `left_out`: half of what the first run reads, so that a run for each family can be afforded.
LEFT_OUT: Final = Recipe(generated=10_000, repeated=0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Distillation:
    """A large network is trained on the labels, then the small one on what it says.

    Both read all written pairs and claims of answers: `written` of their runs is not looked at.

    Args:
        teacher: the large network's run; `rate` is that of its adapters.
        norm_rate: the highest rate of the large network's norms.
        rank: of its adapters.
        student: the small network's run, from the shipped weights.
        share: of the teacher in the student's loss; the rest is the labels'.
        kept: of a source that others made so many times its cap are labelled at most.
        made: so many pairs made from passages are labelled.
        crossed: claims of each set that are put beside other premises.
        beside_sentence: written and made claims that are put beside their nearest sentence; the
            natural ones all are.
        elsewhere: sentences of passages that are put beside another passage of the article.
        seed: of the choice of pairs.
        mean: the result is the mean of the small network before and after its run.
    """

    teacher: Recipe
    norm_rate: float
    rank: int
    student: Recipe
    share: float
    kept: int
    made: int
    crossed: int
    beside_sentence: tuple[int, int]
    elsewhere: int
    seed: int
    mean: bool = False


#: The head and the adapters start from nothing, which takes a high rate; the norms are the base's.
DISTILLATION: Final = Distillation(
    teacher=Recipe(
        epochs=3, generated=24_000, batch_tokens=16_384, rate=4e-4,
        head_rate=1e-3, dropout=0.05, averaging=0.995, seed=1,
    ),
    norm_rate=1e-4,
    rank=16,
    student=Recipe(
        epochs=3, generated=30_000, repeated=0.8, batch_tokens=16_384,
        rate=1.8e-4, head_rate=4e-4, dropout=0.05, seed=31,
    ),
    share=0.9,
    kept=3,
    made=72_000,
    crossed=1_500,
    beside_sentence=(14_000, 10_000),
    elsewhere=20_000,
    seed=5,
)  # fmt: skip
#: From the shipped weights: five times over 322,000 pairs, half as many again as above.
LONGER: Final = replace(
    DISTILLATION, student=replace(DISTILLATION.student, epochs=5, seed=41), kept=6, made=110_000,
    crossed=4_000, beside_sentence=(30_000, 25_000), elsewhere=50_000, seed=6, mean=True,
)  # fmt: skip
