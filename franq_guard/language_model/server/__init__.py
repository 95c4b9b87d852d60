"""Completion servers that tell log-probabilities."""
