"""A guarded answer in HTML: what stands where, escaped, readable by everyone."""

import re
from html.parser import HTMLParser

import pytest

from franq_guard.policy import Policy
from franq_guard.records import Claim, Evidence, GuardedAnswer, Passage, Verdict
from franq_guard.report.answer import css
from franq_guard.report.words import LABEL_WORDS

VOID = {"meta", "br", "input"}
EVIL = "<script>alert('x')</script>\x1b\" onclick=\"x"


class Read(HTMLParser):
    """Elements with their classes, and the text of each; complains of what is not closed."""

    def __init__(self, html):
        super().__init__()
        self.open, self.found = [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        element = {"tag": tag, "attributes": dict(attributes), "text": ""}
        self.found.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        assert self.open.pop()["tag"] == tag

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, css_class):
        return [e for e in self.found if css_class in e["attributes"].get("class", "").split()]


def verdict(answer, text, label="supported", *, evidence=None, against=None, at=0, reason=None):
    start = answer.index(text, at)
    p_true = None if label in ("unverified", "not-a-claim") else 0.25
    claim = Claim(text, ((start, start + len(text)),))
    faithful = 0.9 if label == "supported" else 0.1
    return Verdict(claim, p_true, faithful, 0.5, 0.5, {}, label, reason, evidence, against)


def answer_of(text, *verdicts, passages=(), changed=None, question=""):
    passages = tuple(Passage(text) for text in passages)
    returned = text if changed is None else changed
    return GuardedAnswer(returned, text, verdicts, "ok", question=question, passages=passages)


def test_the_answer_is_cut_into_its_claims_with_evidence_inside():
    text = "Rome is in Italy. Rome is in Peru."
    right = verdict(text, "Rome is in Italy.", evidence=Evidence(0, 0, 8, 0.9))
    wrong = verdict(text, "Rome is in Peru.", "false", against=Evidence(0, 9, 21, 0.9))
    answer = answer_of(text, right, wrong, passages=["In Italy.Not in Peru."], question="Where?")
    page = Read(answer.to_html())
    first, second = page.all("part")
    assert first["attributes"]["class"] == "part supported"
    assert second["attributes"] == {"class": "part false", "tabindex": "0"}
    assert "Rome is in Peru." in second["text"]
    assert "Likely false" in second["text"]
    assert "passage 1 says otherwise: “Not in Peru.”" in second["text"]
    assert "P(true) 0.25" in second["text"]
    marks = [(e["attributes"]["class"], e["text"]) for e in page.found if e["tag"] == "mark"]
    assert marks == [("supported", "✓ In Italy"), ("false", "✗ Not in Peru.")]
    assert page.all("summary")[0]["text"] == "all 2 claims checked, 1 flagged; lowest P(true) 0.25"
    assert answer._repr_html_() == answer.to_html()


def test_a_stretch_that_may_support_a_claim_looks_different_from_one_that_does():
    text = "Rome is old and big."
    evidence = Evidence(0, 0, 4, 0.9), Evidence(0, 5, 9, 0.3), Evidence(0, 5, 9, 0.9)
    old = verdict(text, "Rome is old", evidence=evidence[0])
    big = verdict(text, "big", "unclear", evidence=evidence[1])
    page = Read(answer_of(text, old, big, passages=["Old. Big?"]).to_html())
    marks = [(e["attributes"], e["text"]) for e in page.found if e["tag"] == "mark"]
    assert marks == [
        ({"class": "supported", "title": "supports a claim"}, "✓ Old."),
        ({"class": "unclear", "title": "may support a claim"}, "≈ Big?"),
    ]
    both = verdict(text, "big", evidence=evidence[2])
    page = Read(answer_of(text, big, both, passages=["Old. Big?"]).to_html())
    assert [e["attributes"]["class"] for e in page.found if e["tag"] == "mark"] == ["supported"]


def test_a_part_of_two_claims_has_the_colour_of_the_worse_and_tells_of_both():
    text = "Rome is old and big."
    answer = answer_of(text, verdict(text, "Rome is old"), verdict(text, "Rome", "doubtful"))
    shared, rest = Read(answer.to_html()).all("part")
    assert shared["attributes"]["class"] == "part doubtful"
    assert "Doubtful" in shared["text"]
    assert "Supported" in shared["text"]
    assert rest["attributes"]["class"] == "part supported"


def test_nothing_in_it_is_markup_and_nothing_is_loaded_or_run():
    found = verdict(EVIL, EVIL, evidence=Evidence(0, 0, len(EVIL), 0.9), reason=EVIL)
    answer = answer_of(EVIL, found, passages=[EVIL], changed=f"x{EVIL}", question=EVIL)
    html = answer.to_html()
    page = Read(html)
    tags = {element["tag"] for element in page.found}
    allowed = {"div", "style", "p", "span", "details", "summary", "ol", "ul", "li", "mark"}
    assert tags <= allowed
    names = {name for element in page.found for name in element["attributes"]}
    assert names <= {"class", "tabindex", "title", "aria-hidden", "dir"}
    assert "url(" not in html
    assert "\x1b" not in html
    assert page.all("question")[0]["text"] == EVIL.replace("\x1b", "\ufffd")


