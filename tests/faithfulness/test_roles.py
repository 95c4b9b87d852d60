"""A relation of a claim whose two sides stand in each other's places in the sentence."""

import pytest

from franq_guard.faithfulness.small.differences.roles import _LINES, roles, turned_round
from franq_guard.faithfulness.small.replaced import replaced

TURNED = [
    ("Bolt bought Acme.", "Acme bought Bolt."),
    ("Bolt Ltd. acquired Acme Corp. in 2015.", "Acme Corp. bought Bolt Ltd. for $40 million."),
    ("Acme was bought by Bolt.", "Acme bought Bolt."),
    ("Bolt bought Acme.", "Bolt was bought by Acme."),
    ("Ada Vale was taught by Otto Lind.", "Otto Lind studied under Ada Vale."),
    ("Otto Lind is Ada Vale's pupil.", "Otto Lind taught Ada Vale in Brenn."),
    ("Otto sold the mill to Ada.", "Ada sold the mill to Otto in 1998, who ran it."),
    ("Otto bought the mill from Ada.", "Otto sold the mill to Ada."),
    ("Brenn lost to Harrow.", "In the final Brenn beat Harrow 3-1."),
    ("The cat was chased by the mouse.", "The cat had often chased the mouse."),
    ("Iron is heavier than lead.", "Lead is heavier than iron."),
    ("Iron is heavier than lead.", "Iron is lighter than lead."),
    ("Otto came before Ada left Brenn.", "Ada left Brenn before Otto came."),
    ("Iris is the mother of Nadia.", "Nadia is the mother of Iris."),
    ("The mill is north of the river.", "The river lies in the valley north of the mill."),
    ("Ferrer unmasked Brunt.", "Brunt unmasked Ferrer."),  # any verb, of names
    ("Aster beat Dun Rovers.", "Dun Rovers won the cup on Monday, beating Aster 3-1."),
    ("Brunt was unmasked by Ferrer.", "Brunt unmasked Ferrer."),
]
NOT = [
    ("Acme bought Bolt.", "Bolt was bought by Acme."),
    ("Dun Rovers beat Aster.", "Dun Rovers won the cup on Monday, beating Aster 3-1."),
    ("Aster beat Dun.", "The cup went to Dun on Monday, beating Aster 3-1."),  # who did is open
    ("Ada Vale taught Otto Lind.", "Otto Lind was a pupil of Ada Vale."),
    ("Otto bought the mill from Ada.", "Ada sold the mill to Otto."),
    ("Lead is heavier than iron.", "Iron is lighter than lead."),
    ("The river is south of the mill.", "The mill is north of the river."),
    ("Acme bought Bolt.", "Acme bought Crane, and Crane bought Bolt."),  # who, is another question
    ("Bolt bought Acme.", "Acme bought Crane."),
    ("Ada married Otto.", "Otto married Ada."),  # both do the same
    ("Ada left Brenn after Otto came.", "Otto came before Ada left Brenn."),
    ("Entry is not allowed before May.", "Entry is allowed only after May."),
    ("The wheels unlocked the doors.", "The doors unlocked the wheels."),  # no names
    ("Bolt was bought in May.", "Bolt bought May & Sons."),  # nobody is said to have bought
    ("Tests were done by Bolt.", "Bolt did the tests by hand."),
]


@pytest.mark.parametrize(("claim", "sentence"), TURNED)
def test_turned_round(claim, sentence):
    assert turned_round(claim, sentence, sentence)
    assert turned_round(sentence, claim, claim)


@pytest.mark.parametrize(("claim", "sentence"), NOT)
def test_not_turned_round(claim, sentence):
    assert not turned_round(claim, sentence, sentence)
    assert not turned_round(claim, claim, claim)


def test_a_text_that_says_both_refutes_neither():
    first, second = "Acme sued Bolt in May.", "Bolt sued Acme in June."
    assert turned_round(first, second, second)
    assert not turned_round(first, second, f"{first} {second}")


@pytest.mark.parametrize("line", _LINES)
def test_every_word_of_a_relation_is_of_use(line):
    """Each is the others turned round, or the same."""
    said = []
    for side, (a, b) in zip(line.split("|"), (("Acme", "Bolt"), ("Bolt", "Acme")), strict=False):
        for form in side.split():
            word, _, preposition = form.partition(">")
            said.append((f"{a} {word} {preposition} {b}", f"{b} {word} {preposition} {a}"))
    for right, _ in said:
        for _, wrong in said:
            assert turned_round(wrong, right, right)
            assert not turned_round(wrong, wrong, wrong)


def test_relations_are_told_apart_by_their_first_words():
    assert len({line.split()[0] for line in _LINES}) == len(_LINES)


def test_it_counts_as_words_exchanged():
    sentence = "Acme, a bank, bought Bolt in 2015."
    assert replaced("Bolt bought Acme in 2015.", [sentence], sentence).words_exchanged == 2
    assert replaced("Acme bought Bolt in 2015.", [sentence], sentence).words_exchanged == 0


@pytest.mark.parametrize("text", ["that sold Acme,", "who", "who sold", ", who sold Acme,"])
def test_a_text_that_begins_with_its_relative_pronoun_has_no_first_side(text):
    assert roles(text) == ()


def test_the_side_before_who_counts():
    assert turned_round("Ben taught Ann.", "Ann, who taught Ben, won.", "Ann, who taught Ben, won.")
