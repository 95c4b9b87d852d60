"""Data sets for calibration and benchmarks: asked, retrieved, answered, graded and labelled.

Read: ``jsonl``, ``documents`` (a folder as passages), ``questions``, ``passage_pool`` (searched
with ``search``), ``demo``. Spoil: ``perturbation`` (with ``fact_swaps`` and ``entities``). Answer:
``generations`` (kept on disk), ``long_form``. Grade and label: ``grading`` (by aliases, over
``comparable_words`` and ``refusals``), ``judge`` (by a model), ``labelled`` (a calibrator's rows).
Keep answers with what judges and people say of their claims: ``claim_set``.
"""
