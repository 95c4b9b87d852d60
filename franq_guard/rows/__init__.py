"""JSON in and out: ``franq.trace/1`` rows to traces, and rows that could not be read."""

from franq_guard.rows.lines import RowError, read_traces
from franq_guard.rows.traces import passages_from, trace_from_dict, trace_of

__all__ = ["RowError", "passages_from", "read_traces", "trace_from_dict", "trace_of"]
