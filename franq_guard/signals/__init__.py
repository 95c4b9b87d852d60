"""From a trace to the signals and verdicts of its claims; the same path for all methods.

:func:`.measure.measure` computes faithfulness (:mod:`.faithfulness`), then the statistics that the
chosen methods read (:mod:`.plan`, :mod:`.gather`), then the methods' values as confidences.
:mod:`.verdict` turns these signals into verdicts.
"""
