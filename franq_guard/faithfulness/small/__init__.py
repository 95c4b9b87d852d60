"""The small offline faithfulness model."""
