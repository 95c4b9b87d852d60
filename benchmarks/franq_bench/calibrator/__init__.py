"""The builder of the shipped calibrator."""
