"""The paper's short-form experiment: questions with passages, one answer each, samples, methods.

``prompts`` -> ``answers`` and ``generate`` (the expensive part, kept on disk) -> ``statistics``
(NLI, similarity; kept on disk) -> ``matrix`` (scores of every method); ``run`` puts them together
with :mod:`franq_bench.fits` and :mod:`franq_bench.tables`.
"""
