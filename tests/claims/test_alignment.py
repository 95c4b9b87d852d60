"""Claim words found in an answer."""

import pytest

from franq_guard.claims import ALIGNED, align
from franq_guard.claims.word_keys import normal

ANSWER = (
    "Marie Curie was born in Warsaw. She won the Nobel Prize in Physics in 1903 and wrote 3,500"
    " pages. The budget was 3.5 million dollars. It was painted in black in Ghent."
)


def words(claim, **kw):
    found = align(claim, ANSWER, **kw)
    return [ANSWER[a:b] for a, b in found.spans], found.score


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Marie Curie was born in Warsaw.", ["Marie Curie was born in Warsaw"]),
        ("MARIE CURIE — was BORN in “Warsaw”!", ["Marie Curie was born in Warsaw"]),
        ("she writes 3500 pages", ["wrote 3,500 pages"]),
        ("3.5 thousand pages", ["3,500", "pages"]),
        ("a budget of $3,500,000", ["budget", "3.5 million"]),
        ("painted in Ghent", ["painted in", "Ghent"]),  # not the "in" of "in black"
    ],
)
def test_case_marks_inflection_and_numbers_do_not_matter(claim, expected):
    found, score = words(claim)
    joined = " ".join(found)
    assert all(part in joined for part in expected)
    assert score >= ALIGNED


def test_a_full_match_scores_one_and_nothing_in_common_scores_nothing():
    assert words("won the Nobel Prize in Physics in 1903")[1] == pytest.approx(1.0)
    assert words("Quokkas sleep")[1] == 0.0
    assert align("", ANSWER).spans == ()
    assert align("word", "").score == 0.0


def test_order_may_differ_and_costs_a_little():
    found, score = words("In 1903 the Physics Nobel Prize was won")
    assert {"1903", "Physics"} <= set(" ".join(found).replace(",", "").split())
    assert ALIGNED <= score < 1


def test_another_number_is_not_taken_for_the_same():
    right, wrong = words("won the Nobel Prize in 1903")[1], words("won the Nobel Prize in 1904")[1]
    assert wrong < right


def test_within_limits_the_place():
    span = (ANSWER.index("The budget"), ANSWER.index("It was painted"))
    found = align("it was in dollars", ANSWER, within=span)
    assert all(span[0] <= a < b <= span[1] for a, b in found.spans)


def test_the_best_place_wins_in_a_long_answer():
    filler = "The river crosses the wide plain near the old town. " * 200
    answer = filler + "Ada Lovelace published the first algorithm in 1843. " + filler
    found = align("Lovelace published an algorithm in 1843", answer)
    assert answer[found.spans[0][0] : found.spans[-1][1]].startswith("Lovelace published")
    assert found.score > 0.95


@pytest.mark.parametrize(
    ("one", "other"),
    [("won", "wins"), ("cities", "city"), ("3,500", "3500"), ("three", "3"), ("café", "cafe"),
     ("u.s", "us"), ("written", "writes"), ("2.50", "2.5"), ("running", "runs")],
)  # fmt: skip
def test_normal_forms(one, other):
    assert normal(one) == normal(other)
