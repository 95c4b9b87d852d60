"""Whom "he" and what "it" means: in full where it is certain, noted where nothing else fits."""

import pytest

from franq_guard import Claim
from franq_guard.claims import RuleSplitter


def last(answer: str, question: str = "") -> Claim:
    return RuleSplitter().split(answer, question=question)[-1]


DOUBTFUL = [
    # a relative or friend of the one whom the sentence is about
    "Mary is the mother of John. He lives in Rome.",
    "Elda was the sister of Guido. He painted.",
    "Elda was the sister of Guida. She painted.",
    "Ida Holm was a pupil of Karl Berg. She taught in Ulm.",
    "Ida Holm was the widow of Karl Berg. He painted.",
    "Ole Berg was the son of a smith. He left.",
    "Ida Holm was a friend of Karl Berg and the poet. He painted.",
    "Ida Holm has a brother, Karl. He directs the museum.",
    "Ida Holm has a nephew. He directs the museum.",
    "Maria Holm's father was Ole Holm. He built the mill.",
    # the other sex
    "Queen Mary ruled for 20 years. He died in 1500.",
    "King Otto ruled for 20 years. She died in 1500.",
    "Mrs. Holm moved to Rome. He opened a shop.",
    "Dr. Mary Holm works in Ulm. He left.",
    "Mr. Holm moved to Rome. She opened a shop.",
    "Mary was born in Rome. He was a smith.",
    "Ida Holm moved to Rome. She was poor. He left.",
    "Queen Mary ruled for 20 years. He died in 1500. She was poor.",
    # a second person
    "Ida Holm was married to Karl Berg. He was a smith.",
    "Ida Holm was born to Karla Berg. She was a smith.",
    "Ida Holm bought the boat from Tora Berg. She was a smith.",
    "Ida Holm met Tora yesterday. She was a smith.",
    "Ida Holm lived in Ulm, Tora Berg in Rome. She was a smith.",
    "Ida Holm painted Tora, a smith from Rome. She was a smith.",
    "Ida Holm hired a cook. She was a smith.",
    "Karl Berg praised Ida Holm. She won the prize.",
    # a thing is no person
    "Sund Palace is a theater. He was red.",
    "The Sund museum was founded by Ida Berg. She died in 1990.",
    "The Sund museum opened in 1990. She died in Rome.",
    "Silent Sea is a novel. She lives in Rome.",
    "Northern Aurora is a band from Oslo. He sings in Danish.",
    # which of two things
    "Quorra Ltd acquired Tibbet Foods. It was founded in 1950.",
    "The river Mell feeds Lake Orra. It is deep.",
    "I think the river Mell is deep. I saw it. It may be cold.",
]


@pytest.mark.parametrize("answer", DOUBTFUL)
def test_in_doubt_nothing_is_said_of_whom_a_pronoun_means(answer: str) -> None:
    claim = last(answer)
    assert (claim.context, claim.full) == (None, None)


CERTAIN = [
    ("Elda was a painter. She lived in Rome.", "Elda", "lived in Rome."),
    ("Elda was the mayor of York. She lived in Rome.", "Elda", "lived in Rome."),
    ("Ida Holm moved to Rome. She was a smith.", "Ida Holm", "was a smith."),
    ("Ida Holm was born in Ulm, Germany. She retired.", "Ida Holm", "retired."),
    ("Ida Holm taught at the University of Ulm. She retired.", "Ida Holm", "retired."),
    ("Queen Mary ruled for 20 years. She died in 1500.", "Queen Mary", "died in 1500."),
    ("King Otto ruled for 20 years. He died in 1500.", "King Otto", "died in 1500."),
    ("Mrs. Holm moved to Rome. She opened a shop.", "Mrs. Holm", "opened a shop."),
    ("Ada Lovelace was born in London. She died in 1852.", "Ada Lovelace", "died in 1852."),
    ("Silent Sea is a novel. It sold 300 copies.", "Silent Sea", "sold 300 copies."),
    ("Northern Aurora is a band. It sings in Danish.", "Northern Aurora", "sings in Danish."),
    ("The Orra Bridge carries trams. It opened in 1990.", "The Orra Bridge", "opened in 1990."),
    ("The Orra Prize is a prize. It had a gate for guests.", "The Orra Prize",
     "had a gate for guests."),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "name", "rest"), CERTAIN)
def test_the_only_one_who_can_be_meant_is_named(answer: str, name: str, rest: str) -> None:
    claim = last(answer)
    pronoun = claim.text.split()[0].lower()
    assert claim.full == f"{name} {rest}"
    assert claim.context == f"{pronoun}: {name}"


NOTED = [
    # a name alone does not tell what bears it: too little to write it into the claim
    ("Kestrel Motors built small cars. It moved to York.", "it: Kestrel Motors"),
    ("The Arno mill is old. In 2021 it produced 505 tonnes.", "it: The Arno mill"),
    ("The Sund museum opened in 1990. Its hall is round.", "its: The Sund museum"),
    ("The river Mell is long. It is deep.", "it: The river Mell"),
    ("Plan 21 is a scheme for towns. It sets goals.", "it: Plan 21"),
    ("The Beatles toured in 1964. They sold records.", "they: The Beatles"),
    ("Mary moved to Rome. She opened a shop.", "she: Mary"),
]


@pytest.mark.parametrize(("answer", "note"), NOTED)
def test_a_likely_antecedent_is_noted_but_not_in_the_claim(answer: str, note: str) -> None:
    claim = last(answer)
    assert (claim.context, claim.full) == (note, None)


@pytest.mark.parametrize(
    ("question", "answer", "note"),
    [
        ("When was Ada Holm born?", "She was born in 1990.", "she: Ada Holm"),
        ("Where is the Korvane K7 made?", "It is made in Rome.", "it: the Korvane K7"),
        # the price, the anthem, another sex
        ("What is the price of the Korvane K7?", "It is 5 euros.", None),
        ("Who wrote the anthem of Norway?", "It was written by Ole Holm.", None),
        ("Where was Queen Ida born?", "He was born in Rome.", None),
        ("Did Kestrel Motors sell the mill?", "It was sold in 1990.", None),
    ],
)
def test_a_question_names_the_antecedent_if_nothing_else_is_asked_about(
    question: str, answer: str, note: str | None
) -> None:
    assert last(answer, question).context == note
