"""Decides claims that compare the things of a table: from its cells, not by an encoder.

- `compared`: the verdict on a claim; `ticked`: that of a table of ticks, "yes" and "no"
- `comparisons`, `scales`: what a claim compares, and by which words
- `grid`, `quantities`: the table's things and columns, and its cells as amounts
- `arithmetic`: which amount is more, or the most
- `wording`: whether the claim says nothing else
"""
