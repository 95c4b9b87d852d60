"""Kinds of wrong claims that were found by reading those of rules/9; sentences of our own."""

import pytest

from franq_guard.claims import RuleSplitter


def texts(answer):
    return [c.text for c in RuleSplitter().split(answer) if c.not_a_claim is None]


def full(answer):
    return [c.full for c in RuleSplitter().split(answer)]


WHOLE = [
    # no main clause, or one that is only the half of a comparison
    "You know, the wish to do something.",
    "You know, he has a boat, it sails well, and won a prize.",
    "When you are tired, when you are cold, when you are on the road.",
    "The more heavy a cart is, the more force it needs, which means that it starts slowly.",
    "I was thinking of the fox as a dog, but it's not.",
    "The only shop that lets you save time and live well is the corner shop.",
    # a verb that may be a noun, or a noun that may be a verb
    "Stock markets list common shares as well as other papers.",
    "In May, duty for food supplements moved from the state to the maker and supplements no longer"
    " needed a licence.",
    "Ann Roe expressed grief over the sale but hopes new owners will like it.",
    "However, some common habits of good cooks include having a clear plan of their work, being"
    " calm in following it, being open to change, building a strong team of helpful people, and"
    " staying focused on their pans.",
    "We will be sure to review and address any questions.",
    # said, done or true in another clause
    "The mason opined that the smith makes the doors, while the mason is to blame for the roof.",
    "Many people believed that the tale was real and fled.",
    "It is a model of a town in which all goods are free, and there are no taxes at all.",
    "While some dogs sink if they stop, old dogs will drown.",
    "Fox was hired to replace Bo Reed after Reed hit and hurt a man during a race.",
    "This tool can help firms better understand buyers and make better plans.",
    "In the 2010s, large albums were developed, with songs written by large numbers of writers and"
    " sometimes professionally edited.",
    # said of all members
    "They may contain large amounts of salt, sugar, or fat.",
    "Its hum is heard from far and wide.",
    "The firm had a drop in income on a non-PAX and PAX basis in the second quarter.",
    "Heavy use is five cups for men and four cups for women in a single day.",
    "The show covers top halls, with Fox in Old Ulm and the Oak Shop in Arden being the top two.",
]


@pytest.mark.parametrize("answer", WHOLE)
def test_it_stays_whole(answer):
    assert texts(answer) == [answer]


def test_a_formula_in_brackets_is_not_cut_at_its_exclamation_mark():
    answer = "It is 36 (the mark means that 4! = 4 x 3 x 2 x 1 = 24)."
    assert texts(answer) == [answer]


@pytest.mark.parametrize(
    ("first", "addition"),
    [
        # the words before the comma hold a verb, so "which" is not put in
        ('A sting can cause "weak knee"', ", which is a harm to the knee."),
        ("Their coats do not shed", ", which reduces dust."),
        (
            "The heat at the core can reach up to 15 million degrees Celsius",
            ", which is what lets it glow.",
        ),
        # no place for "where", or "where" is needed in the clause
        ("The dog carried her to the nearest barn", ", where she slept until dawn."),
        ("The talk turns to their second match", ", where Ann used her speed."),
        ("The text focuses on their second match", ", where Ann used her speed."),
        ("He leaves his post at Arden", ", where he had been since 2010."),
        # who it is about is not sure
        ("The clerk mentions that their price is fair", " and offers a discount for pupils."),
        ("Good play makes goals", " and rules that help."),
        ("Al Roe was born in Ulm", " and relocated to Arden when he was nine."),
        ("I think about 4.6 million birds live in Ulm", " and are native to the coast."),
    ],
)
def test_an_addition_says_the_sentence_in_full(first, addition):
    assert texts(first + addition) == [f"{first}.", first + addition]


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("The mill had limited fresh water and faced two droughts.",
         ["The mill had limited fresh water.", "The mill faced two droughts."]),
        ("The town had built a wall and sold the mill.",
         ["The town had built a wall.", "The town had sold the mill."]),
        ("She was born in Ulm and raised in Arden.",
         ["She was born in Ulm.", "She was raised in Arden."]),
        ("The firm earned $5.52, compared to a loss last year, and has raised its outlook.",
         ["The firm earned $5.52.", "The firm earned $5.52, compared to a loss last year.",
          "The firm has raised its outlook."]),
        ("The Mill Crew, often abbreviated as MC, is a band.",
         ["The Mill Crew is a band.", "The Mill Crew is often abbreviated as MC."]),
        ("The drink, loaded with sugar, can harm the heart.",
         ["The drink can harm the heart.", "The drink is loaded with sugar."]),
        ("She was born in Ulm, where she lived.", ["She was born in Ulm.", "In Ulm, she lived."]),
        ("It has a school of art, a mill and a barn.",
         ["It has a school of art.", "It has a mill.", "It has a barn."]),
        ("The text says that it opened in 1990 and won a prize.",
         ["The text says that it opened in 1990.", "The text says that it won a prize."]),
        ("He left the town after the war and sold the mill.",
         ["He left the town after the war.", "He sold the mill."]),
    ],
)  # fmt: skip
def test_the_other_cuts_stay(answer, claims):
    assert texts(answer) == claims


@pytest.mark.parametrize(
    "answer",
    [
        # the adverb may be part of the name, or the first word of a phrase may be none
        "First Light is a film by Ann Roe. It was written by Bo Reed.",
        "Ann Roe was born in Ulm. Having graduated from a college, she worked at the mill.",
    ],
)
def test_no_name_is_put_in_that_is_not_sure(answer):
    assert full(answer) == [None, None]


def test_a_salutation_with_a_blank_name_is_no_claim():
    assert texts("Dear [Customer Name],") == []
