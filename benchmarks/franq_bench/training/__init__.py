"""Training of the small offline model: `python -m franq_bench.training`."""
