"""AlignScore, the paper's faithfulness estimator: the same scores with fewer forward passes."""
