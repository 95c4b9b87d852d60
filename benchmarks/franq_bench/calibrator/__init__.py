"""The builder of the shipped calibrators: ``python -m franq_bench.calibrator``.

- ``any-writer-small-*.json``: ``any_writer``, on claims that people labelled (``known_truth``)
- ``smollm2-small-long.json``: answers are written and measured by ``own_long``, labelled by
  reading, and fitted by ``own_long_fit``
- ``smollm2-small-short.json``: ``own_short``, graded by the gold aliases, then ``own_short_fit``

``build`` draws the questions and asks the bundled model; ``label`` labels claims by the gold
aliases, to compare such labels with those by reading. ``measured`` keeps with rows what they were
measured with, and ``from_documents`` tells what a calibrator without labelled answers is worth.
"""