def test_a_looping_answer_lists_its_claim_once_and_counts_it():
    text = "Rome is big. " * 40
    loop = [verdict(text, "Rome is big.", at=13 * i) for i in range(40)]
    page = Read(answer_of(text, *loop).to_html())
    (listed,) = [e for e in page.all("claim") if e["tag"] == "li"]
    assert "stated 40 times" in listed["text"]
    assert len(page.all("part")) == 40


@pytest.mark.parametrize(
    ("action", "said"), [("annotate", False), ("filter", True), ("block", True)]
)
def test_what_the_policy_made_of_it_is_shown_where_it_is_more_than_marks(action, said):
    text = "Rome is old. Rome is in Peru."
    verdicts = (verdict(text, "Rome is old."), verdict(text, "Rome is in Peru.", "false"))
    changed = Policy(action=action).apply(text, verdicts)
    html = answer_of(text, *verdicts, changed=changed).to_html()
    assert ("What the reader gets" in html) is said


@pytest.mark.parametrize("text", ["Rome is in Peru[1].", "Rome is in Peru [likely false]."])
def test_marks_beside_a_citation_or_a_guards_own_are_no_more_than_marks(text):
    false = verdict(text, "Rome is in Peru", "false")
    changed = Policy().apply(text, [false])
    assert "What the reader gets" not in answer_of(text, false, changed=changed).to_html()


def test_every_label_has_a_colour_a_shape_of_its_own_and_a_line_in_the_legend():
    text = "a b c d e f g h"
    page = Read(answer_of(text, *map(verdict, [text] * 8, text.split(), LABEL_WORDS)).to_html())
    assert [element["attributes"]["class"] for element in page.all("part")] == [
        f"part {label}" for label in LABEL_WORDS
    ]
    shapes = [words.shape for words in LABEL_WORDS.values()]
    assert len(set(shapes)) == len(shapes)
    (legend,) = page.all("legend")
    for words in LABEL_WORDS.values():
        assert words.name in legend["text"]
    for label in LABEL_WORDS:
        assert css().count(f"--{label}: #") == 2  # light and dark


def luminance(rgb):
    # WCAG 2.2, "relative luminance"
    parts = [c / 255 for c in rgb]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def colours(block):
    def rgb(code):
        code = "".join(c * 2 for c in code) if len(code) == 3 else code
        return [int(code[i : i + 2], 16) for i in (0, 2, 4)]

    return {name: rgb(code) for name, code in re.findall(r"--([\w-]+): #(\w+);", block)}


@pytest.mark.parametrize("theme", [0, 1])
def test_text_and_labels_reach_the_contrast_that_wcag_aa_asks_for(theme):
    found = colours(css().split("@media")[theme].split(".supported")[0])
    shares = [int(share) / 100 for share in re.findall(r"var\(--tone\) (\d+)%", css())]
    for label in LABEL_WORDS:
        tone = found[label]
        for ground in ("paper", "card"):
            assert contrast(tone, found[ground]) >= 4.5, (label, ground)
            assert contrast(found["soft"], found[ground]) >= 4.5
        for share in shares:  # text on a coloured ground, and the shape beside it
            pairs = zip(tone, found["paper"], strict=True)
            mixed = [share * t + (1 - share) * p for t, p in pairs]
            assert contrast(found["ink"], mixed) >= 4.5, (label, share)
            assert contrast(tone, mixed) >= 3, (label, share)


def test_each_text_runs_in_its_own_direction():
    """A right-to-left override in a claim must not turn round the claim and label after it."""
    text = "The fee is \u202e50 euros. It is due."
    first, second = (
        verdict(text, "The fee is \u202e50 euros.", "false"),
        verdict(text, "It is due."),
    )
    found = Read(answer_of(text, first, second, passages=[text], question=text).to_html())
    (rule,) = re.findall(r"(.*) \{ unicode-bidi: plaintext; \}", css())
    apart = rule.replace(".franq ", "").split(", ")
    for css_class in ("question", "answer"):
        (element,) = found.all(css_class)
        assert element["attributes"]["dir"] == "auto"
    for css_class in ("part", "name", "small", "stretch"):
        assert {e["tag"] for e in found.all(css_class)} <= set(apart)
    # What has the override alone, or in an element that is set apart, turns nothing else.
    inner = [e["tag"] for e in found.found if e["text"] == first.claim.text]
    assert inner
    assert set(inner) <= set(apart)
