"""Whether the small faithfulness model has seen a question's passages in training."""

from __future__ import annotations

from franq_bench.data.seen import seen
from franq_guard.datasets.questions import Question

__all__ = ["trained_on"]


def trained_on(question: Question) -> bool:
    """Whether statements made from its gold passage were among the small model's training pairs."""
    shown = zip(question.passages, question.gold, strict=True)
    return any(gold and seen(p.text) for p, gold in shown)
