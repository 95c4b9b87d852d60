"""Computes claims that compare the rows of a table, such as "A has more beds than B"."""
