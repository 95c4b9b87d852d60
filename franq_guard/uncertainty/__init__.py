"""Every uncertainty method of the paper as pure functions on arrays, one family per file.

``methods`` lists them and computes any of them by name; ``statistics`` holds the arrays that they
read, which :mod:`franq_guard.signals` measures for an answer. Only numpy is needed (ROUGE and BLEU
need the extra ``uncertainty``).

A function whose name ends in ``_uncertainty`` returns uncertainty: higher = less certain.
"""
