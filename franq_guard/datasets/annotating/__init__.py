"""Labels by a language model: ``request`` asks, ``reply`` reads, ``judge`` runs over a set."""

from franq_guard.datasets.annotating.judge import Annotated, Judge, annotate

__all__ = ["Annotated", "Judge", "annotate"]
