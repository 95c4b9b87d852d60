"""What PDFs, pages and editors leave in a text changes neither words nor the evidence's place."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.faithfulness.small.cut import stretches
from franq_guard.faithfulness.small.plain import plain
from franq_guard.faithfulness.small.spelling import as_written
from franq_guard.faithfulness.small.written_out import written_out

PLAIN = "The caf\u00e9 is efficient. It filters information well."
ODD = {
    "soft hyphens": PLAIN.replace("information", "in\u00adfor\u00adma\u00adtion"),
    "cut by a soft hyphen": PLAIN.replace("information", "infor\u00ad\nmation"),
    "zero width": PLAIN.replace("information", "infor\u200bmation\u2060"),
    "byte order mark": f"\ufeff{PLAIN}",
    "ligatures": PLAIN.replace("ffi", "\ufb03").replace("fi", "\ufb01"),
    "decomposed": unicodedata.normalize("NFD", PLAIN),
    "entities": PLAIN.replace("\u00e9", "&eacute;")
    .replace(" is", "&nbsp;is")
    .replace("w", "&#119;"),
    "soft hyphens as entities": PLAIN.replace("information", "in&shy;for&#xAD;mation"),
    "cut at a line's end": PLAIN.replace("information", "infor-\nmation"),
    "cut in an indented text": PLAIN.replace("information", "infor- \r\n   mation"),
}
odd = pytest.mark.parametrize("text", ODD.values(), ids=ODD)


@odd
def test_the_words_are_those_that_one_sees(text):
    assert plain(text).text == PLAIN


@odd
def test_the_evidence_stands_in_the_text_itself(model, text):
    claims = ["The caf\u00e9 is efficient.", "It filters information well."]
    assert model.score_passages([[text]] * 2, claims) == model.score_passages([[PLAIN]] * 2, claims)
    found = model.evidence([text], claims)
    shown = [text[one.start : one.end] for one in found if one]
    assert [plain(part).text for part in shown] == claims
    assert shown[1].startswith("It ")


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        "from the short-\nand the long-term plan",
        "the north-\nWest of the non-\n\nfiction 12-\nmonth",
        "- one\n- two",
        "\u00ad\u200b",
        "x\u0304 is the mean",  # no letter has this accent
        "\U0001f469\u200d\U0001f4bb",  # one sign of two, joined
        "Write &lt;b&gt; for bold letters; AT&T; R&D; &#xyz;",  # &lt;b&gt; must not become a tag
    ],
)
def test_what_is_plain_stays(text):
    assert plain(text).text == text


WRAPPED = """\
The lighthouse at Gull Point was designed by the
engineer Ada Renn, who had built two others on the
coast, and it was lit for the first time, after six
years of work, in
1871. It stands 31 metres tall."""


@pytest.mark.parametrize("ends", ["\n", "\r\n", " \n"])
def test_a_sentence_goes_on_where_its_lines_were_broken_to_fit_a_page(model, ends):
    text = WRAPPED.replace("\n", ends).replace(f"in{ends}1871", "in 1871")
    whole = WRAPPED.replace("\n", " ")
    assert plain(text).text == whole
    claim = "The lighthouse at Gull Point was lit in 1871."
    assert model.score_passages([[text]], [claim]) == model.score_passages([[whole]], [claim])
    [found] = model.evidence([text], [claim])
    assert text[found.start : found.end].startswith("The lighthouse at Gull Point was designed")
    assert text[found.start : found.end].endswith("1871.")


def test_lines_of_a_manual_page_go_on_below_each_other():
    page = (
        "OPTIONS\n"
        "    -q, --quiet       print nothing but errors\n"
        "    --keep NUMBER     leave so many of the oldest copies in their place\n"
        "                      (default: 5); see also copies(1).\n"
        "    Copies themselves are never removed by this command, whatever its options are\n"
        "    called.\n"
    )
    joined = page.replace("place\n                      (", "place (")
    assert plain(page).text == joined.replace("are\n    called", "are called")


@pytest.mark.parametrize(
    "text",
    [
        "apples and pears\nplums\ncherries",  # short lines: items
        "steps of the whole procedure, all of them in order\n  take the boat",  # an item set in
        "What you should know about the delivery of parcels\nWe deliver on weekdays.",  # a heading
        "name: the northern lighthouse of Gull Point island\nheight: 31 metres",  # entries
        "| the northern lighthouse of Gull Point island | 31\nmetres | 12 |",  # a table
        "You may take the following things on the boat with you:\nbread",  # a lead-in
        "Take the boat in the morning, not in the afternoon\nb) walk",  # items with letters
        "It was lit in the autumn of that year by the keeper.\nthe end",  # a sentence's end
        "def lit(self, lighthouse, keeper, autumn, year_of_it):\nreturn",  # code
    ],
)
def test_other_lines_stay_as_they_are(text):
    assert plain(text).text == text


def test_a_claim_that_was_copied_from_such_a_text_is_read_alike():
    assert as_written(ODD["ligatures"], PLAIN) == PLAIN
    assert as_written(PLAIN, ODD["soft hyphens"]) == PLAIN


def test_a_long_run_is_read_once():
    """What is quadratic takes minutes here."""
    for run in ("-\n", "a-" + " ", "a-\n ", "\u00ad", "e\u0301\u0323", "\u0301\u0323"):
        many = run * (100_000 // len(run))
        assert len(plain(f"x{many}y").text) <= len(many) + 2


PIECES = [
    "a",
    "Be",
    " ",
    "\n",
    "-",
    "\u00ad",
    "\ufb01",
    "e\u0301",
    "\ufeff",
    ". ",
    "- ",
    "Do not:\n",
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_every_stretch_is_found_again(text):
    written = written_out(text)
    for span in stretches(written.text):
        start, end = written.original(*span)
        assert 0 <= start < end <= len(text)
        if ":" not in text:  # a list is read in other words
            assert plain(text[start:end]).text.strip() == written.text[slice(*span)]


def test_the_sign_of_an_amount_may_be_written_as_html_spells_it(model):
    claim = "The ticket costs $40."
    page = "<p>Open daily.</p>\n<p>The ticket costs &#36;40, if x &lt; 5.</p>"
    seen = page.replace("&#36;", "$").replace("&lt;", "<")
    assert model.score_passages([[page]], [claim]) == model.score_passages([[seen]], [claim])
    [found] = model.evidence([page], [claim])
    assert page[found.start : found.end] == "The ticket costs &#36;40, if x &lt; 5."
