"""One number or one measure is no list, though it has commas and "and"; a list of things is."""

import pytest

from franq_guard.claims import RuleSplitter
from franq_guard.claims.rules.lexer import lex
from franq_guard.claims.rules.measures import one_amount


def texts(answer: str) -> list[str]:
    return [c.text for c in RuleSplitter().split(answer) if c.not_a_claim is None]


MEASURES = [
    # one number
    "The mast is one hundred and five metres high.",
    "The walk takes one hundred and five minutes.",
    "The pass is one thousand, two hundred and twelve metres high.",
    "The farm has ten thousand and six hens.",
    "The hall seats two thousand and fifty guests.",
    "The debt was 3 million and 200 thousand crowns.",
    "The sum is a million and one.",
    "The town has a church, two schools and one hundred and five houses.",
    # time
    "The flight is two hours and ten minutes.",
    "The flight is 2 hours and 10 minutes.",
    "The race was 3 hours, 12 minutes and 5 seconds.",
    "The ferry needs one hour, five minutes and ten seconds.",
    "The trip takes about six weeks and two days.",
    "He served two years and six months in prison.",
    "The wait was one year, two months and three days.",
    "The talk lasted an hour and a half.",
    "The clock is one hour and five minutes slow.",
    "She is ninety years and two days old.",
    # length and area
    "The pump is 2 m and 30 cm tall.",
    "The pump is 2m and 30cm tall.",
    "The stock has 2 m and 3 m ropes.",
    "The plank is six feet and two inches.",
    "The lane is a mile and a quarter long.",
    "The tunnel is three kilometres and two hundred metres long.",
    "The field is two acres and one rood.",
    # weight, volume
    "The baby weighed seven pounds and four ounces.",
    "The crate weighs 3 kg and 250 g.",
    "The jug holds two litres and five decilitres.",
    "The jug holds 1 cup and 2 tablespoons.",
    # money, angles, data
    "It costs one dollar and five cents.",
    "The stamp costs £3 and 50 pence.",
    "The fine is twenty pounds and ten shillings.",
    "The angle is 12 degrees, 30 minutes and 5 seconds.",
    "The file takes 2 gigabytes and 300 megabytes.",
]


@pytest.mark.parametrize("answer", MEASURES)
def test_a_measure_is_one_claim(answer: str) -> None:
    assert texts(answer) == [answer]


# The words before the list, and its members: each is a claim of its own.
LISTS = [
    ("It has", "two doors", "ten windows"),
    ("She speaks", "English", "French"),
    ("They sold", "3 cars", "2 trucks"),
    ("The kit has", "two hammers", "ten nails"),
    ("The club has", "three coaches", "one doctor"),
    ("The school has", "300 pupils", "20 teachers"),
    ("The house has", "one kitchen", "two baths"),
    ("The menu has", "two soups", "three cakes"),
    ("They own", "ten cows", "two dogs", "a cat"),
    ("The cafe sells", "tea", "coffee", "cakes"),
    ("They visited", "Rome", "Bern", "Oslo"),
    ("Halden has", "a harbour", "a school", "an airfield"),
    ("The zoo keeps", "six owls", "four bears"),
    ("The choir has", "nine men", "ten women"),
    # a scale before its noun, or before what is no number
    ("It has", "one hundred seats", "five doors"),
    ("The firm has", "a hundred ships", "a dock"),
    ("He has", "a hundred books", "a lamp"),
    ("The farm has", "two thousand hens", "three barns"),
    # units of two kinds, and units of two things
    ("The trip takes", "two hours", "five dollars"),
    ("The parcel is", "3 kg", "40 cm long"),
    ("It needs", "two hours", "90 euros"),
    ("The box is", "40 cm long", "20 cm wide"),
    ("The dish has", "2 kg of flour", "300 g of sugar"),
    ("He bought", "three pounds of plums", "two pounds of nuts"),
    ("The stew needs", "two cups of rice", "one litre of milk"),
    ("The loan has", "a term of ten years", "a rate of 4.2%"),
]


@pytest.mark.parametrize(("lead", "members"), [(lead, members) for lead, *members in LISTS])
def test_a_list_of_things_is_cut(lead: str, members: list[str]) -> None:
    answer = f"{lead} {', '.join(members[:-1])} and {members[-1]}."
    assert texts(answer) == [f"{lead} {member}." for member in members]


@pytest.mark.parametrize("marks", ['" "', "$ %", "° ′"])
def test_marks_without_a_number_are_no_measure(marks: str) -> None:
    words = lex(marks, 0, len(marks))
    assert not one_amount([words, words], [words, words])
