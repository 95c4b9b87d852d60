"""From a benchmark's score matrix to tables, a report and comparisons of two benchmarks.

``scores`` (of every method) -> ``resampling`` (metrics and their errors) -> ``results`` (all
figures) -> ``summary`` (tables in the paper's layout, the paper's own figures beside) -> ``report``
(Markdown and a page) or ``compare``.
"""
