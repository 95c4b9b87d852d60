"""``job.py KIND BATCH_ROWS FILE_ROWS OUT FILE...``: check_dataset with fakes on two actors.

KIND ``mended`` is ``marking`` without what ended its processes, and checks errors again.
"""

import json
import sys
from contextlib import redirect_stdout

from fakes import guard

from franq_guard.batch import DatasetSettings, check_dataset

if __name__ == "__main__":
    kind, batch_rows, file_rows, out, *files = sys.argv[1:]
    settings = DatasetSettings(num_actors=2, batch_rows=int(batch_rows), file_rows=int(file_rows))
    # Ray tells of processes that ended on standard output, where the test reads the report.
    with redirect_stdout(sys.stderr):
        again = kind == "mended"
        report = check_dataset(files, out, guard=guard(kind), settings=settings, retry_errors=again)
    counts = {"total": report.total, "before": report.before, "done": report.done}
    print(json.dumps({**counts, "errors": report.errors, "labels": report.labels}))
