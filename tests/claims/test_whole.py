"""When in doubt a sentence stays whole: what a careless cut would make false or ungrammatical."""

import pytest

from franq_guard.claims import RuleSplitter


def texts(answer, **kw):
    return [c.text for c in RuleSplitter().split(answer, **kw) if c.not_a_claim is None]


@pytest.mark.parametrize(
    "answer",
    [
        # which of two nouns is meant
        "Cells were taken from the marrow, which were then grown for two weeks.",
        "We went there with Ann and her sister, who had never seen the sea.",
        # lists that are dealt out, or that hold only together
        "Lee, May and Poe were cast as Rook, Wren, and Jay, respectively.",
        "She and Ben are wed in a double ceremony with Kurt and Blaine.",
        "The two moons of Mars are Phobos and Deimos.",
        "He sang the theme song for Laverne and Shirley.",
        "The song was first recorded by Peter, Paul and Mary.",
        "She did not visit Rome and Paris.",
        "The lyrics were written and performed by Tommy Shaw and Styx.",
        "You pass Upper and Lower Tarn.",
        "These tools create modular, reusable, and extensible code.",
        "It boosts results when training data is limited and diverse.",
        # neither half of an alternative, nothing under a condition or a denial, is stated
        "The order holds if the President is ill, dies, or is removed.",
        "They are small and mistaken for wasps or flies.",
        "She has not made changes or taken medication.",
        "This verse is not only old but can also be sung.",
        # a purpose, a noun that looks like a verb, a verb without its subject
        "He signed it so that gold and silver would pour into London.",
        "Tall players, good teams and loud fans fill the park.",
        "Sales grew in spring, before holidays and changes in taxes.",
    ],
)
def test_a_doubtful_sentence_stays_whole(answer):
    assert texts(answer) == [answer]


@pytest.mark.parametrize(
    ("first", "addition"),
    [
        # which of two nouns is meant, or the whole event
        ("Blood samples were taken from the patients", ", which were then collected and frozen."),
        ("The Orra flows into the Mell near Osk", ", which flows into the sea."),
        ("He formed an alliance with Sultan Suleiman", ", a controversial move for a king."),
        ("In spring the rivers flood", ", which makes the fields fertile."),
        ("There were 412 passengers on board", ", most of whom were emigrants."),
        ("Croatia was the latest to join", ", replacing the kuna in January."),
        ("Online orders made up 41%", ", compared with 35% a year earlier."),
        ("She led the party for 18 years", ", longer than anyone before her."),
        # what the second predicate belongs to
        ("Migraine is a headache that lasts hours", " and often affects one side of the head."),
        ("The battery lasts up to 12 hours", " and charges in 90 minutes."),
        ("The dose is 5 mg for adults", " and 2.5 mg for children."),
        ("Acrylic paint dries in an hour", ", oil paint in a day."),
    ],
)
def test_a_doubtful_addition_is_a_claim_that_says_the_sentence_in_full(first, addition):
    answer = first + addition
    found = RuleSplitter().split(answer)
    assert [c.text for c in found] == [f"{first}.", answer]
    assert [answer[slice(*s)] for c in found for s in c.spans] == [first, addition.lstrip()]


@pytest.mark.parametrize(
    ("answer", "never"),
    [
        ("Each day oxygen enters the vessels, which join the systemic circulation.", "Day join"),
        ("The first to climb the mountain, Edmund Hillary, was born in 1919.", "Climb the"),
        (
            "The Council has ten members, beginning with the Speaker, and followed by the rest.",
            "has followed",
        ),
        ("The show ended in May, making his first appearance a surprise.", "This makes his"),
        (
            "South America is bordered by Colombia on the north, Peru on the east and south.",
            "America Peru",
        ),
        ("We propose a system and demonstrate that attacks are often seen.", "Demonstrate"),
        ("The film was released in 2011 and received prizes.", "was received"),
        (
            "The agent informs him about plans, including the pricing and benefits.",
            "agent benefits",
        ),
        ("Leeds leads the league, followed by York and Hull.", "with followed"),
        ("The victim had recalled the event, which occurred at night.", "Recalled the"),
    ],
)
def test_what_no_claim_may_say(answer, never):
    assert not any(never in text for text in texts(answer))


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("The Senn rises in the east, the Loss in the west.",
         ["The Senn rises in the east.", "The Loss rises in the west."]),
        ("Brown was captured, tried for treason, and hanged.",
         ["Brown was captured.", "Brown was tried for treason.", "Brown was hanged."]),
        ("Users may develop pain, fever or blindness.",
         ["Users may develop pain.", "Users may develop fever.", "Users may develop blindness."]),
        ("The **north gate**, which is closed at night, leads to the park.",
         ["The north gate leads to the park.", "The north gate is closed at night."]),
        ("She said that it was old and that it was dear.",
         ["She said that it was old.", "She said that it was dear."]),
        ("Lena left in May. Omar stayed.", ["Lena left in May.", "Omar stayed."]),
    ],
)  # fmt: skip
def test_what_is_sure_is_cut(answer, claims):
    assert texts(answer) == claims


def full(answer, **kw):
    return {c.text: c.full for c in RuleSplitter().split(answer, **kw) if c.full}


def test_a_sure_pronoun_is_named_and_the_span_stays():
    question = "When did Christiaan Barnard die?"
    (claim,) = RuleSplitter().split("He died in 1989.", question=question)
    assert (claim.text, claim.in_full) == ("He died in 1989.", "Christiaan Barnard died in 1989.")
    assert claim.spans == ((0, 16),)
    answer = "Ada Lovelace was a writer. She died in 1852. Her mother was rich."
    assert full(answer)["She died in 1852."] == "Ada Lovelace died in 1852."
    film = "Blade Runner is a 1982 film. The film was directed by Ridley Scott."
    assert list(full(film).values()) == ["Blade Runner was directed by Ridley Scott."]
    hub = "Petra is an ancient city in Jordan. It was a hub for trade."
    assert list(full(hub).values()) == ["Petra was a hub for trade."]
    aside = "Marie Curie, who was born in Warsaw, won in 1903. She moved to Paris."
    assert full(aside) == {"She moved to Paris.": "Marie Curie moved to Paris."}


@pytest.mark.parametrize(
    "answer",
    [
        "Ada Lovelace worked with Charles Babbage. She died in 1852.",
        "The bridge crosses the river. It is old.",
        "Mount Sarrow is the highest mountain in Perra. It is known that bears live there.",
        "Blue Lions is a rugby team. Red Tigers is a rugby team. The team won.",
        "Ada Lovelace was a writer.\n\nShe died in 1852.",
        "Ada Lovelace left; he stayed with Tom. He died.",
        "Ada Lovelace's father was a poet. He died in 1824.",
        "Here is a short summary of the text. This summary covers the main points.",
    ],
)
def test_an_unsure_one_is_not(answer):
    assert full(answer) == {}


@pytest.mark.parametrize(
    "answer", ["The man lives in Rome, which is old, and", "He joined Oasis, who sang, or"]
)
def test_an_answer_that_was_cut_off_after_an_aside_stays_whole(answer):
    assert [claim.spans for claim in RuleSplitter().split(answer)] == [((0, len(answer)),)]
