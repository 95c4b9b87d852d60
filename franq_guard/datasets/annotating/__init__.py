"""Labels from a language model: ``request`` makes the prompt, ``reply`` parses, ``judge`` runs."""

from franq_guard.datasets.annotating.judge import Annotated, Judge, annotate

__all__ = ["Annotated", "Judge", "annotate"]
