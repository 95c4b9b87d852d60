"""What people read: guarded answers in a terminal, tables, a calibrator's figures, an HTML page.

``words`` says what labels and reasons mean, ``stretches`` what passages say for and against a
claim; every view of a verdict takes them from there. ``text`` makes text safe to show; ``tables``
and ``sections`` hold what a report says, and ``page`` makes one HTML page of it.
"""
