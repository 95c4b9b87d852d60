"""Reads numbers with what they are of: units, dates, rounded numbers, lower and upper limits.

- `values`, with `units` and `clock`: what a text's numbers say, in one form
- `bounds`: "less than 20 kg" of a claim, where the passages have the exact number
- `days`: "on Thursdays" of a claim, where the passages have "from Tuesday to Saturday"
- `eras`: "in the 1980s" of a claim, where the passages have one year of them
- `limits`: whether a number is said to be the least or the most ("at least", "up to")
"""
