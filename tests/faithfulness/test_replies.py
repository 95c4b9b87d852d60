"""Questions of a passage that are answered with "No", as on help pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.faithfulness.small.features import FEATURES, features
from franq_guard.faithfulness.small.replaced import replaced
from franq_guard.faithfulness.small.replies import denied
from franq_guard.faithfulness.small.written_out import written_out

PAGE = """## Questions

**Is the shop open on Sundays?**
No, only on weekdays.

Q: Can I pay by card?
A: Unfortunately not. We take cash.

Do you ship to Norway? Yes. A parcel of 2.5 kg costs 9 euros."""


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("Is the shop open on Sundays? No.", "The shop is not open on Sundays."),
        ("Does the tour need rain?\nA: No - it does not.", "The tour does not need rain."),
        ("- Do you ship to Norway? Not yet.", "You do not ship to Norway."),
        ("Does Acme Cloud support SSO? Nope!", "Acme Cloud does not support SSO."),
        ("Is 2.5 kg too much? No", "2.5 is not kg too much."),  # the subject is guessed
        ("Are all rooms heated? No.", "Not all rooms are heated."),
        ("Is this a test? No!", "This is not a test."),
        ("Tests.\r\n\r\n   Is this a test?\r\n   No.", "This is not a test."),
        ("It rains.  Is this a test?  No, it is not.", "This is not a test."),
    ],
)  # fmt: skip
def test_a_question_and_its_no_are_one_statement(text, statement):
    [(span, said)] = denied(text)
    assert said == statement + "\n"
    assert text[slice(*span)].startswith(("Is", "Do", "Are"))


@pytest.mark.parametrize(
    "text",
    [
        "Is the shop open on Sundays? Yes, from ten.",
        "Is the shop open on Sundays? Ask at the desk.",
        "Is this seat free? No parking here.",
        "Does it rain? Nobody knows.",
        "Is the lift big? No one measured it.",
        "When is the shop open? No later than nine.",
        "Is it red or blue? No.",  # neither, or another colour
        "The shop is open. No, it is closed.",
    ],
)
def test_no_other_words_are_taken_for_a_denial(text):
    assert not list(denied(text))
    assert written_out(text).text == text


def test_what_is_written_out_leads_back_to_the_page():
    written = written_out(PAGE)
    for said, of_page in (
        ("The shop is not open on Sundays.", "Is the shop open on Sundays?**\nNo,"),
        ("I can not pay by card.", "Can I pay by card?\nA: Unfortunately not."),
        ("We take cash.", "We take cash."),
        ("only on weekdays.", "only on weekdays."),
    ):
        start = written.text.index(said)
        a, b = written.original(start, start + len(said))
        assert PAGE[a:b] == of_page
    assert "Do you ship to Norway? Yes." in written.text


WORDS = ["Is", "the", "shop", "open", "?", "No", ",", ".", "\n", "A:", "|a|b|\n"]


@given(st.lists(st.sampled_from(WORDS), max_size=30))
def test_every_character_of_a_text_comes_from_where_it_says(parts):
    text = " ".join(parts)
    written = written_out(text)
    at = back = 0
    for here, there in written.places:
        assert written.text[at : here[0]] == text[back : there[0]]
        at, back = here[1], there[1]
    assert written.text[at:] == text[back:]


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Parking costs 5 euros a day.", "No, parking costs 5 euros a day."),
        ("No, parking costs 5 euros a day.", "Parking costs 5 euros a day."),
        ("Parking costs 5 euros a day.", "Free?  No, parking costs 5 euros a day."),
        ("It was the top seed in 1985.", "It was the No. 1 seed in 1985."),
    ],
)
def test_a_no_that_replies_or_counts_denies_nothing(claim, sentence):
    found = replaced(claim, [sentence], sentence)._asdict()
    assert found["negation_added"] == 0
    assert features(claim, sentence)[FEATURES.index("negation")] == 0


def test_a_second_no_still_denies():
    """The first one replies; it was taken for the only one."""
    for sentence in ("Nope, there is no lift.", "No, there is no lift.", "There is no lift."):
        assert features("There is a lift.", sentence)[FEATURES.index("negation")] == 1


def test_a_no_before_a_noun_still_denies():
    sentence = "There is no parking in the yard."
    found = replaced("There is parking in the yard.", [sentence], sentence)
    assert found.negation_added > 0


def test_a_help_page_supports_what_it_answers(model):
    """Before, "You can pay by card." had .85, and what follows a "No," below .2."""
    stated = ["The shop is not open on Sundays.", "We take cash.", "You can not pay by card."]
    wrong = ["The shop is open on Sundays.", "You can pay by card."]
    found = model.score_passages([[PAGE]] * 5, [*stated, *wrong])
    assert min(found[:3]) > 0.5
    assert max(found[3:]) < 0.2
