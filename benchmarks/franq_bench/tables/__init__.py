"""Scores to tables, reports and comparisons."""
