"""A label or reason cannot be forgotten: every place that names them has all of them."""

import re
from pathlib import Path
from typing import get_args

import pytest

from franq_guard.policy import MARKS, WEAK, Policy
from franq_guard.records import Label, Reason
from franq_guard.report.terminal import STYLES
from franq_guard.report.words import LABEL_WORDS, REASON_WORDS, difference_words, why

ROOT = Path(__file__).parents[2]
LABELS, REASONS = get_args(Label), get_args(Reason)
STYLE = (ROOT / "examples" / "langchain_web" / "static" / "page.css").read_text("utf-8")
LIGHT, DARK = (
    dict(re.findall(r"--([\w-]+): #(\w+);", block))
    for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
)


def read(*names):
    return ROOT.joinpath(*names).read_text("utf-8")


def test_every_label_and_reason_has_its_words():
    assert tuple(LABEL_WORDS) == LABELS
    assert tuple(REASON_WORDS) == REASONS
    for table in (STYLES, LABEL_WORDS):
        assert set(table) == set(LABELS)
    assert len({words.name for words in LABEL_WORDS.values()}) == len(LABELS)
    for words in LABEL_WORDS.values():
        assert re.fullmatch(r"[A-Z][^.]+\.", words.meaning), words  # one sentence


def test_what_is_flagged_has_a_mark_and_a_colour_of_its_own():
    assert {*WEAK, "unverified"} == set(Policy().marked) == set(MARKS) - {"unclear"}
    assert len(set(MARKS.values())) == len(MARKS)
    assert len(set(STYLES.values())) == len(STYLES)


def test_a_reason_in_plain_words():
    assert why("conflict") == "one passage says this and another says otherwise"
    assert why("of_the_user") == "of the user"
    assert why(None) == ""


def test_a_difference_in_plain_words():
    assert difference_words("ten", "nine") == 'differs: "ten", the passage has "nine"'
    assert difference_words("", "not") == 'differs: the passage has "not"'
    assert difference_words("not", "") == 'differs: "not", which the passage does not have'


@pytest.mark.parametrize("label", LABELS)
def test_every_label_is_on_the_pages(label):
    meaning = LABEL_WORDS[label].meaning
    assert f"| {label} | {meaning} |" in read("docs", "verdicts.md")
    assert f"\n| {label} | " in read("README.md")
    assert f"`{label.replace('-', '_')}`" in read("docs", "telemetry.md")


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_is_on_the_page(reason):
    assert f"| {reason} | {REASON_WORDS[reason]} |" in read("docs", "verdicts.md")


# An answer of each kind of stretch that states nothing.
NO_CLAIMS = {
    "question": "Does that help?",
    "greeting": "Hello!",
    "refusal": "I cannot answer this question.",
    "hedge": "As an AI, I do not have access to this.",
    "opinion": "In my opinion, it is beautiful.",
    "instruction": "Contact your doctor.",
    "lead-in": "Here are some facts:",
    "heading": "# The bridge\n\nIt opened in 1412.",
    "table header": "| Name | Year |\n|---|---|\n| Rome | 753 |",
    "citation": "[1]",
    "code": "```\nx = 1\n```",
    "reasoning": "<think>The bridge is old.</think>",
    "unfinished": "The bridge opened in 1412. The",
    "yes or no": "Yes. The bridge opened in 1412.",
    "no statement": "...",
}


@pytest.mark.parametrize("kind", NO_CLAIMS)
def test_what_is_no_claim_is_called_on_the_page_what_it_is(kind):
    from franq_guard.claims import RuleSplitter

    found = [claim.not_a_claim for claim in RuleSplitter().split(NO_CLAIMS[kind])]
    assert kind in found
    assert f"`{kind}`" in read("docs", "verdicts.md").split("A **not-a-claim** has")[1]


def test_every_kind_of_no_claim_has_an_example_above():
    from franq_guard.claims.blocks import NOTHING

    patterns = read("franq_guard", "claims", "rules", "lexicon", "nonclaims.txt")
    kinds = {*NOTHING, *re.findall(r"^\[([\w-]+)\]$", patterns, re.MULTILINE)}
    assert kinds <= set(NO_CLAIMS)


@pytest.mark.parametrize("label", MARKS)
def test_every_mark_is_on_the_page(label):
    assert f"`{MARKS[label]}`" in read("docs", "verdicts.md")


def test_the_service_describes_every_label_and_reason():
    from franq_guard.serve.documents import ANSWER_SCHEMA

    verdict = ANSWER_SCHEMA["properties"]["verdicts"]["items"]["properties"]
    assert verdict["label"]["enum"] == list(LABELS)
    said = verdict["label"]["description"].splitlines()
    assert said == [f"{label}: {words.meaning}" for label, words in LABEL_WORDS.items()]
    assert set(verdict["reason"]["description"].splitlines()) >= {
        f"{reason}: {words}" for reason, words in REASON_WORDS.items()
    }


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("label", LABELS)
def test_every_label_has_a_colour_on_the_page_that_can_be_read(label, scheme):
    assert contrast(scheme[label], scheme["paper"]) >= 4.5  # WCAG 2.1, AA
    assert contrast(scheme[label], scheme.get("card", "ffffff")) >= 4.5


def test_a_shape_tells_the_flagged_labels_apart_without_their_colours():
    shapes = dict(
        re.findall(r"^\.([\w-]+) \{ --tone: var\(--\1\);(?: --style: (\w+);)? \}", STYLE, re.M)
    )
    assert set(shapes) == set(LABELS)
    flagged = [shapes[label] for label in Policy().marked]
    assert all(flagged)
    assert len(set(flagged)) == len(flagged)
    assert shapes["supported"] not in flagged


def contrast(one, other):
    """The contrast of two colours, 1 to 21: https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour):
    digits = colour if len(colour) == 6 else "".join(2 * digit for digit in colour)
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_contrast_by_hand():
    assert contrast("fff", "000000") == pytest.approx(21)
    assert contrast("777777", "fff") == pytest.approx(4.48, abs=0.005)  # just under AA, known
