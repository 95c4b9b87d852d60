"""What states nothing is recognised, and what states something is not taken for it."""

import pytest

from franq_guard.claims import RuleSplitter
from franq_guard.claims.rules.nonclaims import reason


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Who built it?", "question"),
        ("“Is it true?”", "question"),
        ("The context does not say when it was built.", "refusal"),
        ("There is no information about prices in the passages.", "refusal"),
        ("I’m sorry, but I cannot answer that.", "refusal"),
        ("Her age is not mentioned in the provided text.", "refusal"),
        ("Not enough information.", "refusal"),
        ("As an AI language model, I have no live data.", "hedge"),
        ("I may be wrong about this.", "hedge"),
        ("Please note that my knowledge ends in 2023.", "hedge"),
        ("Hello there!", "greeting"),
        ("Sure! I can help with that.", "greeting"),
        ("Let me know if you have questions.", "greeting"),
        ("I hope this helps!", "greeting"),
        ("Here are the main points:", "lead-in"),
        ("The largest cities are:", "lead-in"),
        ("Press the red button.", "instruction"),
        ("Then wait until the light turns green.", "instruction"),
        ("You should consult a doctor.", "instruction"),
        ("Make sure that the door is shut.", "instruction"),
        ("In my opinion, it is the best novel of the century.", "opinion"),
        ("It is a truly wonderful place.", "opinion"),
        ("I love this city.", "opinion"),
        ("https://example.org/a", "link"),
        ("[1][2]", "citation"),
        ("— * —", "no statement"),
    ],
)
def test_no_claims(sentence, expected):
    assert reason(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Sure, the capital of France is Paris.",
        "Certainly, he was born in Rome.",
        "Here is the answer: Paris.",
        "Cheers is an American sitcom.",
        "Thanks to the Marshall Plan, Europe recovered.",
        "Great Britain is an island.",
        "I believe Paris is the capital of France.",
        "Please note that the bridge closed in 1990.",
        "Use of force was banned.",
        "Open access became common.",
        "Turn signals are required.",
        "Let It Be is an album by the Beatles.",
        "Do the Right Thing is a film by Spike Lee.",
        "It was a great success.",
        "The law does not mention wages.",
        "No, it is not.",
        "Yes.",
        "1989",
        "You can find it in Norway.",
        "How the pyramids were built is unknown.",
    ],
)
def test_claims_are_not_lost(sentence):
    assert reason(sentence) is None


def test_markup_and_code_are_named():
    answer = "# Title\n\n| a | b |\n|---|---|\n| x | 1 |\n\n```\ncode\n```\nText is here."
    found = {c.text: c.not_a_claim for c in RuleSplitter().split(answer)}
    assert found == {
        "Title": "heading",
        "| a | b |": "table header",
        "X: b: 1.": None,
        "code": "code",
        "Text is here.": None,
    }
