"""Measures verdicts on answers by any writer: false alarms and caught errors."""
