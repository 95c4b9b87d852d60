"""The builder of the shipped calibrator: ``python -m franq_bench.calibrator``."""
