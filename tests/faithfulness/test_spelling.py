"""Numbers and dates of a claim in the passages' spelling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.faithfulness.small.model import SmallFaithfulness
from franq_guard.faithfulness.small.spelling import as_written

PASSAGE = (
    "The Tarvo D2 drill runs at 18 V, weighs 1,250 g and came out on 3 March 2015. It sold "
    "2,500,000 times, 5 percent of them abroad, in 7,000 shops. A battery holds 1.7 l of gel."
)


@pytest.fixture(scope="module")
def model() -> SmallFaithfulness:
    return SmallFaithfulness.bundled(dtype="float32")


@pytest.mark.parametrize(
    ("claim", "written"),
    [
        ("It runs at 18V.", "It runs at 18 V."),
        ("It runs at 18\u00a0V.", "It runs at 18 V."),
        ("It runs at \uff11\uff18 V.", "It runs at 18 V."),
        ("It weighs 1250g.", "It weighs 1,250 g."),
        ("It came out on 03/03/2015.", "It came out on 3 March 2015."),
        ("It came out on 03.03.2015.", "It came out on 3 March 2015."),
        ("It came out on 2015-03-03.", "It came out on 3 March 2015."),
        ("It came out on March 3rd, 2015.", "It came out on 3 March 2015."),
        ("It sold 2.5 million times.", "It sold 2,500,000 times."),
        ("It sold 2 500 000 times.", "It sold 2,500,000 times."),
        ("It is in 7k shops.", "It is in 7,000 shops."),
        ("5% were sold abroad.", "5 percent were sold abroad."),
        ("It holds 1.70 l.", "It holds 1.7 l."),
    ],
)
def test_another_spelling_becomes_the_passages(claim: str, written: str) -> None:
    assert as_written(claim, PASSAGE) == written


@pytest.mark.parametrize(
    "claim",
    [
        "It runs at 18 V.",  # already the passage's
        "It weighs 1250 g.",  # the look-ups drop thousands separators themselves
        "It runs at 36V.",  # another value
        "It came out on 03/04/2015.",
        "It came out in 2015.",  # no whole date
        "The score was 5–0, version 1.7.2, at 18:05.",  # none of these is a number of its own
        "A drill is a tool.",
        "",
    ],
)
def test_nothing_else_changes(claim: str) -> None:
    assert as_written(claim, PASSAGE) == claim


def test_a_value_the_passage_writes_in_both_ways_stays_as_it_is() -> None:
    assert as_written("At 18V.", "Rated 18 V, sold as 18V.") == "At 18V."


@given(st.text(alphabet="0123456789 .,/-%kVmM", max_size=30))
def test_a_text_is_already_written_like_itself(text: str) -> None:
    assert as_written(text, text) == text


@given(st.integers(1, 10**12))
def test_a_number_is_found_under_every_grouping(number: int) -> None:
    passage = f"There are {number:,} of them."
    spaced = f"{number:,}".replace(",", "\u202f")
    assert as_written(f"There are {spaced} of them.", passage) == passage


@given(st.text(alphabet="ab 12.,", max_size=20), st.text(alphabet="ab 12.,", max_size=20))
def test_a_second_time_changes_nothing(claim: str, text: str) -> None:
    once = as_written(claim, text)
    assert as_written(once, text) == once


def test_every_question_to_the_model_is_asked_in_the_passages_spelling(
    model: SmallFaithfulness,
) -> None:
    there, own = "It runs at 18 V.", "It runs at 18V."
    assert model.score([PASSAGE], [own]) == model.score([PASSAGE], [there])
    assert model.nli([PASSAGE], [own]).tolist() == model.nli([PASSAGE], [there]).tolist()
    ours, theirs = (model.nli_passages([[PASSAGE]], [claim])[0] for claim in (own, there))
    assert ours.tolist() == theirs.tolist()
    assert model.evidence([PASSAGE], [own]) == model.evidence([PASSAGE], [there])
