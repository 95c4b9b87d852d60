"""Training of the small faithfulness model: `python -m franq_bench.training`."""
