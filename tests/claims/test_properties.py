"""What holds for every text: spans, coverage, determinism, identity of an empty removal."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from franq_guard.claims import RuleSplitter, align, remove_claims, token_indices
from franq_guard.claims.blocks import blocks
from franq_guard.claims.rules.citations import TAKEN_OUT, Stated, cited_by
from franq_guard.claims.rules.splitter import _past
from franq_guard.claims.spans import merged, overlap, subtract
from franq_guard.records import Token

SPLITTER = RuleSplitter()
ANY_TEXT = st.text(st.characters(), max_size=120)  # control characters and lone surrogates too
PIECES = [
    "\n- [x] ", "\n[ ] ",
    "Marie Curie", "was born in Warsaw", " and ", "won two prizes", ", who ", ", which is big",
    ".", "; ", "\n", "\n\n", "- ", "1. ", "# ", "| a | b |\n|---|---|\n", "```\n", "(", ")", '"',
    "```markdown\n",
    "“", "…", "e.g. ", "3.5 million", " but ", "it", " is ", ", ", "*", "> ", "No. ", "?", "He ",
    "[1]", "http://a.b/c", "Germany borders France, Spain and Italy", "\ud800", "\x00", "東京。",
    "😀", "\r\n", ", including ", "although ", "making it ", "the ", "that ", "\u2028", "\t",
    "Yes. ", "It does. ", "**Tom Fox**\n", "It is:\n",
    ' "It is big. It is red." ', "(It was. He is.)",
    "| a | 9 cm |\n|---|---|\n", "I cannot find it, but it is red. ", "I hope this helps: ", "ii. ",
    "Dr. ", " as well as ", "Panic! at ", "Wm. ", "...Get Out", "They are: 1. ", "2. The ",
    "\n## Size 9 metres\n", "\n**Old (9 km)**\n", "![Old](a.png)", '[Old](a.b "It is 9 km")',
    " (Source: The town is 9 km wide.)", "\n| It is big. | a |\n|---|---|\n",
    "![", '(a.b "It',
    "\n[4] The town is big.\n", "\n- [5] Lee, Towns, 1990\n", "\nSources:\n[6] It is big.\n",
    "\n[1]: ", "\n[^2]: The town is big. ", "\n[3]: Lee, Towns, 1990\n", "\nSources:\n",
    "\n$$\n", "\n\\[\n", "\n\\]\n", ", according to http://a.b/c", "Let me add that ",
]  # fmt: skip
PROSE = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
TEXTS = st.one_of(ANY_TEXT, PROSE)


def markup(text):
    """Positions of list markers, heading signs, table pipes, fences and rules: in no block."""
    inside = set()
    for block in blocks(text):
        stretches = block.cells or ((block.start, block.end),)
        inside.update(i for a, b in stretches for i in range(a, b))
    return set(range(len(text))) - inside


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_spans_are_sound_and_cover_all_but_markup(text):
    claims = SPLITTER.split(text)
    assert claims == SPLITTER.split(text)
    covered = set()
    for claim in claims:
        assert claim.spans
        assert claim.spans == tuple(sorted(claim.spans))
        for start, end in claim.spans:
            assert 0 <= start < end <= len(text)
            assert text[start:end].strip()
            assert covered.isdisjoint(range(start, end))
            covered.update(range(start, end))
    blank = {i for i, c in enumerate(text) if c.isspace()}
    cited = {i for i, c in enumerate(Stated(text).text) if c == TAKEN_OUT}
    left = set(range(len(text))) - covered - blank - markup(text) - cited
    assert not left, "".join(text[i] for i in sorted(left))


LINES = """# The bridge

It opened in 1937. It is
red.

- It is long
- It is wide: 9 m

## Parts
1. Keel: 4 m [1]
2. Mast

| Part | Size |
|---|---|
| Keel<br>old | 4 m |

Run this:
```
x = 1
```
It works well.
<think>
It is blue.
</think>

