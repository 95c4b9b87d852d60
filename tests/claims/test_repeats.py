"""Repeated claims point to their first statement."""

import pytest

from franq_guard.claims import RuleSplitter, first_statements
from franq_guard.records import Claim


def claims(*texts, context=None):
    return [Claim(text, ((0, len(text)),), context=context) for text in texts]


def test_repetitions_point_to_the_first():
    found = claims(
        "He created the compiler.",
        "Rome is big.",
        "He also created the Compiler!",
        "rome is big",
        "Rome is not big.",
    )
    assert first_statements(found) == [0, 1, 0, 1, 4]


def test_a_pronoun_with_another_antecedent_is_another_claim():
    found = [*claims("It is big.", context="it: Rome"), *claims("It is big.", context="it: Paris")]
    assert first_statements(found) == [0, 1]


def test_texts_without_words_are_compared_as_they_are():
    assert first_statements(claims("…", "?!", "…")) == [0, 1, 0]
    assert first_statements([]) == []


ADA = "Ada Lovelace was born in 1815. She wrote notes on the engine."


@pytest.mark.parametrize(
    ("answer", "first"),
    [
        (f"{ADA} She was born in 1815.", [0, 1, 0]),
        (f"{ADA} She was born in 1815. In summary, she was born in 1815.", [0, 1, 0, 0]),
        (f"# Life\n\n{ADA} She was born in 1815.", [0, 1, 2, 1]),
        (f"{ADA} In summary, Ada Lovelace was born in 1815.", [0, 1, 0]),
        # Who "she" is, is not certain, and another "her" stays:
        (f"{ADA} Mary was there. She was born in 1815.", [0, 1, 2, 3]),
        (f"{ADA} Mary Shelley was there. She was born in 1815.", [0, 1, 2, 3]),
    ],
)
def test_a_name_and_its_pronoun_state_the_same(answer, first):
    assert first_statements(RuleSplitter().split(answer)) == first


def test_a_pronoun_that_is_left_keeps_its_context():
    def claim(name):
        text = "She met a cousin of hers."
        full = "Ada Lovelace met a cousin of hers."
        return Claim(text, ((0, len(text)),), context=f"she: {name}", full=full)

    assert first_statements([claim("Ada Lovelace"), claim("Mary Shelley")]) == [0, 1]
