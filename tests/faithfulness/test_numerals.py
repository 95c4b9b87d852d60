"""Numbers in words from one hundred up: in digits, wherever a text is read."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from franq_guard.faithfulness.small.amounts.values import amounts, read
from franq_guard.faithfulness.small.facts import facts, normalised
from franq_guard.faithfulness.small.numerals import in_digits
from franq_guard.faithfulness.small.spelling import as_written
from franq_guard.faithfulness.small.tokens import tokens
from franq_guard.faithfulness.small.words import words

SCALES = {"thousand": 1000, "million": 1_000_000}


@pytest.mark.parametrize(
    ("written", "digits"),
    [
        ("six hundred and forty guests", "640 guests"),
        ("Two hundred twelve feet", "212 feet"),
        ("a hundred and five metres", "105 metres"),
        ("a hundred-year-old tree", "100-year-old tree"),
        ("two hundred-metre races", "200-metre races"),
        ("thirteen hundred sheep", "1300 sheep"),  # 13 * 100
        ("twenty-one hundred", "2100"),
        ("in nineteen hundred and five", "in 1905"),
        ("forty-one boats on the thirty-first of May", "41 boats on the 31st of May"),
        ("forty-one thousand, forty-one million and one", "41 thousand, 41000001"),
        ("two thousand and five", "2005"),
        ("one thousand", "1000"),
        ("one million, two hundred thousand and six", "1200006"),
        ("three hundred and fifty thousand trees", "350 thousand trees"),
        ("one million", "1 million"),
        ("a hundred and one million", "101 million"),
        # 0.5, 0.25, 0.75, 1.5 and 2.5 millions; 2.5 * 100
        ("half a million", "0.5 million"),
        ("a quarter of a million", "0.25 million"),
        ("three quarters of a million", "0.75 million"),
        ("a million and a half", "1.5 million"),
        ("two and a half million crowns", "2.5 million crowns"),
        ("two and a half hundred", "250"),
        ("one hundred percent", "100 percent"),
        # the digits in the brackets say the same
        ("one hundred and twenty (120) days", "120 days"),
        ("One Hundred Twenty (120) Days", "120 Days"),
        ("one hundred and twenty (121) days", "120 (121) days"),
        # ordinals
        ("the two hundred and first", "the 201st"),
        ("its one hundred and fiftieth year", "its 150th year"),
        ("the one hundred twenty-second", "the 122nd"),
        # two numbers
        ("one hundred and two hundred", "100 and 200"),
        ("one thousand and two hundred", "1000 and 200"),
        ("between one hundred and twenty and three hundred", "between 100 and twenty and 300"),
        ("four one hundred", "four 100"),
    ],
)
def test_a_number_is_written_in_digits(written: str, digits: str) -> None:
    assert in_digits(written).text == digits


@pytest.mark.parametrize(
    "text",
    [
        "hundreds of people and tens of thousands of birds",
        "several hundred or a few thousand people",
        "nineteen eighty-four, the twenties, the eighteen hundreds",
        "nine thousand crowns for thirty-six boats",  # every reader knows these
        "a third of a million, one hundredth of a second",
        "the two hundredth day",
        "five hundred dozen",
        "One Hundred Lakes, the Two Hundred",
        "one hundred and fifty per cent (150%) of it",  # digits and unit follow
        "2.5 million, 3 hundred",
        "a cat, one dog, twenty one-way trips and a thousandfold gain",
        "",
    ],
)
def test_what_is_no_number_of_this_kind_stays(text: str) -> None:
    assert in_digits(text).text == text


def test_idioms_do_not_change_a_claim() -> None:
    passage = "The show of 100 dancers cost 1,000 crowns."
    for claim in ("Hundreds of dancers came.", "It gave several hundred shows.", "Many thanks."):
        assert as_written(claim, passage) == claim


def test_spans_are_those_of_the_text_itself() -> None:
    text = "It cost one hundred and five crowns. 7 mills, three hundred thousand wells, then 90."
    found = {text[one.start : one.end]: one.value for one in read(text) if one.value[0] == "number"}
    assert found == {
        "one hundred and five": ("number", Decimal(105)),
        "7": ("number", Decimal(7)),
        "three hundred thousand": ("number", Decimal(300_000)),
        "90": ("number", Decimal(90)),
    }
    assert [(text[one.start : one.end], one.kind) for one in amounts(text)] == [
        ("one hundred and five", "of crown"),
        ("7", "of mill"),
        ("three hundred thousand", "of well"),
    ]


@pytest.mark.parametrize(
    ("passage", "claim", "written"),
    [
        ("It seats 640 guests.", "It seats six hundred and forty.", "It seats 640."),
        ("It has six hundred and five.", "It has 605 seats.", "It has six hundred and five seats."),
        ("It cost 2,500,000.", "It cost two and a half million.", "It cost 2,500,000."),
        ("It has 350,000 trees.", "It has three hundred and fifty thousand.", "It has 350,000."),
        ("It is 1.3 km long.", "It is thirteen hundred metres long.", "It is 1.3 km long."),
        ("It seats 640 guests.", "It seats six hundred.", "It seats six hundred."),
    ],
)  # fmt: skip
def test_a_claim_has_the_passages_spelling(passage: str, claim: str, written: str) -> None:
    assert as_written(claim, passage) == written


def test_a_part_of_a_number_is_another_number() -> None:
    text = "The tower is two hundred and twelve feet tall."
    assert facts("The tower is two hundred feet tall.", text)[0] == 1
    assert facts("The tower is twelve feet tall.", text)[0] == 1
    assert facts("The tower is two hundred and twelve feet tall.", text)[0] == 0


NAMES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
)
SMALL, TENS = NAMES.split()[:20], ["", "ten", *NAMES.split()[20:]]
PIECES = "a one two forty and hundred thousand million half 5 x . ,"


def in_words(number: int, joint: str, hyphen: str) -> str:
    """A number in words; "and" or not before the tens is the joint."""
    if number < 20:
        return SMALL[number]
    if number < 100:
        return TENS[number // 10] + (hyphen + SMALL[number % 10] if number % 10 else "")
    for name, size in (("million", 1_000_000), ("thousand", 1000), ("hundred", 100)):
        if number >= size:
            count, rest = divmod(number, size)
            head = f"{in_words(count, joint, hyphen)} {name}"
            between = joint if rest < 100 else " "
            return head + (between + in_words(rest, joint, hyphen) if rest else "")
    raise AssertionError


@given(
    number=st.integers(0, 999_999_999) | st.integers(0, 2500),
    joint=st.sampled_from([" ", " and "]),
    hyphen=st.sampled_from(["-", " "]),
)
@example(number=100, joint=" ", hyphen="-")
@example(number=999_999_999, joint=" and ", hyphen="-")
@example(number=1_000_001, joint=" and ", hyphen=" ")
def test_a_number_in_words_reads_back_to_itself(number: int, joint: str, hyphen: str) -> None:
    written = in_words(number, joint, hyphen)
    text = f"The hall of Orm has {written} red seats."
    found = [one for one in read(text) if one.value[0] == "number"]
    # a number below ten in words is often no count, so it is none of the values
    assert [(text[f.start : f.end], f.value[1]) for f in found] == [(written, number)] * (
        number >= 10
    )
    if number < 2:
        return
    if number < 100 and number % 10 == 1 and hyphen == " ":
        return  # "twenty one": "of the twenty one was red"
    digits, *scale = normalised(written)
    assert int(digits) * SCALES.get("".join(scale), 1) == number
    first = tokens(written)[0]
    assert (first.text, first.of.power) == (digits, "".join(scale))
    if number >= 100:
        assert in_digits(written).original(0, len(in_digits(written).text)) == (0, len(written))
        assert in_digits(text).text.startswith("The hall of Orm has ")
        assert in_digits(text).text.endswith(" red seats.")


@given(st.lists(st.sampled_from(PIECES.split())))
def test_every_place_maps_back(parts: list[str]) -> None:
    text = " ".join(parts)
    digits = in_digits(text)
    end = 0
    for (start, stop), (first, last) in digits.places:
        assert digits.original(start, stop) == (first, last)
        assert digits.text[start].isdigit()
        assert end <= first < last <= len(text)
        end = last
    assert digits.original(0, len(digits.text)) == (0, len(text))
    assert words(text) == words(digits.text)
