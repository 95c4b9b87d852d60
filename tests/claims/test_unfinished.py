"""An answer that stops in the middle of a sentence: what says nothing yet is no claim."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from franq_guard.claims import RuleSplitter, remove_claims
from franq_guard.streaming.reading import Reading, SettledText

FIRST = "The old mill was built in 1412."
NOTHING_YET = [
    "The", "In", "However,", "It", "It's", "It is", "There are", "In addition, the", "The mill's",
    "The tale of the Varlen family", "The circuit-switched line is", "Her second novel is about",
    "The main characters of the", "The mayor of Delft was born in", "It was directed by",
    "The tallest tower in the world is the", "It has been nominated for the", "He won the",
    "She is considered to be one of the", "The river is part of the", "It is the capital of",
    "When he left, the", "He was able to", "The company has", "During the 1990s, the band",
    "The story tells of the", "The film, which", "They were also", "He said that",
]  # fmt: skip
STATES = [
    "He was born in 1922 in the town", "He was born in 1922 in the", "It closed",
    "The band split up", "Since the guards have been dismissed", "The show went on", "He died in",
    "Two men fell, and", "After the war ended in 1945, the",
    "Founded in 1890, the company", "Ada Byron, an English writer, was", "Paris, France", "1989",
    "The tower (300 m tall) is", "The road meanders through the valley", "Critics lambast the",
    "HE WAS KING OF", "The house built in 1890 by the", "3.5 million", "It is a city in the",
    "The mill ground flour for the town and", "The capital is Oslo", "He lectures on physics",
    "Length: 5 km", "Michael Harper", "Once common in London, it", "It was as follows: the old",
    "After winning the cup in 1990, the team",
]  # fmt: skip


def last(answer, **options):
    return RuleSplitter(**options).split(answer)[-1]


@pytest.mark.parametrize("piece", NOTHING_YET)
def test_what_says_nothing_yet_is_unfinished(piece):
    found = last(f"{FIRST} {piece}")
    assert (found.text, found.not_a_claim) == (piece, "unfinished")
    assert last(f"# Mills\n\n- {FIRST}[2] {piece} ").not_a_claim == "unfinished"


@pytest.mark.parametrize("piece", STATES)
def test_what_states_something_stays_a_claim(piece):
    assert last(f"{FIRST} {piece}").not_a_claim is None


@pytest.mark.parametrize(
    "answer",
    [
        "Oslo", "The story of the", "1. Product and market", f"{FIRST}\n\nThe tale of",
        "- The mill", f"{FIRST}\nThe old tale", "What is its capital? The city of Oslo",
        "Great question! Oslo",
        f"{FIRST} The tale of the mill.", f"{FIRST} The tale of the mill\n", "Lakes:\n- Inari",
        "The answer is as follows. The city of Oslo", "Mills: three. The old one",
        f"{FIRST} The tale:", f"{FIRST} The (old)", f"{FIRST} 2. The old mill",
        "Hij was koning van Polen. De stad ligt aan de",
    ],
)  # fmt: skip
def test_a_piece_without_a_full_stop_is_not_always_cut_off(answer):
    assert last(answer).not_a_claim != "unfinished"


def test_another_language_has_no_unfinished_pieces():
    assert last(f"{FIRST} The", language="de").not_a_claim is None


def test_it_is_never_removed():
    answer = f"{FIRST} It was sold in 1890. The"
    claims = RuleSplitter().split(answer)
    assert remove_claims(answer, claims, [0, 2]) == "It was sold in 1890. The"


def streamed(text, step):
    """The claims of a text that comes in pieces, as a stream reads it."""
    splitter = RuleSplitter()
    settled, reading, known = SettledText(splitter), Reading(splitter), 0
    found = []
    for stop in [*range(step, len(text), step), len(text)]:
        part = text[:stop]
        end = settled.find_end(part, known) if stop < len(text) else stop
        if end > known:
            units = reading.units(part, known, settled.base, "")
            found += [c for unit in units if unit.span[1] <= end for c in unit.claims]
            known = end
            settled.move_base(part, end)
    return found


LONG = "The long tale of the famous and noble family of the old house of the Varlens and"
READ_ON = (
    "Marie Curie was a physicist. She was born in Warsaw in 1867 and moved to Paris in 1891 to"
    " study for years."
)
SENTENCES = [FIRST, READ_ON, "Is it old?", "It was sold to the town by the last miller in 1890."]


@given(
    st.lists(st.sampled_from(SENTENCES), max_size=5),
    st.sampled_from([LONG, *NOTHING_YET, *STATES]),
    st.sampled_from([" ", "\n", "\n\n", "\n- "]),
    st.integers(1, 120),
)
@settings(max_examples=100, deadline=None)
@example([FIRST], LONG, " ", 100)
@example([READ_ON], "The", " ", 100)
def test_a_stream_ends_with_the_same_piece(sentences, piece, glue, step):
    text = glue.join([*sentences, piece])
    assert streamed(text, step) == RuleSplitter().split(text)
