"""JSON to traces and back (``franq.trace/1``), errors of rows to JSON (``franq.error/1``).

Checked answers become a table.
"""

from franq_guard.rows.frame import claim_table, to_dataframe
from franq_guard.rows.lines import RowError, read_traces
from franq_guard.rows.traces import passages_from, trace_from_dict, trace_of
from franq_guard.rows.written import trace_to_dict

__all__ = [
    "RowError",
    "claim_table",
    "passages_from",
    "read_traces",
    "to_dataframe",
    "trace_from_dict",
    "trace_of",
    "trace_to_dict",
]
