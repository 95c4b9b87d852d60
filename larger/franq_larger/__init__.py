"""Weights and calibrators of the larger faithfulness model; read by ``franq_guard``.

``franq check FILE --faithfulness larger``; in Python ``LargerFaithfulness.bundled``
(``franq_guard.faithfulness``).
"""
