"""Compares judges with people: their ``agreement``, and ``rates`` corrected for judge errors."""

from franq_guard.datasets.agreeing.agreement import Agreement, agreement, votes
from franq_guard.datasets.agreeing.rates import Rate, corrected_rate
from franq_guard.datasets.agreeing.statistics import Counted, counted

__all__ = ["Agreement", "Counted", "Rate", "agreement", "corrected_rate", "counted", "votes"]
