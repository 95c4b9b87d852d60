"""JSON in and out: ``franq.trace/1`` rows to traces; answers and errors as rows again."""

from franq_guard.rows.check import Checked, check_rows
from franq_guard.rows.lines import RowError, read_traces
from franq_guard.rows.traces import passages_from, trace_from_dict, trace_of

__all__ = [
    "Checked",
    "RowError",
    "check_rows",
    "passages_from",
    "read_traces",
    "trace_from_dict",
    "trace_of",
]
