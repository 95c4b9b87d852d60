"""AlignScore, the paper's faithfulness estimator: exact, in fewer passes."""
