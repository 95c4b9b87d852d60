"""A report as a list of sections: the same blocks as Markdown and, by ``report.page``, as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from franq_guard.metrics.plots import Plot, to_svg
from franq_guard.report.tables import plain
from franq_guard.report.text import safe, shown

__all__ = ["Banner", "Block", "Curves", "Note", "Section", "markdown"]


class Block(Protocol):
    """What can stand in a section, such as a :class:`~franq_guard.report.tables.Table`."""

    def html(self) -> str:
        """An HTML fragment, everything in it escaped."""

    def markdown(self) -> str:
        """Markdown; empty for what is shown in a page only."""


@dataclass(frozen=True, slots=True)
class Note:
    """A paragraph; in small grey type unless it is the ``main`` thing."""

    text: str
    main: bool = False

    def html(self) -> str:
        """One ``<p>`` element."""
        kind = "" if self.main else ' class="note"'
        return f"<p{kind}>{safe(self.text)}</p>"

    def markdown(self) -> str:
        """The text, without markup."""
        return plain(self.text)


@dataclass(frozen=True, slots=True)
class Banner:
    """A warning that must not be overlooked."""

    text: str

    def html(self) -> str:
        """A paragraph in a frame."""
        return f'<p class="banner" role="note"><b>Mind:</b> {safe(self.text)}</p>'

    def markdown(self) -> str:
        """A quotation."""
        return f"> **Mind:** {plain(self.text)}"


@dataclass(frozen=True, slots=True)
class Curves:
    """Plots side by side, in a page only."""

    plots: tuple[Plot, ...]

    def html(self) -> str:
        """Inline SVG."""
        return f'<div class="plots">{"".join(map(to_svg, self.plots))}</div>'

    def markdown(self) -> str:
        """Nothing: Markdown that is shown from a repository has no inline SVG."""
        return ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands under it; ``folded`` ones open on demand in a page.

    Args:
        title: of the section.
        blocks: in order; a text is a :class:`Note`.
        folded: whether a page shows the blocks on demand only.
    """

    title: str
    blocks: Sequence[str | Block]
    folded: bool = False

    @property
    def shown(self) -> Iterator[Block]:
        """The blocks, texts as notes."""
        return (Note(block) if isinstance(block, str) else block for block in self.blocks)


def markdown(heading: str, made: Sequence[Section]) -> str:
    """Sections as Markdown; one without anything to show in it is left out."""
    parts = [f"# {plain(heading)}"]
    for section in made:
        blocks = [text for block in section.shown if (text := block.markdown().rstrip())]
        if blocks:
            parts += [f"## {plain(section.title)}", *blocks]
    return shown("\n\n".join(parts) + "\n")
