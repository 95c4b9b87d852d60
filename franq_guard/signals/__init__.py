"""One way from a trace to the signals of its claims, whatever the methods.

:func:`.measure.measure` is the way: faithfulness (:mod:`.faithfulness`), the statistics that the
chosen methods read (:mod:`.plan`, :mod:`.gather`), their values as confidences. :mod:`.verdict`
makes verdicts of them.
"""
