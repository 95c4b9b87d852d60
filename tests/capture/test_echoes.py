"""A tool's text that repeats what it was called with is evidence if it tells something of that."""

import pytest

from franq_guard.capture.echoes import tells_beside

CITY, ASKED = "San Francisco, California, USA", "Can I pay by card in the shop?"
THOUGHT = "The tower was built by Gustave Eiffel."


@pytest.mark.parametrize(
    ("text", "repeated", "expected"),
    [
        (f"{CITY}: sunny", [CITY], True),
        (f"Q: {ASKED}\nA: Only cash.", [ASKED], True),
        (f"From {CITY} to {CITY}: 0 km", [CITY, CITY], True),
        # A label before it, a mark or a word for what was done behind it.
        (f"Noted for today: {CITY}", [CITY], False),
        (f"Noted ({CITY}).", [CITY], False),
        (f"{CITY} is saved.", [CITY], False),
        # What it repeats may be what the model claims.
        (f"{THOUGHT}: unknown", [THOUGHT], False),
        (f"{CITY}, {THOUGHT}: unknown", [CITY, THOUGHT], False),
        ("sunny", [], False),
    ],
)
def test_what_stands_behind_a_name_or_question_is_told(text, repeated, expected):
    assert tells_beside(text, repeated) is expected
