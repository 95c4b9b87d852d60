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
        """Markdown; empty for a block that is shown only in a page."""


@dataclass(frozen=True, slots=True)
class Note:
    """A paragraph; in small grey type unless it is the ``main`` message."""

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
        """A block quote."""
        return f"> **Mind:** {plain(self.text)}"


@dataclass(frozen=True, slots=True)
class Curves:
    """Plots side by side, shown only in a page."""

    plots: tuple[Plot, ...]

    def html(self) -> str:
        """Inline SVG."""
        return f'<div class="plots">{"".join(map(to_svg, self.plots))}</div>'

    def markdown(self) -> str:
        """Empty: code hosts do not show inline SVG in Markdown."""
        return ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its blocks; if ``folded``, a page shows the blocks only on demand.

    Args:
        title: of the section.
        blocks: in order; a plain string becomes a :class:`Note`.
        folded: whether a page hides the blocks until they are opened.
    """

    title: str
    blocks: Sequence[str | Block]
    folded: bool = False

    @property
    def shown(self) -> Iterator[Block]:
        """The blocks, with strings converted to notes."""
        return (Note(block) if isinstance(block, str) else block for block in self.blocks)


def markdown(heading: str, made: Sequence[Section]) -> str:
    """Sections as Markdown; a section without content is left out."""
    parts = [f"# {plain(heading)}"]
    for section in made:
        blocks = [text for block in section.shown if (text := block.markdown().rstrip())]
        if blocks:
            parts += [f"## {plain(section.title)}", *blocks]
    return shown("\n\n".join(parts) + "\n")
