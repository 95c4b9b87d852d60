"""FRANQ's benchmarks: the paper's tables, the small model's training, the calibrator's builder.

Packages, each may import those after it: ``cli`` (the commands) - ``short`` and ``long`` (the
paper's two experiments), ``training`` and ``calibrator`` - ``fits`` (fitting and ablations on score
matrices) and ``quality`` (splitters and faithfulness models) - ``tables`` - ``data`` and ``store``
(reading data, caching results).
"""
