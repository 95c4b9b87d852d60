"""Rows of JSON to traces (``franq.trace/1``), and errors of rows to JSON (``franq.error/1``)."""

from franq_guard.rows.lines import RowError, read_traces
from franq_guard.rows.traces import passages_from, trace_from_dict, trace_of

__all__ = ["RowError", "passages_from", "read_traces", "trace_from_dict", "trace_of"]
