"""A claim set from documents: questions, retrieval, answers of a model, labels that need no judge.

``questions`` asks (by ``sentences`` that stand alone, ``models`` or a file), ``showing`` chooses
the passages, ``edits`` changes facts on purpose, ``build`` runs it all and goes on after a stop.
"""

from franq_guard.datasets.building.build import Recipe, build

__all__ = ["Recipe", "build"]
