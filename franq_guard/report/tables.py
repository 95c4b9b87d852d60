"""Tables of a report: typed columns, cells of text or numbers, best and second best marked.

The same table is written as JSON (``to_dict``), as Markdown and as HTML. Numbers are shown
as in papers: .53, -.07, 1.00; a value that was not measured is a dash.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from franq_guard.report.text import safe

__all__ = ["Better", "Cell", "Column", "Mark", "Table", "is_heading", "number", "plain"]

Cell = str | float | None
Better = Literal["higher", "lower"]
Mark = Literal["best", "second"]
_DECIMALS = 2


@dataclass(frozen=True, slots=True)
class Column:
    """A column; its best numbers are marked where ``better`` says which way is better.

    ``decimals``: of numbers below 10, as :func:`number` has them.
    """

    title: str
    better: Better | None = None
    decimals: int = _DECIMALS

    def __post_init__(self) -> None:
        if not isinstance(self.title, str):
            raise ValueError(f"a column's title must be text, not {self.title!r}")
        if self.better is not None and self.better not in get_args(Better):
            raise ValueError(
                f"column {self.title!r}: better must be 'higher', 'lower' or null, "
                f"not {self.better!r}"
            )
        if type(self.decimals) is not int or not 0 < self.decimals < 10:
            raise ValueError(
                f"column {self.title!r}: decimals must be a whole number from 1 to 9, "
                f"not {self.decimals!r}"
            )

    def to_dict(self) -> dict[str, Any]:
        """The column as JSON; the usual number of decimals is left out."""
        own = {} if self.decimals == _DECIMALS else {"decimals": self.decimals}
        return {"title": self.title, "better": self.better} | own


@dataclass(frozen=True, slots=True)
class Table:
    """A table. A row has one cell per column, or a single text: a heading for the rows below it.

    Args:
        name: short, unique in a report: an anchor, a file name.
        title: one line.
        columns: at least one.
        rows: cells are text, finite numbers or None (not measured); NaN and infinities become None.
        note: what a reader must know, in a sentence or two.
        errors: standard errors, of the shape of ``rows``; None where there is none. Empty: no cell
            has one.

    Raises:
        ValueError: where a row does not fit the columns; the message names table and row.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    errors: tuple[tuple[Cell, ...], ...] = ()

    def __post_init__(self) -> None:
        for key in ("name", "title", "note"):
            if not isinstance(getattr(self, key), str):
                raise ValueError(f"a table's {key} must be text, not {getattr(self, key)!r}")
        if not self.columns:
            raise ValueError(f"table {self.name!r} has no columns")
        for at, row in enumerate(self.rows):
            if len(row) != len(self.columns) and not is_heading(row):
                raise ValueError(
                    f"table {self.name!r}, row {at}: {len(row)} cells for {len(self.columns)} "
                    "columns (a row of one text is a heading)"
                )
        if self.errors and [len(e) for e in self.errors] != [len(row) for row in self.rows]:
            raise ValueError(f"table {self.name!r}: errors must have the shape of the rows")
        for key in ("rows", "errors"):
            cells = enumerate(getattr(self, key))
            clean = tuple(tuple(self._cell(cell, at) for cell in row) for at, row in cells)
            object.__setattr__(self, key, clean)

    def to_dict(self) -> dict[str, Any]:
        """The table as JSON, as ``results.json`` holds it."""
        return {
            "name": self.name,
            "title": self.title,
            "note": self.note,
            "columns": [column.to_dict() for column in self.columns],
            "rows": [list(row) for row in self.rows],
        } | ({"errors": [list(row) for row in self.errors]} if self.errors else {})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Table:
        """A table from JSON; ``note`` and ``errors`` may be absent.

        Raises:
            ValueError: where something is missing or of the wrong kind.
        """
        if not isinstance(data, Mapping):
            raise ValueError(f"a table must be an object, not {type(data).__name__}")
        name = data.get("name", "")
        if missing := {"name", "title", "columns", "rows"} - set(data):
            raise ValueError(f"table {name!r} lacks {', '.join(sorted(missing))}")
        columns, rows, errors = data["columns"], data["rows"], data.get("errors", [])
        if not (_listed(columns, Mapping) and _listed(rows, list) and _listed(errors, list)):
            raise ValueError(f"table {name!r}: columns are a list of objects, rows a list of lists")
        if any("title" not in column for column in columns):
            raise ValueError(f"table {name!r}: every column needs a title")
        return cls(
            name=name,
            title=data["title"],
            note=data.get("note", ""),
            columns=tuple(Column(**{key: c[key] for key in _COLUMN if key in c}) for c in columns),
            rows=tuple(tuple(row) for row in rows),
            errors=tuple(tuple(row) for row in errors),
        )

    def shown(self) -> list[list[str]]:
        """The cells as text."""
        return [[self._text(cell, at) for at, cell in enumerate(row)] for row in self.rows]

    def error(self, row: int, column: int) -> str:
        """A cell's standard error as text, empty where there is none."""
        found = self.errors[row][column] if self.errors else None
        return "" if found is None or isinstance(found, str) else self._text(found, column)

    def marks(self) -> dict[tuple[int, int], Mark]:
        """By (row, column): the best and second best numbers of each column, as they are shown.

        Numbers that look the same share a mark; a column of fewer than two different ones has none.
        """
        found: dict[tuple[int, int], Mark] = {}
        for at, column in enumerate(self.columns):
            if column.better is None:
                continue
            values = {
                i: float(number(cell, column.decimals))
                for i, row in enumerate(self.rows)
                if not is_heading(row) and isinstance(cell := row[at], int | float)
            }
            ranked = sorted(set(values.values()), reverse=column.better == "higher")
            if len(ranked) < 2:
                continue
            names: dict[float, Mark] = {ranked[0]: "best", ranked[1]: "second"}
            found |= {(i, at): names[value] for i, value in values.items() if value in names}
        return found

    def markdown(self) -> str:
        """The table in GitHub's Markdown: best bold, second best italic; title and note around."""
        marks = self.marks()
        lines = [[plain(c.title) for c in self.columns], [_rule(self, i) for i in self._indices()]]
        for i, row in enumerate(self.shown()):
            if is_heading(self.rows[i]):
                lines.append([f"*{plain(row[0])}*", *[""] * (len(self.columns) - 1)])
                continue
            wraps = [_WRAPS.get(marks.get((i, at)), "") for at in self._indices()]
            errors = [self.error(i, at) for at in self._indices()]
            lines.append(
                [
                    f"{wrap}{plain(cell)}{wrap}" + (f" ±{error}" if error else "")
                    for wrap, cell, error in zip(wraps, row, errors, strict=True)
                ]
            )
        body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        note = f"\n\n{plain(self.note)}" if self.note else ""
        return f"**{plain(self.title)}**\n\n{body}{note}\n"

    def html(self) -> str:
        """The table in a frame that scrolls sideways by itself; best bold, second underlined."""
        head = "".join(
            f'<th scope="col"{self._right(at)}>{safe(column.title)}{_ARROWS.get(column.better, "")}'
            "</th>"
            for at, column in enumerate(self.columns)
        )
        note = f'<p class="note">{safe(self.note)}</p>' if self.note else ""
        return (
            f"<figure><figcaption>{safe(self.title)}</figcaption>"
            # tabindex lets the frame have the focus, so that the arrow keys scroll it
            f'<div class="frame" tabindex="0" role="region" aria-label="{safe(self.title)}">'
            f"<table><thead><tr>{head}</tr></thead>"
            f"<tbody>{''.join(self._html_rows())}</tbody></table></div>{note}</figure>"
        )

    def is_numeric(self, column: int) -> bool:
        """Whether a column holds numbers and dashes only, so that it is set to the right."""
        cells = [row[column] for row in self.rows if not is_heading(row)]
        return bool(cells) and not any(isinstance(cell, str) for cell in cells)

    def _html_rows(self) -> Iterator[str]:
        marks = self.marks()
        for i, row in enumerate(self.shown()):
            if is_heading(self.rows[i]):
                span = len(self.columns)
                yield f'<tr><th scope="rowgroup" colspan="{span}">{safe(row[0])}</th></tr>'
                continue
            cells = []
            for at, cell in enumerate(row):
                start, end = _TAGS.get(marks.get((i, at)), ("", ""))
                error = self.error(i, at)
                small = f" <small>±{error}</small>" if error else ""
                cells.append(f"<td{self._right(at)}>{start}{safe(cell)}{end}{small}</td>")
            yield f"<tr>{''.join(cells)}</tr>"

    def _text(self, cell: Cell, column: int) -> str:
        return cell if isinstance(cell, str) else number(cell, self.columns[column].decimals)

    def _right(self, column: int) -> str:
        return ' class="n"' if self.is_numeric(column) else ""

    def _indices(self) -> range:
        return range(len(self.columns))

    def _cell(self, cell: object, row: int) -> Cell:
        if cell is None or isinstance(cell, str):
            return cell
        try:
            if isinstance(cell, bool):
                raise TypeError
            value = float(cell)  # type: ignore[arg-type]  # anything else raises here
        except (TypeError, ValueError):
            raise ValueError(
                f"table {self.name!r}, row {row}: a cell must be text, a number or null, "
                f"not {cell!r}"
            ) from None
        if not math.isfinite(value):
            return None
        return int(value) if isinstance(cell, int) else value


