"""Models on completion servers that return log-probabilities."""
