"""Labels by a language model: ``request`` asks, ``reply`` reads, ``judge`` runs over a set."""

from franq_guard.datasets.annotating.judge import Judge, annotate

__all__ = ["Judge", "annotate"]