def is_heading(row: Sequence[object]) -> bool:
    """Whether a row is a heading for those below it: one text alone."""
    return len(row) == 1 and isinstance(row[0], str)


def number(value: float | None, decimals: int = _DECIMALS) -> str:
    """A number as papers write it: whole ones as they are, .53, -.07, 1.00, 12.3, 1234.

    ``decimals``: of a number below 10; from 10 on it has one, from 100 on none.

    >>> number(0.534), number(-0.07), number(-0.001), number(1.0), number(300), number(None)
    ('.53', '-.07', '.00', '1.00', '300', '-')
    >>> number(0.534, 3), number(12.34, 3)
    ('.534', '12.3')
    """
    if value is None:
        return "-"
    if isinstance(value, int):
        return str(value)
    text = (
        f"{value:.{decimals}f}"
        if abs(value) < 10
        else f"{value:.1f}"
        if abs(value) < 100
        else f"{value:.0f}"
    )
    if not float(text):
        return "." + "0" * decimals
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    return sign + (digits[1:] if digits.startswith("0.") else digits)


_COLUMN = tuple(field.name for field in fields(Column))
_WRAPS: dict[Mark | None, str] = {"best": "**", "second": "_"}
_TAGS: dict[Mark | None, tuple[str, str]] = {"best": ("<b>", "</b>"), "second": ("<u>", "</u>")}
_ARROWS: dict[Better | None, str] = {"higher": "\u00a0↑", "lower": "\u00a0↓"}


def _rule(table: Table, column: int) -> str:
    return "---:" if table.is_numeric(column) else "---"


def plain(text: str) -> str:
    """Escape text so that it neither ends its Markdown cell nor becomes markup."""
    for character in "\\|<>*_`[]":
        text = text.replace(character, "\\" + character)
    return " ".join(text.replace("&", "&amp;").split())


def _listed(value: object, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)
