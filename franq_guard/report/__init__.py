"""Output for people: guarded answers in a terminal, tables, a calibrator's figures, HTML pages.

``words`` explains labels and reasons, ``stretches`` quotes what passages say for and against a
claim; every view of a verdict uses these two. ``text`` makes text safe to show; ``tables`` and
``sections`` hold the content of a report, and ``page`` renders it as one HTML page.
"""
