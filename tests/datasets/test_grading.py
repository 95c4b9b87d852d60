import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.datasets.comparable_words import texts
from franq_guard.datasets.grading import grade, grade_by_alias, states


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Würzburg Café", "wurzburg cafe"),
        ("Søren Łąk", "soren lak"),
        ("J. R. R. Vell", "J.R.R. Vell"),
        ("Washton, D.C.", "Washton DC"),
        ("U.S. Army", "US army"),
        ("St. Odran", "Saint Odran"),
        ("Salt & Rope", "salt and rope"),
        ("two", "2"),
        ("twenty-one", "21"),
        ("one hundred and five ships", "105 ships"),
        ("two thousand and eighteen", "2018"),
        ("nineteen eighty-four", "1984"),
        ("2,579 steps", "2579 steps"),
        ("3.5 million", "3,500,000"),
        ("2.3 million", "2300000"),
        ("$5 million", "five million dollar"),
        ("seventy-five per cent", "75%"),
        ("the twenty-first century", "21st century"),
        ("July 4, 1776", "4 July 1776"),
        ("the fourth of July, 1776", "July 4th 1776"),
        ("1776-07-04", "4 Jul 1776"),
        ("7/4/1776", "July 4, 1776"),
        ("24/7/1976", "July 24, 1976"),
        ("April 3–4, 2018", "3-4 April 2018"),
        ("Sept 2018", "September 2018"),
    ],
)
def test_spellings_that_are_one(one, other):
    assert texts(one) == texts(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("July 4", "July 5"),
        ("4", "July 4"),
        ("24-10", "24"),
        ("7:30", "7"),
        ("one of them", "1 of them"),
        ("1990s", "1990"),
        ("5", "5th"),
        ("$5", "€5"),
    ],
)
def test_spellings_that_differ(one, other):
    assert texts(one) != texts(other)


CORRECT = [
    ("Odran Vell", ["Odran Vell"]),
    ("Answer: The Grey Harbour.", ["Grey Harbour"]),
    ("\n\nIt was Odran Vell\nBecause he said so", ["odran vell"]),
    ("The answer to this is:\n\nOdran Vell", ["Odran Vell"]),
    ("The keeper of the lighthouse is Odran Vell.", ["Odran Vell"]),
    ("Vell kept it from 4 July 1903", ["1903"]),
    ("July 4, 1903", ["4 July 1903"]),
    ("There are two lamps", ["2"]),
    ("Odran Vell", ["Odran Tamsin Vell"]),
    ("Not Lessing, but Odran Vell", ["Odran Vell"]),
    ("Not only Odran Vell", ["Odran Vell"]),
    ("It was the Buffalo", ["BUFFALO (or Bison)"]),
    ("The lemur", ["LEMURS"]),
    ("football or soccer", ["football", "soccer"]),
    ("It is made of grey elephants", ["elephant"]),
    ("red, blue and grey", ["red", "blue"]),
    ("Harrow, Vellshire, Norland", ["Harrow"]),
    ("salt, rope and tar", ["salt, rope and tar"]),
    ("The passages do not say so, but it is Odran Vell", ["Odran Vell"]),
    ("E", ["E"]),
    ("It is E", ["E"]),
    ("Yes, he did", ["yes"]),
    ("!!!", ["!!!"]),
    ("Unknown", ["Unknown"]),
    ("In 1950, Harrow, then the capital, burnt down", ["Harrow"]),
]
INCORRECT = [
    ("Lessing", ["Odran Vell"]),
    ("Vell", ["Odran Vell"]),
    ("Odran Vellmann", ["Odran Vell"]),
    ("It is not Odran Vell", ["Odran Vell"]),
    ("Odran Vell was not the keeper", ["Odran Vell"]),
    ("Lessing rather than Odran Vell", ["Odran Vell"]),
    ("Odran Vell or Lessing", ["Odran Vell"]),
    ("either Lessing or Odran Vell", ["Odran Vell"]),
    ("The keeper is Lessing, Odran Vell or Tamsin", ["Odran Vell"]),
    ("Harrow/Lessing", ["Harrow"]),
    ("Lessing, Tamsin, Odran Vell", ["Odran Vell"]),
    ("red, blue and grey", ["red"]),
    ("Between 3 and 7", ["7"]),
    ("17 lamps", ["7"]),
    ("7.5 lamps", ["7"]),
    ("7 million lamps", ["7"]),
    ("4 July 1903", ["4"]),
    ("Vitamin E is fine", ["E"]),
    ("There is no lamp", ["no"]),
    ("It does not include a lamp", ["rope"]),
    ("He is not known for the lamp alone", ["rope"]),
]
REFUSED = [
    "",
    " \n.",
    "I don't know.",
    "I do not know who it was",
    "I'm sorry, I cannot answer this.",
    "Not mentioned in the passages",
    "The answer is not provided in the given text.",
    "The passages do not mention the keeper.",
    "The text doesn't explicitly state who it was",
    "There is no information about the keeper in the passages.",
    "It cannot be determined from the context",
    "Unknown",
    "N/A",
    "none",
    "As an AI language model, I have no opinions",
]


@pytest.mark.parametrize(("answer", "aliases"), CORRECT)
def test_correct(answer, aliases):
    assert grade(answer, aliases) == "correct"


@pytest.mark.parametrize(("answer", "aliases"), INCORRECT)
def test_incorrect(answer, aliases):
    assert grade(answer, aliases) == "incorrect"


@pytest.mark.parametrize("answer", REFUSED)
def test_refusals_are_not_attempted(answer):
    assert grade(answer, ["Odran Vell"]) == "not_attempted"
    assert grade(f"{answer} Odran" if answer.strip(" \n.") else answer, ["Vell"]) != "correct"


def test_the_question_says_which_numbers_and_names_are_its_own():
    question = "How many of the 12 lamps did Odran Vell light in 1903?"
    assert grade("5 of the 12 lamps in 1903", ["5"]) == "incorrect"
    assert grade("5 of the 12 lamps in 1903", ["5"], question=question) == "correct"
    assert grade_by_alias(question, "5 of the 12 lamps", ["5"]) == "correct"
    # "12" is in the question: said again it is no answer, said alone it is.
    assert grade("Of 12 lamps none", ["12"], question=question) == "incorrect"
    assert grade("12", ["12"], question=question) == "correct"


def test_of_a_long_line_only_the_first_sentence_counts():
    padding = "The lamp is red. " + "It is a very fine lamp indeed. " * 6
    assert grade(f"{padding} Odran Vell.", ["Odran Vell"]) == "incorrect"
    assert grade(f"Odran Vell lit it. {padding}", ["Odran Vell"]) == "correct"


def test_no_alias_is_misuse():
    with pytest.raises(ValueError, match="no gold answer"):
        grade("x", [])


NAMES = st.lists(st.sampled_from(["Odran", "Vell", "Tamsin", "Grey"]), min_size=2, max_size=3)


@given(NAMES.map(" ".join), st.sampled_from(["It is {}.", "{}", "By {}, they say", "The {}!"]))
def test_an_alias_in_a_plain_sentence_is_met(name, sentence):
    assert grade(sentence.format(name), [name]) == "correct"
    assert grade(sentence.format(name), ["Lessing Harrow"]) == "incorrect"


@given(st.text(max_size=40), st.text(min_size=1, max_size=20))
def test_any_text_gets_a_grade(answer, alias):
    assert grade(answer, [alias], question=answer) in ("correct", "incorrect", "not_attempted")
    if texts(alias):
        assert states(alias, [alias])
