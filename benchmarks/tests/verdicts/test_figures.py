"""False alarms and catches, worked out by hand."""

import pytest

from franq_bench.verdicts.figures import flagged, table
from franq_bench.verdicts.rows import Row


def row(kind, group, label, *, passages=1, fact="name", p_true=0.5, claim="c"):
    return Row(kind, group, passages, claim, fact, p_true, 0.5, 0.0, 0.0, label)


ROWS = [
    row("grounded", "q1", "supported"),
    row("grounded", "q1", "doubtful", fact="date"),
    row("grounded", "q1", "supported", passages=3),
    row("grounded", "q2", "supported"),
    row("changed", "q1", "unsupported"),
    row("changed", "q2", "supported"),
    row("changed", "q3", "false"),
    row("changed", "q4", "unverified"),
    row("unfounded", "q1", "unsupported"),
    row("unfounded", "q2", "unsupported-true"),
    row("entailed", "q5", "supported", p_true=0.9),
    row("entailed", "q6", "unsupported", p_true=0.4),
    row("not entailed", "q5", "unsupported", p_true=0.3),
    row("not entailed", "q6", "unsupported", p_true=0.6),
]


@pytest.fixture(scope="module")
def lines():
    return {(line["kind"], line["of"]): line for line in table(ROWS)}


def test_shares_are_of_claims_and_answers(lines):
    grounded = lines["grounded", "all"]
    # one of four claims; of the answers (q1 with 1 passage, q1 with 3, q2) one of three
    assert (grounded["claims"], grounded["share"]) == (4, 0.25)
    assert grounded["answers"] == pytest.approx(1 / 3)
    assert lines["changed", "all"]["share"] == 0.75  # unverified counts as caught
    assert lines["unfounded", "all"]["share"] == 0.5  # unsupported-true vouches for the claim
    assert lines["entailed", "all"]["share"] == 0.5


def test_parts_by_number_of_passages_and_kind_of_fact(lines):
    assert lines["grounded", "1 passages"]["share"] == pytest.approx(1 / 3)
    assert lines["grounded", "3 passages"]["share"] == 0
    assert lines["grounded", "date"]["share"] == 1
    assert ("changed", "1 passages") not in lines  # all have one: the line would say the same


def test_auroc_is_of_claims_that_people_labelled(lines):
    # pairs (.9, .3), (.9, .6), (.4, .3) are in order, (.4, .6) is not
    assert lines["entailed or not", "AUROC of P(true)"]["share"] == 0.75


def test_errors_are_over_questions_not_claims():
    one = [row("grounded", "q", "doubtful"), row("grounded", "q", "supported")]
    # one question: every resample is the same
    assert table(one)[0]["error"] == 0
    two = [row("grounded", "a", "doubtful"), row("grounded", "b", "supported")]
    # share 0, 1/2, 1 with chances 1/4, 1/2, 1/4: standard deviation .354
    assert table(two)[0]["error"] == pytest.approx(0.354, abs=0.03)


@pytest.mark.parametrize(
    ("label", "expected"),
    [("supported", False), ("unsupported-true", False), ("unsupported", True), ("doubtful", True),
     ("false", True), ("unverified", True)],
)  # fmt: skip
def test_what_counts_as_flagged(label, expected):
    assert flagged(row("grounded", "q", label)) is expected
