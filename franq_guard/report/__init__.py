"""What people read: guarded answers in a terminal, tables, a calibrator's figures, an HTML page.

``text`` makes text safe to show; ``tables`` and ``sections`` hold what a report says, and ``page``
makes one HTML page of it.
"""
