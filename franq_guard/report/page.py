"""Renders sections as one self-contained HTML page: no script, no request, all text escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files

from franq_guard.report.sections import Section
from franq_guard.report.text import safe, shown

__all__ = ["page"]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(heading: str, sections: Sequence[Section], *, style: str = "") -> str:
    """A whole HTML document that loads nothing and runs nothing, in light and dark.

    Args:
        heading: title of the page.
        sections: in order; the page's table of contents links to them.
        style: additional CSS for the caller's own blocks.
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
    rules = files("franq_guard.report").joinpath("page.css").read_text("utf-8") + style
    document = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{safe(heading)}</title>\n<style>\n{rules}</style></head>\n"
        f"<body><header><h1>{safe(heading)}</h1><nav>{links}</nav></header>\n"
        f"<main>{body}</main></body></html>\n"
    )
    return shown(document)


def _folded(section: Section) -> str:
    body = "\n".join(block.html() for block in section.shown)
    return f"<details><summary>Show</summary>{body}</details>" if section.folded else body


def _anchor(text: str) -> str:
    """Letters, digits and hyphens only: safe in an attribute and in an address."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "section"
