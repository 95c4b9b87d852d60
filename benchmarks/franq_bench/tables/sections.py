"""A report as a list of sections, and their Markdown; the page is made by ``report.html``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from franq_bench.tables.mistakes import Mistakes
from franq_guard.metrics.plots import Plot
from franq_guard.report.tables import Table, plain
from franq_guard.report.text import shown

__all__ = ["Block", "Section", "markdown"]

Block = str | Table | tuple[Plot, ...] | Mistakes


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands under it; ``folded`` ones open on demand in a page."""

    title: str
    blocks: tuple[Block, ...]
    folded: bool = False


def markdown(heading: str, made: Sequence[Section]) -> str:
    """Sections as Markdown: tables and text; curves and the data's text stand in the page only."""
    parts = [f"# {plain(heading)}"]
    for section in made:
        blocks = [_block(block) for block in section.blocks if isinstance(block, str | Table)]
        if blocks:
            parts += [f"## {plain(section.title)}", *blocks]
    return shown("\n\n".join(parts) + "\n")


def _block(block: str | Table) -> str:
    return plain(block) if isinstance(block, str) else block.markdown().rstrip()
