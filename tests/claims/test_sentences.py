"""Sentence boundaries and Markdown blocks."""

import pytest

from franq_guard.claims.blocks import blocks
from franq_guard.claims.sentences import sentences


def cut(text):
    return [text[a:b] for a, b in sentences(text, 0, len(text))]


@pytest.mark.parametrize(
    "expected",
    [
        ["It cost 3.5 million.", "Dr. Smith paid."],
        ["J. R. R. Tolkien wrote it.", "He lived in the U.S. until 1990."],
        ["See Fig. 3 for approx. 10 values.", "Then stop."],
        ["Visit https://a.example/b.c?d=e.", "Version 2.0.1 is out."],
        ["Visit https://a.example/b.", "The next one is longer.", "Or www.a.org/b!", "It is."],
        ["It is at <https://a.example/b>.", '"Go" is 3.', "It is at https://a.example/b.", "*So.*"],
        ["Founded in 1990.[1]", "It grew.[2][3]"],
        ["He said “Go. Now.” to us.", "Then he left."],
        ["Bones… None.", "Sharks have cartilage"],
        ["They left…", "She stayed."],
        ["Wait... what?", "No way!"],
        ["No.", "Martin has written five."],
        ["No. 5 is a perfume."],
        ["It was approx. $25 trillion vs. ~$23 trillion.", "It fell by max. -5 %."],
        ["It costs ca. €40.", "It is in the USA.", "€50 is paid."],
        ["It uses ASP.NET Core.", "VB.NET is old."],
        ["It is $$x = 3.$$", "So x is 3."],
        ["It is old.[^1]", "It is red.[^2][^3]", "It is big."],
        ['"It rained in May."', "It is dry."],
        ["Jeopardy! is a show.", "Who watches?"],
        ["東京は首都です。", "大きい！"],
        ["An unfinished last", ],
    ],
)  # fmt: skip
def test_boundaries(expected):
    text = "".join(s + ("" if s[-1] in "。！" else " ") for s in expected)
    joined = ["They left…", "She stayed."] if expected[0] == "They left…" else expected
    if expected[0].startswith("Bones"):
        joined = ["Bones…", "None.", "Sharks have cartilage"]
    assert cut(text) == joined


@pytest.mark.parametrize(
    "expected",
    [
        ["**It is old.**", "It is red."],
        ["**Is it old?**", "Yes.", "*It is red!*", "~~It is blue.~~", "_No._", "It is."],
        ["**It is old.**[1]", "It is red.", "**It is blue.**²", "It is small.²", "It is tall."],
        ["It is old.", "**It is red** now.", "<i>It is <b>blue.</b></i>", "It is small."],
    ],
)  # fmt: skip
def test_what_closes_a_sentence_belongs_to_it(expected):
    assert cut(" ".join(expected)) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["Fans of Panic! at the Opera cheered.", "It rained."],
        ["Guess Who? is a game.", "He likes Oklahoma! the most."],
        ["Stop!", "Then he left."],
        ["Is it red?", "It is."],
        ["What a phone!", "iPads sold well too."],
        ["is it red?", "it is.", "ok!", "good."],
        ["Is it red?", "it is."],
        ["Wait...What is it?"],
        ["She won I'm a Singer...Let Me Out! in 2010.", "He lost."],
        ["The score is by Benj. Harper and Wm. Clark.", "Geo. Ross and Chas. Dow led it."],
        ["Thos. Moore, Jas. Watt, Jos. Reed and Robt. Burns met Edw. Lear."],
        ["Danl. Boone knew Saml. Pepys.", "Both left."],
        ["It was signed by Chas.", "He left."],
        ["The Canal Office (C.O.I.) was closed.", "The C.O.I. was big."],
        ["The answer is: 1. Norway"],
        ["The largest lakes are: 1. The Ladoga 2. The Onega 3. The Vanern"],
        ["There are two parts: 1. The keel.", "2. The mast is tall."],
        ["The final score was 2: 1.", "The home team won."],
        ["Goals: 1.", "Assists: 2.", "He left."],
        ["The number is: 4.", "The rest is empty."],
        ["It was built by **Dr. Lee** and **J. Moor**.", "*Mr. Dow* paid.", "__St. Ives__ is old."],
        ["**No.", "It is red.**", "**No. 5** is blue, see **fig. 3**."],
        ["Use .NET 9.", "It is free."],
    ],
)  # fmt: skip
def test_names_and_lists_do_not_end_a_sentence(expected):
    assert cut(" ".join(expected)) == expected


def test_offsets_are_characters_whatever_the_text():
    text = "Émile 😀 left.\r\nÑandú \ud800 stayed. ok"
    assert cut(text) == ["Émile 😀 left.", "Ñandú \ud800 stayed.", "ok"]


def kinds(text):
    return [(b.kind, text[b.start : b.end]) for b in blocks(text)]


def test_markdown_blocks():
    text = (
        "# Head #1\n\nA line that is long enough to be wrapped by an editor at\nsome width. End.\n"
        "> quoted\n* item\n  2) second\n- [x] done\n---\n**Bold title**\n"
        "| a | b |\n|:--|--:|\n| 1 | 2 |\n\n~~~py\nx = 1\n\ny = 2\n~~~\nJ. Smith wrote."
    )
    assert kinds(text) == [
        ("heading", "Head #1"),
        (
            "paragraph",
            "A line that is long enough to be wrapped by an editor at\nsome width. End.",
        ),
        ("paragraph", "quoted"),
        ("item", "item"),
        ("item", "second"),
        ("item", "done"),
        ("heading", "**Bold title**"),
        ("table_head", "| a | b |"),
        ("row", "| 1 | 2 |"),
        ("code", "x = 1\n\ny = 2"),
        ("paragraph", "J. Smith wrote."),
    ]


def test_a_fence_that_never_closes_is_code_to_the_end():
    assert kinds("```\nx = 1\ny = 2") == [("code", "x = 1\ny = 2")]


def test_short_lines_stay_apart():
    assert [text for _, text in kinds("Capital: Lima\nCurrency: sol")] == [
        "Capital: Lima", "Currency: sol",
    ]  # fmt: skip
