"""Data sets for calibration and benchmarks: documents, retrieval, questions, grades, labels."""
