"""Tables of answers: pyarrow in and out, and data sets of many files with Ray Data.

:func:`check_batch` needs ``franq-guard[batch]`` and no engine; it fits into any that hands over
pyarrow tables. :func:`check_dataset` needs ``franq-guard[ray]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from franq_guard.basics.lazy_names import lazy_names

if TYPE_CHECKING:
    from franq_guard.batch.dataset import Report, check_dataset
    from franq_guard.batch.schema import RESULTS
    from franq_guard.batch.settings import DatasetSettings
    from franq_guard.batch.tables import check_batch

__all__ = ["RESULTS", "DatasetSettings", "Report", "check_batch", "check_dataset"]

_, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "DatasetSettings": "settings",
        "RESULTS": "schema",
        "Report check_dataset": "dataset",
        "check_batch": "tables",
    },
)
