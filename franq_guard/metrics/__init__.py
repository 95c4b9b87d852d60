"""Metrics of confidence scores, and plots of them."""
