"""A sentence about several things, and claims that mix them up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.faithfulness.small.differences.ellipsis import denied_of_another
from franq_guard.faithfulness.small.differences.excepted import excepted
from franq_guard.faithfulness.small.differences.spliced import spliced
from franq_guard.faithfulness.small.replaced import replaced

USES = "Iron is used for tools, copper for wires."
HUSBANDS = "Her first husband was Otto Rehn; her second was Ivo Kant."
PRICES = "Adults pay 12 euros, children 5 and pensioners nothing."
KEPT = "Hourly copies are kept for three days, nightly ones for five weeks."


@pytest.mark.parametrize(
    ("claim", "sentence", "mixed"),
    [
        # the subject of a later part with what an earlier one says
        ("Copper is used for tools.", USES, True),
        ("Children pay 12 euros.", PRICES, True),
        ("Her second husband was Otto Rehn.", HUSBANDS, True),
        ("Ms Vane suspected a leak.", "Mr Ash suspected a leak; Ms Vane thought of rain.", True),
        # an earlier part with the end of a later one, behind the same preposition
        ("Iron is used for wires.", USES, True),
        ("Hourly copies are kept for five weeks.", KEPT, True),
        ("The jets are based in Vila.", "The jets are based in Rio and the others in Vila.", True),
        # what the sentence says
        ("Iron is used for tools.", USES, False),
        ("Copper is used for wires.", USES, False),
        ("Her first husband was Otto Rehn.", HUSBANDS, False),
        # the later part says of its subject what the earlier one says
        ("Ben wrote a report.", "Ann wrote a report, and Ben did too.", False),
        # no part of its own: when, where, an explanation of the last word
        ("It was shown in Rome.", "It was shown in Oslo, three years later in Rome.", False),
        ("The film was shown in Rome.", "The film was shown in Oslo and later in Rome.", False),
        ("Ada Ros was born in Swabia.", "Ada Ros was born in Ulm, a town in Swabia.", False),
        ("The old man sells bread in Rome.", "In ancient Rome, the old man sells bread.", False),
        ("The man smiles.", "A man in a hat, gloves and a coat smiles.", False),
        # "it" may be any of the things
        ("Press the button when it rings.", "Press the button twice, the bell rings.", False),
        # a word that the sentence lacks
        ("Copper is often used for tools.", USES, False),
    ],
)
def test_parts_of_a_sentence(claim, sentence, mixed):
    assert spliced(claim, sentence) is mixed


WORDS = st.sampled_from(
    ["iron", "copper", "tools", "wires", "used", "for", "in", "and", ",", ";", "the", "old"]
)


@given(st.lists(WORDS, max_size=14), st.lists(WORDS, max_size=6))
def test_a_part_of_the_sentence_itself_is_no_mixture(words, more):
    """Whatever else the sentence has: what stands in it in one piece is said there."""
    part = " ".join(word for word in words if word not in (",", ";", "and"))
    assert not spliced(part, " ".join([part, ";", *more]))
    assert not spliced(part, part)


@pytest.mark.parametrize(
    ("claim", "sentence", "found"),
    [
        ("Haggling is allowed at the stalls.", "Haggling is allowed except at the stalls.", True),
        ("It is open on Mondays.", "It is open daily except Mondays and feast days.", True),
        ("Coeliac disease goes away.", "Unlike coeliac disease, the allergy goes away.", True),
        ("The tower burned down.", "All burned down with the exception of the tower.", True),
        # what holds for the rest, and what the claim denies
        ("Haggling is allowed.", "Haggling is allowed except at the stalls.", False),
        ("No haggling at the stalls.", "Haggling is allowed except at the stalls.", False),
        ("It is closed on Mondays.", "It is open daily except Mondays.", False),
        (
            "On Sundays dogs sleep in the hall.",
            "It is loud in the hall except on Sundays, when dogs sleep there.",
            False,
        ),
        # the sentence denies it of the rest
        ("Dogs may enter the garden.", "Dogs may not enter, except the garden.", False),
        # an opposite, and only a part of the exception
        ("Haggling is banned at the stalls.", "Haggling is allowed except at the stalls.", False),
        (
            "Guide dogs are kept out.",
            "All dogs are kept out, except guide dogs in a harness.",
            False,
        ),
        # for whom it does not hold is open
        ("Many like it all.", "Many, but not all, like it.", False),
    ],
)
def test_exceptions(claim, sentence, found):
    assert excepted(claim, sentence) is found


MOONS = "Varr has an atmosphere; Thessa has none."
PLANS = "The Basic plan includes backups, but the Free plan does not."


@pytest.mark.parametrize(
    ("claim", "sentence", "found"),
    [
        ("Thessa has an atmosphere.", MOONS, True),
        ("Varr has no atmosphere.", MOONS, True),
        ("Varr has an atmosphere.", MOONS, False),
        ("Thessa has no atmosphere.", MOONS, False),
        ("The Free plan includes backups.", PLANS, True),
        ("The Basic plan does not include backups.", PLANS, True),
        ("The Basic plan includes backups.", PLANS, False),
        ("The Free plan does not include backups.", PLANS, False),
        # about neither, in other words, and where more is denied
        ("The Pro plan includes backups.", PLANS, False),
        ("The Free plan has copies.", PLANS, False),
        ("Ben came.", "Ann never came, but Ben did not.", False),
    ],
)
def test_denials_without_a_verb_of_their_own(claim, sentence, found):
    assert denied_of_another(claim, sentence) is found


@pytest.mark.parametrize(
    ("claim", "sentence", "name"),
    [
        ("Copper is used for tools.", USES, "words_exchanged"),
        ("Thessa has an atmosphere.", MOONS, "negation_added"),
        ("Haggling is allowed at the stalls.", "Haggling is allowed except at the stalls.",
         "negation_added"),
    ],
)  # fmt: skip
def test_what_they_count_as(claim, sentence, name):
    assert getattr(replaced(claim, [sentence], sentence), name) >= 2


@pytest.mark.parametrize(
    ("sentence", "right", "wrong"),
    [
        (USES, "Copper is used for wires.", "Copper is used for tools."),  # wrong .88 before
        (PRICES, "Children pay 5 euros.", "Children pay 12 euros."),  # .81
        (MOONS, "Varr has an atmosphere.", "Thessa has an atmosphere."),  # .80
        (PLANS, "The Basic plan includes backups.", "The Basic plan does not include backups."),
    ],
)
def test_the_model_tells_them_apart(score, sentence, right, wrong):
    true, false = score(sentence, [right, wrong])
    assert true > 0.5 > 0.28 > false
