"""Data sets for calibration and benchmarks: questions, passages, answers, grades and labels.

Reading: ``jsonl``, ``documents`` (a folder as passages), ``questions``, ``passage_pool`` (searched
with ``search``), ``demo``. Making retrieval worse on purpose: ``perturbation`` (with ``fact_swaps``
and ``entities``). Answering: ``generations`` (stored on disk), ``long_form``. Grading, labelling:
``grading`` (by aliases, using ``comparable_words`` and ``refusals``), ``judge`` (by a model),
``labelled`` (rows for a calibrator). ``claim_set`` stores answers with the labels that judges and
people give to their claims.
"""
