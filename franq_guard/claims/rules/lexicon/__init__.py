"""Word lists and patterns of our own writing, one text file each; ``#`` opens a comment line."""

from __future__ import annotations

from importlib.resources import files

from franq_guard.basics.words import word_set


def lines(name: str) -> list[str]:
    """The lines of ``name.txt`` that are neither blank nor comments."""
    text = (files(__name__) / f"{name}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def words(name: str) -> frozenset[str]:
    """The blank-separated words of ``name.txt``."""
    return word_set(" ".join(lines(name)))
