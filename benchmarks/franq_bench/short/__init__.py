"""The paper's short-form experiment: questions with passages, one answer each, samples, methods.

``prompts`` -> ``answers`` (the expensive part, kept on disk) -> ``statistics`` (NLI, similarity;
kept on disk) -> ``matrix`` (scores of every method) -> ``fitted`` (FRANQ and XGBoost, fitted on the
training part) -> ``tables``; ``run`` puts them together.
"""
