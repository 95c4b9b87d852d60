"""Every uncertainty method of the paper as pure functions on arrays, one family per file.

``methods`` lists them and computes any of them by name; ``statistics`` holds the arrays that one
generation yields, which :mod:`franq_guard.signals` measures. Only numpy is needed (ROUGE and BLEU:
the extra ``uncertainty``).

A function whose name ends in ``_uncertainty`` returns uncertainty: higher = less certain.
"""
