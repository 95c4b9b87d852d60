import re
from dataclasses import dataclass

from franq_guard.metrics.plots import reliability_plot
from franq_guard.report.page import page
from franq_guard.report.sections import Curves, Section, markdown
from franq_guard.report.tables import Column, Table

EVIL = "<script>alert(1)</script>\"'& **b**"
TABLE = Table(
    "t", EVIL, (Column("what"), Column("PRR", "higher")), (("one", 0.5), ("two", 0.25)), EVIL
)
CURVES = Curves((reliability_plot([1, 0], {EVIL: [0.9, 0.2]}),))


@dataclass(frozen=True)
class Own:
    """A block that franq_guard does not know."""

    def html(self) -> str:
        return '<p class="own">own</p>'

    def markdown(self) -> str:
        return ""


def test_page_holds_every_block_escaped():
    made = page(EVIL, [Section("First & last", (TABLE, EVIL, CURVES, Own()))], style=".own {}")
    assert "<script" not in made
    assert made.count("&lt;script&gt;") >= 6  # heading twice, title, note twice, a curve's name
    assert 'id="first-last"' in made
    assert 'href="#first-last"' in made
    assert "<b>.50</b>" in made
    assert "<u>.25</u>" in made
    assert '<p class="own">own</p>' in made
    assert re.search(r"<style>.*\.own \{\}</style>", made, re.DOTALL)
    assert made.count("<svg") == 1


def test_folded_sections_open_on_demand():
    made = page("heading", [Section("rest", ("said",), folded=True)])
    assert '<details><summary>Show</summary><p class="note">said</p></details>' in made


def test_markdown_leaves_out_what_is_for_the_page_only():
    made = markdown("heading", [Section("a", (TABLE, "said *so*")), Section("b", (CURVES, Own()))])
    assert made.startswith("# heading\n\n## a\n\n**\\<script")
    assert made.endswith("said \\*so\\*\n")
    assert "## b" not in made
