"""One self-contained page out of sections: no script, no request, everything escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files

from franq_bench.tables.method_names import title as method_title
from franq_bench.tables.mistakes import Mistake, Mistakes
from franq_bench.tables.sections import Block, Section
from franq_guard.metrics.plots import to_svg
from franq_guard.report.tables import Table, is_heading, number
from franq_guard.report.text import shown

__all__ = ["page", "safe", "table_html"]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(heading: str, sections: Sequence[Section]) -> str:
    """A whole HTML document that loads nothing and runs nothing, in light and dark.

    Args:
        heading: title of the page.
        sections: in order; the page's table of contents links to them.
    """
    names = [_anchor(section.title) for section in sections]
    links = "".join(
        f'<a href="#{name}">{safe(section.title)}</a>'
        for name, section in zip(names, sections, strict=True)
    )
    body = "\n".join(
        f'<section id="{name}"><h2>{safe(section.title)}</h2>{_folded(section)}</section>'
        for name, section in zip(names, sections, strict=True)
    )
    style = files("franq_bench.tables").joinpath("page.css").read_text("utf-8")
    document = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{safe(heading)}</title>\n<style>\n{style}</style></head>\n"
        f"<body><header><h1>{safe(heading)}</h1><nav>{links}</nav></header>\n"
        f"<main>{body}</main></body></html>\n"
    )
    return shown(document)


def safe(text: str) -> str:
    """Text as text, without markup; fit for elements and quoted attributes."""
    return escape(text, quote=True)


def table_html(table: Table) -> str:
    """A table in a frame that scrolls sideways by itself; best bold, second best underlined."""
    head = "".join(
        f'<th scope="col"{_right(table, at)}>{safe(column.title)}{_ARROWS.get(column.better, "")}'
        "</th>"
        for at, column in enumerate(table.columns)
    )
    note = f'<p class="note">{safe(table.note)}</p>' if table.note else ""
    return (
        f"<figure><figcaption>{safe(table.title)}</figcaption>"
        f'<div class="frame"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(_rows(table))}</tbody></table></div>{note}</figure>"
    )


_ARROWS: dict[str | None, str] = {"higher": "\u00a0↑", "lower": "\u00a0↓"}
_TAGS = {"best": ("<b>", "</b>"), "second": ("<u>", "</u>")}


def _rows(table: Table) -> Iterable[str]:
    marks = table.marks()
    for i, row in enumerate(table.shown()):
        if is_heading(table.rows[i]):
            span = len(table.columns)
            yield f'<tr><th scope="rowgroup" colspan="{span}">{safe(row[0])}</th></tr>'
            continue
        cells = []
        for at, cell in enumerate(row):
            start, end = _TAGS.get(marks.get((i, at), ""), ("", ""))
            error = table.error(i, at)
            small = f" <small>±{error}</small>" if error else ""
            cells.append(f"<td{_right(table, at)}>{start}{safe(cell)}{end}{small}</td>")
        yield f"<tr>{''.join(cells)}</tr>"


def _right(table: Table, column: int) -> str:
    return ' class="n"' if table.is_numeric(column) else ""


def _folded(section: Section) -> str:
    body = "\n".join(_block(block) for block in section.blocks)
    return f"<details><summary>Show</summary>{body}</details>" if section.folded else body


def _block(block: Block) -> str:
    if isinstance(block, str):
        return f'<p class="note">{safe(block)}</p>'
    if isinstance(block, Table):
        return table_html(block)
    if isinstance(block, Mistakes):
        return _mistakes(block)
    return f'<div class="plots">{"".join(map(to_svg, block))}</div>'


def _mistakes(found: Mistakes) -> str:
    sure = "".join(map(_mistake, found.sure, [found.method] * len(found.sure)))
    doubted = "".join(map(_mistake, found.doubted, [found.method] * len(found.doubted)))
    return (
        f"<details><summary>{safe(method_title(found.method))}</summary>"
        f"<h3>Sure, but false</h3>{sure or '<p>None.</p>'}"
        f"<h3>Doubted, but true</h3>{doubted or '<p>None.</p>'}</details>"
    )


def _mistake(mistake: Mistake, method: str) -> str:
    row, said = mistake.score, mistake.answer
    passages = "".join(
        f"<li>{f'<b>{safe(title)}</b> ' if title else ''}{safe(text)}</li>"
        for title, text in said.passages
    )
    claim = mistake.claim
    judged = said.answer if claim is None else said.claims[claim][0]
    gold = f"<dt>Gold</dt><dd>{safe(' | '.join(said.gold))}</dd>" if said.gold else ""
    return (
        '<article dir="auto">'
        f'<p class="head"><b>{number(row.scores[method])}</b> '
        f'<span class="{"true" if row.is_true else "false"}">{"true" if row.is_true else "false"}'
        f"</span> <small>{safe(row.dataset)} · {safe(row.id)}</small></p>"
        f"<dl><dt>Question</dt><dd>{safe(said.question)}</dd>"
        f"<dt>{'Answer' if claim is None else 'Claim'}</dt><dd><q>{safe(judged)}</q></dd>"
        f"{gold}</dl>"
        f"<details><summary>{len(said.passages)} passages, scores</summary>"
        f"{_claims(mistake)}<ol>{passages}</ol>{_scores(row.scores)}</details></article>"
    )


def _claims(mistake: Mistake) -> str:
    """The whole answer with all its claims, where it has some."""
    if not mistake.answer.claims:
        return ""
    rows = "".join(
        f"<li{' class=judged' if at == mistake.claim else ''}>{safe(text)} "
        f"<small>true: {safe(true)}, faithful: {safe(faithful)}</small></li>"
        for at, (text, true, faithful) in enumerate(mistake.answer.claims)
    )
    return f'<p class="said">{safe(mistake.answer.answer)}</p><ul>{rows}</ul>'


def _scores(scores: Mapping[str, float | None]) -> str:
    said = (f"{safe(method_title(name))} <b>{number(value)}</b>" for name, value in scores.items())
    return f'<p class="note">{" · ".join(said)}</p>'


def _anchor(text: str) -> str:
    """Letters, digits and hyphens only: safe in an attribute and in an address."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "section"
