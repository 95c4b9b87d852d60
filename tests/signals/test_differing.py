"""Which words of a claim are other ones in the passage: against cases read by hand."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard import Guard
from franq_guard.signals.differing import differing

INVENTED = Path(__file__).parents[1] / "fixtures" / "invented.jsonl"


@pytest.mark.parametrize(
    ("claim", "passage", "differs"),
    [
        # numbers, also where the sentence goes on behind the claim's end
        ("It holds 47 litres.", "It holds 51 litres of oil.", [("47", "51")]),
        ("Her diary was published in 1925.", "Her diary was published in 1952 and sold out.",
         [("1925", "1952")]),
        # a year is no day, and no other number a year
        ("It opened in 1886.", "It opened on 30 June 1894.", [("1886", "1894")]),
        ("It opened in 1886.", "It opened on 30 June 1894 and cost a fortune in those days.",
         [("1886", "1894")]),
        ("It opened with 30 guests.", "It opened in 1894.", []),
        # the other number stands elsewhere: which one belongs to the claim is not certain
        ("The book has 90 pages.", "The book of 1952 with 30 pages is red.", []),
        # a number in words keeps the claim's spelling
        ("The dough rests for two hours.", "Let the dough rest for six hours.", [("two", "six")]),
        # the same number in another spelling is no difference
        ("It costs 2.5 million euros.", "It costs 2,500,000 euros.", []),
        # names, of several words and of the first ones
        ("Its chief engineer was Gustave Eiffel.", "Its chief engineer was Joseph Strauss.",
         [("Gustave Eiffel", "Joseph Strauss")]),
        ("Beck Harlow scored twice for Carrow.", "Lio Prentiss scored twice for Carrow.",
         [("Beck Harlow", "Lio Prentiss")]),
        # at the beginning a capital alone makes no name
        ("Go back to the first page.", "Switch back to the first page.", []),
        # opposites and units, but no synonyms
        ("The river flows north through Brack.", "The river flows south through Brack.",
         [("north", "south")]),
        ("They pay 45 crowns a month for a card.", "They pay 45 crowns a year for a card.",
         [("month", "year")]),
        ("Talk to your doctor before you stop.", "Speak to your doctor before you stop.", []),
        # negations, on either side, and two that cancel each other
        ("Damage caused by wear is covered.", "Damage caused by wear is not covered.",
         [("", "not")]),
        ("Damage caused by wear isn't covered.", "Damage caused by wear is covered.",
         [("isn't", "")]),
        ("Snails never grow without these cells.", "Snails grow with these cells.", []),
        # another sentence
        ("The organ has 1,204 pipes.", "Its architect was Sunniva Marlow.", []),
        ("It is red.", "", []),
    ],
)  # fmt: skip
def test_the_words_that_stand_in_each_others_place(claim, passage, differs):
    assert list(differing(claim, passage)) == differs


WORDS = (
    *("Anna", "Bonn", "12", "51", "2,5", "litres", "not", "isn't", "never"),
    *("the", "of", "opened", "red.", "north", "south", "’"),
)
TEXTS = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


@given(TEXTS, TEXTS)
def test_differences_are_words_of_the_two_texts(claim, passage):
    found = differing(claim, passage)
    assert len(found) <= 2
    for own, other in found:
        assert own in claim
        assert other in passage
        assert own != other


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(text):
    assert differing(text, text) == ()


def test_a_whole_document_is_not_aligned():
    assert differing("It holds 47 litres.", "It holds 51 litres. " + "It is red. " * 200) == ()


@pytest.fixture(scope="module")
def guard():
    return Guard.offline()


def test_a_verdict_tells_the_difference_to_the_passage_that_is_shown(guard):
    passages = ["The Golden Gate Bridge opened in 1937. Its chief engineer was Joseph Strauss."]
    answer = "The Golden Gate Bridge opened in 1937. Its chief engineer was Gustave Eiffel."
    stated, wrong = guard.check("Who built it?", passages, answer).claims
    assert stated.label == "supported"
    assert stated.differs == ()
    assert "differs" not in stated.to_dict()
    assert wrong.differs == (("Gustave Eiffel", "Joseph Strauss"),)
    assert wrong.to_dict()["differs"] == [{"claim": "Gustave Eiffel", "passage": "Joseph Strauss"}]


def test_most_changed_numbers_and_dates_are_told(guard):
    """Of the 57 claims about invented things with another number or date, all are flagged.

    The passage, not the claim, has what stands there: a wrong one would mislead the reader.
    """
    told = right = changed = 0
    for line in INVENTED.read_text("utf-8").splitlines():
        row = json.loads(line)
        for claim in row["claims"]:
            if claim.get("change") not in ("number", "date"):
                continue
            changed += 1
            for verdict in guard.check(row["question"], [row["passage"]], claim["text"]).claims:
                for own, other in verdict.differs:
                    told += 1
                    right += other in row["passage"] and own not in row["passage"]
    assert changed == 57
    assert told >= changed / 2
    assert right >= 0.9 * told
