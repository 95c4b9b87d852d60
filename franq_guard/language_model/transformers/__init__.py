"""Causal language models of transformers: capture, scoring, sampling."""
