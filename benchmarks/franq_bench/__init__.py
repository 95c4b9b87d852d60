"""FRANQ's benchmarks: the paper's tables, the small model's training, the calibrator's builder.

Rooms, each above the next: ``cli`` (the commands) - ``short`` and ``long`` (the paper's two
experiments), ``training`` and ``calibrator`` - ``fits`` (what score matrices give) and ``quality``
(splitters and faithfulness models) - ``tables`` - ``data`` and ``store`` (reading, keeping).
"""
