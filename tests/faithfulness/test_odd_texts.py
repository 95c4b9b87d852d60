"""Texts that nobody writes but that are retrieved: none costs the check, or much time."""

import sys

import pytest

from franq_guard import Guard
from franq_guard.claims.attribution import frames
from franq_guard.claims.rules.nonclaims import reason
from franq_guard.faithfulness.small.amounts.bounds import exact
from franq_guard.faithfulness.small.chunks import sentences
from franq_guard.faithfulness.small.numerals import in_digits
from franq_guard.faithfulness.small.spelling import as_written
from franq_guard.faithfulness.small.tables.cells import misplaced
from franq_guard.faithfulness.small.tables.rows import tables
from franq_guard.faithfulness.small.written_out import written_out

DIGITS = "9" * 5000  # int() refuses so many
YEARS = f"| Year | Rain |\n|---|---|\n| {DIGITS} | 5 |\n| ² | 7 |\n| 2001 | 8 |"


@pytest.fixture(scope="module")
def guard():
    return Guard.offline()


@pytest.mark.parametrize(
    ("passage", "answer"),
    [
        ("name,age,city\rAnn,3,Rome\rBob,4,Paris", "Ann is 3."),
        ("name,age,city\nAnn,3,Rome\nBob,4," + "x" * 140_000, "Ann is 3."),
        (f"It has {DIGITS} beds.", "It has 5 beds."),
        (f"It takes {DIGITS} and a half days.", "It takes 5 days."),
        (YEARS, f"{DIGITS} had more rain than 2001."),
        (YEARS, "² had more rain than 2001."),
        (YEARS, f"2001 had {DIGITS} times as much rain as 2002."),
        (
            "The leak was mended after 2 days in commit 1e1234567.",
            "The leak was mended after 2 days in commit 7e1234567.",
        ),
        (f"{{'who': 'Ann', 'on': datetime.date({DIGITS}, 3, 1)}}", "Ann came in 2001."),
        (f"{{'who': 'Ann', 'id': 0x{DIGITS}}}", "Ann came in 2001."),
        ("It opens every ſecond week.", "It opens every other week."),
    ],
    ids=[
        "returns",
        "line",
        "digits",
        "half",
        "name",
        "power",
        "factor",
        "hash",
        "date",
        "hex",
        "letter",
    ],
)
def test_an_odd_text_costs_no_check(guard, passage, answer):
    verdicts = guard.check("Which?", [passage], answer).verdicts
    assert [verdict.reason for verdict in verdicts if verdict.reason == "error"] == []
    assert verdicts


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("It lasted one day.", "It lasted fıve days."),
        ("It opens at 17:30.", "It opens at half past fıve."),
        ("It fell by 20 %.", "Half of it; it fell by a fıfth."),
        ("It began in the third quarter.", "It began in the thırd quarter."),
        ("It was built in the 1500s.", "It was built in the ſixteenth century."),
        ("It was dug on 3 May 2015.", "It was dug on 3 ſeptember 2015."),
    ],
)
def test_a_word_with_another_letter_is_no_number(claim, text):
    """PDFs have "fıve" and old books "ſix": re takes ı for i and ſ for s where it ignores case."""
    assert as_written(claim, text) == claim


def test_a_number_is_not_cut_before_such_a_letter():
    assert in_digits("two hundred and fıve").text == "200 and fıve"


@pytest.mark.parametrize(
    "piece", ["1,", "[1],", "[", "(", "?", " ", "-", "- ", "a|", "http://", "&"]
)
def test_a_long_run_is_read_in_one_pass(piece):
    """What is quadratic takes minutes here."""
    run = piece * (100_000 // len(piece))
    assert frames(run) == []
    assert sentences(f"{run}x")
    assert reason(f"{run}a b") in (None, "link")
    assert reason(f"https://{run} a b") is None
    for line in (run, f"-{run}x|", f"x|[{run}"):
        text = f"a|b\n{line[:4000]}x\n" * 20
        assert written_out(text).text
    assert written_out('{"a":"x[' + run + '","b":1}\n{"a":"c","b":2}').text


def _calls(work, *texts):
    """How many functions run, which no other process changes."""
    seen = [0]
    sys.setprofile(lambda frame, event, arg: seen.__setitem__(0, seen[0] + 1))
    try:
        work(*texts)
    finally:
        sys.setprofile(None)
    return seen[0]


@pytest.mark.parametrize(
    ("work", "claim", "piece"),
    [
        (exact, "It weighs less than 20 kg.", "It was light and weighed 12 kg in May. "),
        (exact, "It weighs less than 20 kg.", "it weighs 12 kg and "),
        (misplaced, "The a has 5 beds.", "# a b\n12 beds\n"),
        (tables, None, '{"a": 1, "b": 2}\n\n{"c": 1, "b": 2}\n\n'),
        (tables, None, '{"a": [\n'),
        (tables, None, '{"a": {"b": 1},\n'),
        (tables, None, '{"x": [{"a": 1, "b": [2]}, {}]}\n\n'),
        (tables, None, "a: 1\nb: 2\n\nc: 1\nd: 2\n\n"),
    ],
    ids=["sentences", "one sentence", "headings", "JSON", "cut", "nested", "lists", "records"],
)
def test_twice_the_text_takes_about_twice_the_steps(work, claim, piece):
    before = () if claim is None else (claim,)
    short, long = (_calls(work, *before, f"{piece * n}.") for n in (100, 200))
    assert short < long < 2.5 * short
