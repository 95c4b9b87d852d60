"""``franq methods``: list the available uncertainty methods."""

from __future__ import annotations

from franq_guard.cli.console import emit, output
from franq_guard.cli.options import JsonFlag


def methods(as_json: JsonFlag = False) -> None:
    """List every uncertainty method: name, level, cost beyond generation, source."""
    from rich.table import Table

    from franq_guard.uncertainty.methods import methods as known

    rows = [method.row() for method in known()]
    if as_json:
        for row in rows:
            emit(row)
        return
    table = Table(box=None)
    for key in ("name", "level", "cost", "source"):
        table.add_column(key, no_wrap=key == "name")
    for row in rows:
        table.add_row(row["name"], row["level"], row["cost"], row["source"])
    output.print(table)
