import math

import pytest

from franq_guard.datasets.judge import LLMGrader, TextGrader, grading_prompt, read_grade
from franq_guard.records import Token
from franq_guard.testing import FakeLanguageModel


class Scored(FakeLanguageModel):
    """Gives the three letters the log-probabilities it was made with."""

    def __init__(self, values):
        super().__init__()
        self.values = values

    def score(self, prompts, answers):
        return [
            type(a)(a.text, (Token(0, 0, 1, v),) if v is not None else ())
            for a, v in zip(answers, self.values, strict=True)
        ]


@pytest.mark.parametrize(
    ("values", "grade"),
    [
        ((-0.1, -3.0, -4.0), "correct"),
        ((-3.0, -0.1, -4.0), "incorrect"),
        ((-3.0, -2.0, -0.5), "not_attempted"),
        ((-3.0, math.nan, -0.5), "error"),
        ((-3.0, None, -0.5), "error"),
    ],
)
def test_the_likeliest_letter_is_the_grade(values, grade):
    assert LLMGrader(Scored(values))("Who?", "Vell", ["Odran Vell"]) == grade


def test_a_small_lead_is_no_grade():
    model = Scored((-1.0, -1.4, -4.0))  # A leads by 0.4 nats
    assert LLMGrader(model, margin=0.5)("Who?", "Vell", ["Odran Vell"]) == "error"
    assert LLMGrader(model, margin=0.3)("Who?", "Vell", ["Odran Vell"]) == "correct"
    with pytest.raises(ValueError, match="margin"):
        LLMGrader(model, margin=-1)


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        ("A", "correct"),
        (" b.", "error"),  # a lower-case letter is an article as likely as a grade
        ("**B**", "incorrect"),
        ("The answer is C", "not_attempted"),
        ("Answer: C", "not_attempted"),
        ("Incorrect, he was never there", "incorrect"),
        ("not attempted", "not_attempted"),
        ("It is correct, not incorrect", "error"),
        ("Apples are red", "error"),
        ("A man wrote it", "error"),
        ("A. It says the same", "correct"),
        ("", "error"),
    ],
)
def test_replies(reply, grade):
    assert read_grade(reply) == grade


def test_text_graders_ask_any_function():
    seen = []
    grader = TextGrader(lambda prompt: seen.append(prompt) or "B")
    assert grader("Who lit it?", "no\nidea", ["Odran Vell", "Vell"]) == "incorrect"
    assert "Odran Vell | Vell" in seen[0]
    assert "Given answer: no idea" in seen[0]
    with pytest.raises(TypeError, match="language model"):
        TextGrader(3)


def test_the_prompt_shows_an_empty_answer_and_not_every_alias():
    user = grading_prompt("q", " ", [f"name{i}" for i in range(20)]).user
    assert "(empty)" in user
    assert "name7" in user
    assert "name8" not in user
