"""Labelled data in the documented JSONL schemas: pairs of texts, and answers with claims."""
