"""Hard claims of our own in sixteen registers: counted by hand, and the guard as shipped."""

import json
from pathlib import Path

import pytest

from franq_bench.quality.registers import Judged, judged, table
from franq_guard import Guard

FOLDER = Path(__file__).parents[3] / "tests" / "fixtures"
FILE = FOLDER / "registers.jsonl"


def test_spans_are_of_the_answers_and_both_halves_are_equal():
    rows = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    claims = [c for row in rows for a in row["answers"] for c in a["claims"]]
    assert len(rows) == 16
    assert [sum(c["stated"] is s for c in claims) for s in (True, False)] == [128, 128]
    for row in rows:
        for answer in row["answers"]:
            for claim in answer["claims"]:
                assert answer["answer"][slice(*claim["span"])].strip()


def test_the_table_by_hand():
    claims = [Judged("news", "copy", True, False), Judged("news", "copy", True, True),
              Judged("mail", "name", False, True)]  # fmt: skip
    cells = {line[:22].strip(): line[22:].split("  ") for line in table(claims).splitlines()[1:]}
    assert {k: [c.strip() for c in v if c.strip()] for k, v in cells.items()} == {
        "news": ["1 of 2", "-"],
        "mail": ["-", "1 of 1"],
        "copy": ["1 of 2", "-"],
        "name": ["-", "1 of 1"],
        "all": ["1 of 2", "1 of 1"],
    }


def test_everyday_answers_have_claims_of_each_kind():
    text = (FOLDER / "everyday.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    claims = [c for row in rows for a in row["answers"] for c in a["claims"]]
    kinds = {k: sum(c["kind"] == k for c in claims) for k in ("stated", "wrong fact", "added")}
    assert (len(rows), kinds) == (54, {"stated": 217, "wrong fact": 41, "added": 24})
    assert all(c["stated"] is (c["kind"] == "stated") for c in claims)


@pytest.mark.slow
def test_everyday_answers_are_judged_no_worse_than_they_were():
    pytest.importorskip("torch")
    found = list(judged(Guard.offline(), FOLDER / "everyday.jsonl"))
    flagged = [sum(c.flagged for c in found if c.stated is stated) for stated in (True, False)]
    assert flagged[0] <= 29  # 27 of 217
    assert flagged[1] >= 47  # 49 of 65


@pytest.mark.slow
def test_the_shipped_guard_is_no_worse_than_it_was():
    pytest.importorskip("torch")
    found = list(judged(Guard.offline(), FILE))
    flagged = [sum(c.flagged for c in found if c.stated is stated) for stated in (True, False)]
    # 36 and 84 at the shipped cut of .30; a lower cut flags fewer of both, and another processor
    # may move each by a few: five claims have a P(faithful) within .0015 of the cut
    assert flagged[0] <= 37
    assert flagged[1] >= 82
