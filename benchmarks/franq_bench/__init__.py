"""The FRANQ paper's tables, the training of the small model, the calibrator's builder."""
