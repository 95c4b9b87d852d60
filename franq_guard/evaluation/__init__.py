"""Kept for one promised name: ``franq_guard.evaluation.metrics``."""
