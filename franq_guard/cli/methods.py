"""``franq methods``: list the available uncertainty methods."""

from __future__ import annotations

from franq_guard.cli.console import emit, output
from franq_guard.cli.options import JsonFlag

_FOR = {"claim": "long", "sequence": "short", "sequence, claim": "both"}


def methods(as_json: JsonFlag = False) -> None:
    """List the uncertainty methods: for which answers, cost beyond generation, source.

    Names are for --uq-faith and --uq-unfaith. A method is for the claims of long answers, for
    short answers (--form short), or for both.
    """
    from rich.table import Table

    from franq_guard.uncertainty.methods import methods as known

    rows = [method.row() for method in known()]
    if as_json:
        for row in rows:
            emit(row)
        return
    table = Table(box=None, padding=(0, 1, 0, 0))
    for key in ("name", "for", "cost", "source"):
        table.add_column(key, no_wrap=key == "name")
    for row in rows:
        table.add_row(row["name"], _FOR[row["level"]], row["cost"], row["source"])
    output.print(table)
