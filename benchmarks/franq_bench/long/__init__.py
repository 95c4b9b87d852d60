"""The paper's long-form experiment: labelled claims of answers, a white-box model, every method.

Answers are given (:mod:`franq_bench.data.labelled_answers`) or the model's own (``own``) ->
``statistics`` (the expensive part, kept on disk) -> ``matrix`` (split, scores of every method);
``run`` puts them together with :mod:`franq_bench.fits` and :mod:`franq_bench.tables`.
"""
