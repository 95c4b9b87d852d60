"""Reads numbers with what they are of: units, dates, rounded numbers, lower and upper limits."""