Sources:
[1] Lee, Bridges
"""
LINE_ENDS = ["\r\n", "\r", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"]


@pytest.mark.parametrize("end", LINE_ENDS, ids=ascii)
def test_every_line_end_is_one(end):
    def read(text):
        claims = SPLITTER.split(text)
        cited = [[citation.names for citation in of] for of in cited_by(text, claims)]
        words = [(claim.text.split(), claim.context, claim.not_a_claim) for claim in claims]
        left = remove_claims(text, claims, [k for k, c in enumerate(claims) if "is" in c.text])
        return words, cited, left.replace(end, "\n"), RuleSplitter().settled(text) < len(text)

    text = LINES.replace("\n", end)
    assert read(text) == read(LINES)
    for claim in SPLITTER.split(text):
        if claim.not_a_claim:
            written = "".join(text[slice(*span)] for span in claim.spans)
            assert claim.not_a_claim == "table header" or claim.text.split() == written.split()


WORDS = [
    "Napoleon built it in 1805.", "The dam is old", "f()", "x = 1", "He said: “It is big.”",
    "It is 9 m long, and it is red.", "Yes.", "Is it big?", "and then it rained,", "東京。",
    "The town has one river and a bridge that was built by two brothers.", "Sources:", "{", "}",
]  # fmt: skip
MARKS = [
    "```", "~~~", "````", "\n```\n", "\n```python\n", "\n```md\n", "\n~~~\n", "\n``` ",
    "\n- ```sh\n", "<think>", "</think>", "<script>", "</script>", "`<script>`", "<style>",
    "\n<script>\n", "<tool_call>", "</tool_call>", "<br>", "<p>", "</p>", "\n> ", "> ",
    "\n| ", " | ", "|\n", "\n|---|---|\n", "`", "**", "\n- ", "\n1. ", "\n# ", "\n---\n",
    "\n=====\n", "\n-----\n",
    "\n", "\n\n", " ", "  ", "\r\n",
]  # fmt: skip
MADE = st.lists(
    st.one_of(
        st.sampled_from(WORDS).map(lambda words: (words, True)),
        st.sampled_from(MARKS).map(lambda mark: (mark, False)),
    ),
    max_size=16,
)


@given(MADE)
@settings(max_examples=400, deadline=None)
@example([("```\nf()\n```", False), (" Napoleon built it in 1805.", True)])
@example([("```\nf()\n```md\n", False), ("It is big.", True)])
@example([("```md\n", False), ("It is big.", True), ("\n```", False), (" Yes.", True)])
@example([("```", False), (" Napoleon built it in 1805.", True)])
@example([("{", True), (" ```\n", False)])
@example([("<script>", False), ("Napoleon built it in 1805.", True)])
def test_no_statement_is_left_out(parts):
    """All words are in one claim or one stretch that is not a claim; only marks may be in none.

    Unlike above, what is a mark is known from how the text was made, not from how it is read.
    """
    text = "".join(part for part, _ in parts)
    covered = [0] * len(text)
    for claim in SPLITTER.split(text):
        for start, end in claim.spans:
            covered[start:end] = [times + 1 for times in covered[start:end]]
    assert max(covered, default=0) <= 1
    at = 0
    for part, is_words in parts:
        place = range(at, at + len(part))
        at += len(part)
        left = [i for i in place if is_words and not covered[i] and not text[i].isspace()]
        assert not left, (text, "".join(text[i] for i in left))


@given(TEXTS)
@settings(max_examples=100, deadline=None)
def test_markup_holds_no_words_but_numbers_and_fences(text):
    # What no claim covers is punctuation, a number or letter of a list, the line of a fence, or a
    # control token of a model ("<|im_end|>").
    fences = re.sub(r"(?m)(?:^[ \t]*~{3,}|`{3,}).*$", "", text)
    if fences == text and "<|" not in text:
        outside = "".join(text[i] if i in markup(text) else " " for i in range(len(text)))
        assert all(len(word) <= 3 for word in re.findall(r"\w+", outside))


@given(TEXTS, st.data())
@settings(max_examples=120, deadline=None)
def test_removal_keeps_what_is_kept(text, data):
    claims = SPLITTER.split(text)
    assert remove_claims(text, claims, ()) == text
    drop = data.draw(st.sets(st.sampled_from(range(len(claims))))) if claims else set()
    result = remove_claims(text, claims, drop)
    assert isinstance(result, str)
    if all(claims[k].not_a_claim for k in drop):
        assert result == text


@given(TEXTS)
@settings(max_examples=100, deadline=None)
def test_removing_every_claim_leaves_none(text):
    claims = SPLITTER.split(text)
    result = remove_claims(text, claims, range(len(claims)))
    if all(claim.not_a_claim is None for claim in claims):
        assert not any(c.not_a_claim is None for c in SPLITTER.split(result))


@given(TEXTS, TEXTS)
@settings(max_examples=100, deadline=None)
def test_alignment_is_sound(claim, answer):
    found = align(claim, answer)
    assert 0 <= found.score <= 1
    assert list(found.spans) == merged(found.spans)
    assert all(0 <= a < b <= len(answer) for a, b in found.spans)


@given(st.lists(st.integers(0, 6), max_size=30), st.lists(st.tuples(*[st.integers(0, 60)] * 2)))
def test_token_indices_against_brute_force(lengths, pairs):
    tokens, start = [], 0
    for length in lengths:
        tokens.append(Token(0, start, start + length, -1.0))
        start += length
    spans = [(min(p), max(p)) for p in pairs]
    wanted = {i for a, b in spans for i in range(a, b)}
    # a token without characters of its own wrote bytes of the character it stands before
    touched = [set(range(t.start, max(t.end, t.start + 1))) for t in tokens]
    expected = [k for k, own in enumerate(touched) if wanted & own]
    assert token_indices(spans, tokens) == expected


@given(
    st.lists(st.tuples(*[st.integers(0, 40)] * 2)), st.lists(st.tuples(*[st.integers(0, 40)] * 2))
)
def test_span_arithmetic_against_sets(left, right):
    def points(spans):
        return {i for a, b in spans for i in range(a, b)}

    assert points(merged(left)) == points(left)
    assert points(subtract(left, right)) == points(left) - points(right)
    assert overlap(left, right) == len(points(left) & points(right))


SENTENCES = [
    "Marie Curie, who was born in Warsaw, won the prize and moved to Paris.",
    "Germany borders France, Poland, and Denmark; it has 16 states.",
    "The **north gate**, which is closed at night, leads to the park (see `map`).",
    'She wrote "The Mill", sold it, and left.[2]',
    "Although he was ill, he won.",
    "Exports grew by 3%, and imports of tea, milk and rice fell.",
    "The storm grew on Monday, gaining strength and becoming a hurricane.",
    'It was known by several names, including Ost and "the Rock".',
]


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4), st.data())
@settings(max_examples=80, deadline=None)
def test_what_is_left_has_no_loose_ends(parts, data):
    text = " ".join(parts)
    claims = SPLITTER.split(text)
    drop = data.draw(st.sets(st.sampled_from(range(len(claims)))))
    left = remove_claims(text, claims, drop)
    assert "  " not in left
    assert not re.search(r"\b(?:and|or|but)\s*[.,;!?]|,\s*[.,;]|\s[.,;]|\(\s*\)", left)
    assert not re.search(r"(?:^|[.!?] )(?:and|or)\b", left)
    assert all(left.count(mark) % 2 == 0 for mark in ("**", "`", '"'))
    assert left.count("(") == left.count(")")
    assert not left or left[0].isupper() or left.startswith(("**", '"'))


@given(st.sets(st.integers(0, 12)), st.integers(1, 13), st.sampled_from([1, -1]))
def test_beside_a_run_of_marks_lies_the_first_word_that_is_none(marks, n, step):
    inside = {mark for mark in marks if mark < n}
    for mark, near in _past(inside, step, n - 1).items():
        expected = mark + step
        while expected in inside and 0 < expected < n - 1:
            expected += step
        assert near == expected
