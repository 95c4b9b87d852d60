"""Numbered sources and footnotes: what states something is a claim, what cites is not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from franq_guard.claims import RuleSplitter, remove_claims
from franq_guard.claims.rules.citations import cited_by

from .source_entries import CITATIONS, STATEMENTS

SPLITTER = RuleSplitter()
IN_LIST = [
    "It is old [1].\n\nSources:\n[1] {}\n[2] leaflet.pdf\n",
    "It is old [1].\n\n## References\n\n- [1] {}\n- [2] leaflet.pdf\n",
    "It is old.[^1]\n\n**Sources:**\n\n[^1]: {}\n[^2]: leaflet.pdf\n",
]
NOTES = ["It is old.[^1]\n\n[^1]: {}\n", "It is old [1].\n\n[1]: {}\n", "It is old.¹\n\n¹ {}\n"]
HEADLINES = {
    "Aspirin reduces the risk of stroke. Smith A. BMJ 2019.",
    "The sea is rising. Nature 12, 2019.",
    "Sea levels are rising | NASA",
    "Plants can hear bees, study finds | Science Daily",
}
"""As a footnote each of these would rather be a remark; in a list of sources it is a title."""


def stated(answer):
    return [claim for claim in SPLITTER.split(answer) if claim.not_a_claim is None][1:]


@pytest.mark.parametrize("form", IN_LIST + NOTES)
@pytest.mark.parametrize("entry", STATEMENTS)
def test_an_entry_that_states_something_is_a_claim(entry, form):
    answer = form.format(entry)
    claims = stated(answer)
    assert claims
    begin = answer.index(entry, answer.index("\n"))
    for claim in claims:
        assert all(begin <= a < b <= begin + len(entry) for a, b in claim.spans)
    found = SPLITTER.split(answer)
    left = remove_claims(answer, found, range(1, len(found)))
    assert stated(left) == []
    assert ("leaflet.pdf" in left) == ("leaflet.pdf" in answer)


@pytest.mark.parametrize("form", IN_LIST + NOTES)
@pytest.mark.parametrize("entry", CITATIONS)
def test_an_entry_that_cites_is_no_claim(entry, form):
    if form in NOTES and entry in HEADLINES:
        return
    answer = form.format(entry)
    assert stated(answer) == []
    assert entry in next(c.text for c in SPLITTER.split(answer) if entry in c.text)


@pytest.mark.parametrize(
    "entry",
    [
        "Set `timeout` to 30 seconds or more.",
        "manual.pdf (page 9): Empty the tank once a week.",
        "Room 12 seats forty people.",
        "Every order over $40 ships free.",
    ],
)
def test_some_statements_are_still_taken_for_a_source(entry):
    assert stated(IN_LIST[0].format(entry)) == []


@pytest.mark.parametrize("form", IN_LIST[:2] + NOTES[:2])
def test_an_entry_that_states_something_is_cited_by_its_number(form):
    answer = form.format("The pump holds 51 litres.")
    claims = [claim for claim in SPLITTER.split(answer) if claim.not_a_claim is None]
    assert [claim.text for claim in claims] == ["It is old.", "The pump holds 51 litres."]
    assert [[c.names for c in of] for of in cited_by(answer, claims)] == [[("1",)], [("1",)]]


def test_entries_of_one_list_are_told_apart():
    answer = (
        "It is red.\n\nSources:\n[1] leaflet.pdf\n[2] The pump holds 51 litres.\n"
        "[3] Miller, J. (2019). The sea is rising. Nature 12.\n[4] https://a.b/c\n"
        "[5] https://a.b/d – It was built in 1990, and it is red.\n- manual.pdf, p. 4\n"
    )
    assert [claim.text for claim in stated(answer)] == [
        "The pump holds 51 litres.", "It was built in 1990.", "It is red.",
    ]  # fmt: skip
    assert RuleSplitter(language="de").split(answer)[2].not_a_claim == "citation"


ENTRY = st.one_of(
    st.sampled_from(STATEMENTS).map(lambda entry: (entry, True)),
    st.sampled_from(CITATIONS).map(lambda entry: (entry, False)),
)
LISTS = st.tuples(
    st.sampled_from(["Sources:\n", "## References\n\n", "**Sources**\n", "Sources\n=====\n"]),
    st.sampled_from(["[{}] ", "- [{}] ", "[^{}]: ", "{}. [{}] ", "\n[{}] "]),
    st.lists(ENTRY, min_size=1, max_size=6),
    st.sampled_from(["", "\n\nIt rained all day long in Paris, and then it rained again in Rome."]),
)


def made(above, mark, entries, below):
    """The text, and the range of each entry in it with whether it states something."""
    text, places = f"It is old.\n\n{above}", []
    for k, (entry, states) in enumerate(entries):
        text += mark.replace("{}", str(k + 1))
        places.append((len(text), len(text) + len(entry), states))
        text += f"{entry}\n"
    return text + below, places


@given(LISTS)
@settings(max_examples=150, deadline=None)
def test_claims_lie_in_the_entries_that_state_something(drawn):
    text, places = made(*drawn)
    covered = set()
    for claim in SPLITTER.split(text):
        for a, b in claim.spans:
            assert 0 <= a < b <= len(text)
            assert covered.isdisjoint(range(a, b))
            covered.update(range(a, b))
    claims = [claim for claim in SPLITTER.split(text) if claim.not_a_claim is None]
    for start, end, states in places:
        inside = [c for c in claims if any(a < end and start < b for a, b in c.spans)]
        assert bool(inside) == states, text[start:end]
        assert all(start <= a and b <= end for c in inside for a, b in c.spans)


@given(LISTS, st.data())
@settings(max_examples=100, deadline=None)
def test_what_is_settled_of_a_list_stays_so(drawn, data):
    text, _ = made(*drawn)
    cut = data.draw(st.integers(0, len(text)))
    end = SPLITTER.settled(text[:cut])
    now = [(u.span, u.claims) for u in SPLITTER.units(text[:cut]) if u.span[1] <= end]
    later = [(u.span, u.claims) for u in SPLITTER.units(text)]
    assert later[: len(now)] == now


@pytest.mark.parametrize("below", ["", "\n\nIt rained all day long in Paris, and then it rained."])
@pytest.mark.parametrize("mark", ["[{}] ", "- [{}] ", "[^{}]: "])
def test_a_stream_finds_the_same(both_ways, mark, below):
    entries = [*STATEMENTS[5:60:9], *CITATIONS[3:80:13]]
    entries = [(entry, None) for entry in sorted(entries, key=len)]
    text, _ = made("Sources:\n", mark, entries, below)
    streamed, whole = both_ways("What is old?", "It is old.", text)
    assert streamed == whole
    assert sum(v.claim.not_a_claim is None for v in whole) >= 7
