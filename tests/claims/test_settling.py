"""What is settled of a text stays so, whatever follows."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from franq_guard.claims import RuleSplitter, settling
from franq_guard.claims.sentences import sentences
from franq_guard.claims.settling import LOOK_AHEAD

SPLITTER = RuleSplitter()
PIECES = [
    "\n- [x] ", "\n[ ] ", "Certainly! ", "\nAbsolutely!\n", "True. ", "False.\n", "Neither. ",
    "Sources:\n- \"It is big.\" (a.pdf)\n", "\n## Step 1: Heat it to 9 km\n",
    "Marie Curie was born in Warsaw", " and won two prizes", ", who left early", ", which is big",
    ". ", ".", "; ", "\n", "\n\n", "\n- ", "\n1. ", "1. ", "2) ", "(1) ", "a) ", "\n# Life\n",
    "\n\n| a | b |\n|---|---|\n| c | d |\n\n", "\n```\n", "(", ")", '"', "“", "”", "'", "’", "‘",
    "\n```md\n",
    "...", "… ", "e.g. ", "3.5 million", " but it stayed there for long", "it", " is ", ", ", "*",
    "**", "\n> ", "No. ", "? ", "He ", "! ", "[1]", " [2] ", "http://a.b/c", "5 km. ", "U.S. ",
    "Germany borders France, Spain and Italy", "東京。", "😀", "\r\n", "Dr. ", "x", "X", " the ",
    "1", "Mr. J. Smith went home to his family in the evening. ",
    "It rained all day long in Paris. ",
    "The river rises in the northern hills and runs to the sea. ", "\n---\n", "Yahoo! ",
    "\n=====\n", "\n-----", "\nThe Life\n", "\r", "`", "''",
    "Panic! at ", "Wm. ", "...Get Out", "They are: 1. ", "2. The ", "Yes. ", "\nNo.\n", "It does. ",
    "\n\n**Tom Fox**\n\n", "The man is:\n", "\n| Size | 9 minutes |\n|---|---|\n",
    ' "It is big. It is red." ',
    "I cannot find it, but it is red. ", "\nii. ",
    "\n## Size 9 metres\n", "\n**Old (9 km)**\n", "![Old](a.png)", '[Old](a.b "It is 9 km")',
    " (Source: The town is 9 km wide.)", "\n| It is big. | a |\n|---|---|\n",
    "<caption>It is big</caption>", "![", '(a.b "It',
    "\n[4] The town is big.\n", "\n- [5] Lee, Towns, 1990\n", "\nSources:\n[6] It is big.\n",
    "\n[1]: ", "\n[^2]: The town is big. ", "\n[3]: Lee, Towns, 1990\n", "\nSources:\n",
    "<think>", "</think>It was so. ", "\n<think>", "<script>", "\n<script>\n", "</script>",
    "[THINK]", "[/THINK]It was so. ", "\n[THINK]", "<|channel|>analysis<|message|>", "<|im_end|>",
    "<|end|><|start|>assistant<|channel|>final<|message|>", "assistantfinal", "analysisThe town ",
    "\n\n📌 Key facts\n\n", "\n🔎 Where to look\n", "\n✅ Red\n", "\n1. **Life**\n",
    "\n   - It is. ", "\n**1. Life**\n", "📌 ",
    "`<style>`", "</style>", "<br>", "<tool_call>", "\n``` It is big. ", "\n```python\n", "\n~~~\n",
    "```", "`<p>` ", ".** ", "**Dr. ", "*No. ", " .NET ", "_",
    "\n**Size: 9 km**\n", "**Age: old**\n", "<answer>", "</answer>", "\n| a<br>b | c |\n",
    "\n  - ", "\n- It offers:\n", "\n## Myths\n", "\nThese are wrong:\n", "</b> ", "`",
    "\n$$\n", "\n\\[\n", "\n\\]\n", ", according to http://a.b/c",
    "(passage 2) ", " (Source: The Old Town) ", " *(Source: The History of the Old Town, p. 3)*",
    "Let me add that ",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


def units(text, question="Where is Rome?"):
    return [(unit.span, unit.claims) for unit in SPLITTER.units(text, question=question)]


@given(TEXTS, TEXTS)
@settings(max_examples=300, deadline=None)
@example("(1) Paris is big. " + "It rained all day long in Paris. " * 2, "(2) Rome too.")
@example(
    "Mr. J. Smith went home to his family in the evening. `..."
    + "Marie Curie was born in Rome" * 2,
    "`",
)
@example(
    ". 'Mr. J. Smith went home to his family in the evening. ''"
    + "Marie Curie was born in Warsaw it stayed there for long but it stayed",
    ". ''",
)
@example('He said "no. ' + "It rained all day long in Paris. " * 2, '" Then he left.')
def test_what_is_settled_is_the_same_in_every_longer_text(text, more):
    end = RuleSplitter().settled(text)
    assert 0 <= end <= len(text)
    now = [unit for unit in units(text) if unit[0][1] <= end]
    later = units(text + more)
    assert later[: len(now)] == now
    assert all(start >= end for (start, _), _ in later[len(now) :])


@given(st.lists(st.sampled_from(PIECES), max_size=4).map("".join), TEXTS)
@settings(max_examples=100, deadline=None)
@example("Certainly!\n\n", "\n")
@example("Certainly!\n\n", "## Facts\n\nIt is red.")
@example("False. ", "It is big. It rained all day long in Paris. ")
def test_an_answer_to_a_yes_no_question_is_settled_for_good(text, more):
    for question in ("Is Rome big?", "Is Rome old or big?"):
        end = RuleSplitter().settled(text)
        now = [unit for unit in units(text, question) if unit[0][1] <= end]
        assert units(text + more, question)[: len(now)] == now


def test_prose_is_settled_a_look_ahead_later():
    first, second = (
        "The tower was built in 1903.",
        " " + "Many people came to see it then" * 3,
    )
    ends = [RuleSplitter().settled(first + second[:n]) for n in range(len(second))]
    assert sorted(set(ends)) == [0, len(first)]
    assert ends.index(len(first)) == LOOK_AHEAD


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("It is big.\n", 10),  # a full stop before the line break
        ("It is big\n", 0),  # the next line may go on with it
        ("It is big\n\n", 9),
        ("- It is big.\n- It is", 12),
        ("# Life\n", 0),  # may become the header of a table
        ("# Life\nIt is big\n", 6),
        ("It is big", 0),
    ],
)
def test_line_breaks_settle(text, end):
    assert RuleSplitter().settled(text) == end


def test_an_open_quotation_holds_its_sentences_back():
    text = "He said: “It was late. " + "The train had left the town a long while ago. " * 3
    assert RuleSplitter().settled(text) == 0
    later = "” Then he went home and slept for the whole of the day."
    assert RuleSplitter().settled(text + later) > 0


def test_a_long_paragraph_is_split_once_for_each_mark_that_may_close(monkeypatch):
    calls = []
    monkeypatch.setattr(
        settling, "sentences", lambda *a, **k: calls.append(a) or sentences(*a, **k)
    )
    text = "The tower [1] is big. " + "It rained all day long in Paris. " * 20
    end = RuleSplitter().settled(text)
    assert end > 600
    assert len(calls) == 1 + len(settling._CLOSERS)
    calls.clear()
    assert RuleSplitter().settled(text, known=end) == end
    assert len(calls) == 1


def test_units_behind_a_character_are_those_of_the_whole_text():
    text = "# Life\n\nMarie Curie left: \n- She won.\n\n| a | b |\n|---|---|\n| c | d |\n\nHe left."
    everyone = list(SPLITTER.units(text))
    assert len(everyone) == 6
    for after in range(len(text)):
        assert list(SPLITTER.units(text, after=after)) == [
            unit for unit in everyone if unit.span[1] > after
        ]
