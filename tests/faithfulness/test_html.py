"""Pages as loaders hand them over: what no reader of the page sees is no evidence."""

import pytest

from franq_guard.faithfulness.small.cut import Cut
from franq_guard.faithfulness.small.html import without_markup
from franq_guard.faithfulness.small.tables.rows import tables
from franq_guard.faithfulness.small.written_out import written_out

PAGE = """<!DOCTYPE html>
<html><head><title>Ferries</title><style>p { color: red }</style>
<script>var price = "The ferry costs 90 crowns.";</script></head>
<body><!-- The ferry to Oskar leaves at 9. --><h1>Timetable</h1>
<p>The ferry to <b>Lund</b> leaves at 7.</p><p>If a &lt; b or a < b, it waits.</p>
<table class="wide"><thead><tr><th>Harbour</th><th>Crossing time</th></tr></thead>
<tbody><tr><td>Vessel</td><td>40
minutes</td></tr>
<tr><td>Tarn</td><td>55 minutes</td></tr></tbody></table></body></html>"""


def plain(text):
    return [" ".join(one.split()) for one in Cut.of((text,)).sentences]


def test_scripts_styles_and_comments_are_not_read_and_rows_have_their_header():
    assert plain(PAGE) == [
        "Ferries",
        "Timetable",
        "The ferry to Lund leaves at 7.",
        "If a < b or a < b, it waits.",
        "Harbour Vessel: Crossing time 40 minutes.",
        "Harbour Tarn: Crossing time 55 minutes.",
    ]


def test_every_character_keeps_its_place():
    read = without_markup(PAGE)
    assert len(read) == len(PAGE)
    kept = [i for i, c in enumerate(read) if not c.isspace() and c not in "|-"]
    assert all(read[i] == PAGE[i] for i in kept)
    assert without_markup(read) == read


def test_a_row_is_found_again_in_the_page():
    written = written_out(PAGE)
    at = written.text.index("Harbour Tarn")
    start, end = written.original(at, at + 12)
    assert PAGE[start:end] == "<td>Tarn</td><td>55 minutes"


def test_a_table_on_one_line_without_a_section_for_its_header():
    line = "<table><tr><th>Town</th><th>Bells</th></tr><tr><td>Orm</td><td>9</td></tr></table>"
    assert plain(line) == ["Town Orm: Bells 9."]


@pytest.mark.parametrize(
    "text",
    [
        "The gate opens if a < b and c > d.",
        "The tag <script> begins a script and </script> ends it.",
        "| Tag | Use |\n|---|---|\n| <b> | bold letters |",
        "<div> shows a box:\n```html\n<script>The dam is old.</script>\n```",
        "x <!-- y -->",
        "",
    ],
)
def test_prose_about_tags_stays_as_it_is(text):
    assert without_markup(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "<p>The dam is old.<script>It is red.",
        "<p>The dam is old.<!-- It is red.",
        "<table><tr><td>The dam is old.<td>It is red.",
        "<table></table><p>The dam is old.</p> It is red.",
        "<div><p>The dam is old.</div></p></td>It is red.<",
    ],
)
def test_broken_markup_loses_no_text(text):
    read = " ".join(without_markup(text).split())
    assert "The dam is old." in read
    assert "It is red." in read


@pytest.mark.parametrize("part", ["<script>", "<!--", "<p ", "<table>", "<table><tr><td>", "<tr "])
def test_many_tags_that_are_never_closed_are_read_once(part):
    # 400,000 tags: were each one followed to the end of the text, this would take hours.
    text = "<p>\n" + part * 400_000
    assert len(without_markup(text)) == len(text)
    tables.cache_clear()
    without_markup.cache_clear()
