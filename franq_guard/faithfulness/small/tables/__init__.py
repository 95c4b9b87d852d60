"""Reads tables, records and parallel sections in a passage, and which cell a claim is about."""
