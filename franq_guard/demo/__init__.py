"""Kept for the names that the examples teach; they live in :mod:`franq_guard.datasets.demo`."""

from franq_guard.datasets.demo import DemoQuestion, corpus, questions

__all__ = ["DemoQuestion", "corpus", "questions"]
