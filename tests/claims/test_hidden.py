"""Wherever an answer puts a statement that a reader sees, it is checked; what only names is not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from franq_guard.claims import RuleSplitter, remove_claims

SPLITTER = RuleSplitter()
PLACES = [
    "![{}](x.png)",
    '[Manual](https://a.org "{}")',
    "It is red, see [the manual](https://a.org '') and [its page](https://a.org \"{}\").",
    "<table><caption>{}</caption><tr><td>a</td><td>b</td></tr></table>",
    "<figure><img src='a.png'><figcaption>{}</figcaption></figure>",
    "<details>\n<summary>{}</summary>\nIt is big.\n</details>",
    "<aside>{}</aside>\nIt is big.",
    "> {}",
    "> **Note:** {}",
    "> [!WARNING]\n> {}",
    "::: tip\n{}\n:::",
    "=====\n{}\n=====\n\nIt is big.",
    "-----\n{}\n-----\nIt is big.",
    "**Table 1: {}**\n\n| a | b |\n|---|---|\n| c | d |",
    "[Figure 1: {}]",
    "| {} |\n|---|\n| It is big. |",
    "| {} | Yes |\n|---|---|\n| It is big. | No |",
    "Term\n: {}",
    "<blockquote>{}</blockquote>",
    "It is big. [{}]",
    "It is big. <sup>{}</sup>",
    "It is big.[^1]\n\n[^1]: {}",
    "[^note]: {}",
    "It is big. (Source: {})",
    "It is big [Source: {}].",
    "It is big ![](x.png '') and ![](x.png \"{}\").",
]
STATEMENTS = [
    "The pump holds 51 litres.", "It was built in 1990.", "The K7 costs 9 euros.",
    "The museum is closed in 2 months.", "There are 12 lamps in the hall.",
]  # fmt: skip


def stated(answer):
    return [claim for claim in SPLITTER.split(answer) if claim.not_a_claim is None]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_is_checked_wherever_it_stands(place, statement):
    answer = place.format(statement)
    begin = answer.index(statement)
    inside = [
        claim for claim in stated(answer)
        if any(a < begin + len(statement) and begin < b for a, b in claim.spans)
    ]  # fmt: skip
    assert len(inside) == 1
    assert statement.rstrip(".") in inside[0].text
    assert "<" not in inside[0].text
    covered = {at for a, b in inside[0].spans for at in range(a, b)}
    assert covered >= set(range(begin, begin + len(statement) - 1))


@pytest.mark.parametrize("below", ["", "\n\nIt rained all day long in Paris, and then it rained."])
@pytest.mark.parametrize("place", PLACES)
def test_a_stream_finds_it_there_too(both_ways, place, below):
    answer = f"It is red.\n\n{place.format(STATEMENTS[0])}{below}"
    streamed, whole = both_ways("What is red?", "It is red.", answer)
    assert streamed == whole


@given(
    st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from(STATEMENTS)), max_size=4), st.data()
)
@settings(max_examples=100, deadline=None)
def test_spans_there_are_sound_and_removal_leaves_no_claim(drawn, data):
    text = "\n\n".join(place.format(statement) for place, statement in drawn)
    covered = set()
    claims = SPLITTER.split(text)
    for claim in claims:
        for a, b in claim.spans:
            assert 0 <= a < b <= len(text)
            assert covered.isdisjoint(range(a, b))
            covered.update(range(a, b))
    cut = data.draw(st.integers(0, len(text)))
    end = SPLITTER.settled(text[:cut])
    now = [(u.span, u.claims) for u in SPLITTER.units(text[:cut]) if u.span[1] <= end]
    assert [(u.span, u.claims) for u in SPLITTER.units(text)][: len(now)] == now
    left = remove_claims(text, claims, range(len(claims)))
    assert not any(statement in left for _, statement in drawn)


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("It is red ![pump](x.png).", ["It is red."]),
        ("It is red.\n\n![Diagram of parts](x.png)\n\nIt is big.", ["It is red.", "It is big."]),
        ("It is big![source](https://a.b) It is red.", ["It is big!", "It is red."]),
        ('[Manual](https://a.org "Pump manual") says that it is red.',
         ["Manual says that it is red."]),
        ("It is red [Pump 47: a history].", ["It is red."]),
        ("It is red (Source: Annual report 2019).", ["It is red."]),
        ("It is red. (Source: The manual, p. 47)", ["It is red."]),
        ("It is red [Source: The Pump Is Red, 2019].", ["It is red."]),
        ("It is red [The Pump 47].", ["It is red."]),
        ("It is red [2] [passage 2 does not say this].", ["It is red."]),
        ("It is red [9] [there is no passage 9].", ["It is red."]),
        ("It is red [passage 2 is about it].", ["It is red."]),
        ("It is red [The story of 9 pumps].", ["It is red."]),
        ("| What it is | Who made it |\n|---|---|\n| red | Tom |", ["Red: Who made it: Tom."]),
        ("| No. | Incl. |\n|---|---|\n| red | Tom |", ["Red: Incl.: Tom."]),
    ],
)  # fmt: skip
def test_what_only_names_something_is_no_claim(answer, claims):
    assert [claim.text for claim in stated(answer)] == claims
