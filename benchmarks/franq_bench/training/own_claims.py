"""Claims of the bundled model's own answers, labelled by reading, for the fit of the blend.

What a small language model writes shares most of its words with the passages and is often wrong all
the same; in no other set are claims like these.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from franq_bench.calibrator.own_long import LIMITS, answers, asked, claims_of
from franq_bench.data.pairs import CONTRADICTED, NEUTRAL, SUPPORTED, Example
from franq_bench.data.read_claims import by_text, digest_of
from franq_bench.training.calibrate import Held
from franq_guard.faithfulness.base import texts_of

__all__ = ["DATASET", "own_claims"]

DATASET: Final = "own-answers"
_CLASS: Final = {"S": SUPPORTED, "C": CONTRADICTED, "N": NEUTRAL}


def own_claims(data: Path, folder: Path, read: Path) -> list[Held]:
    """The claims of the fitting fold on whose faithfulness the readers agree, with their passages.

    Args:
        data: folder with the question files.
        folder: answers of ``franq_bench.calibrator.own_long``; what is missing there is generated.
        read: the readers' labels.
    """
    known = by_text(read)
    answered = {name for name, _ in known}
    questions = [
        q for q in asked(data, "fitting", limit=LIMITS["fitting"], seed=0) if q.id in answered
    ]
    found = []
    for question, trace in zip(questions, answers(questions, folder, "fitting"), strict=True):
        texts = tuple(texts_of(question.passages))
        for claim in claims_of(trace):
            label = known.get((question.id, digest_of(claim.text)))
            if label is not None and len(set(label.faith)) == 1:
                said = _CLASS[label.faith[0]]
                found.append(Held(Example(DATASET, "\n".join(texts), claim.text, said), texts))
    return found
