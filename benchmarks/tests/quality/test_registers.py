"""Hard claims of our own in sixteen registers: counted by hand, and the guard as shipped."""

import json
from pathlib import Path

import pytest

from franq_bench.quality.registers import Judged, judged, main, table
from franq_guard import Guard
from franq_guard.testing import FakeFaithfulness

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
    claims = [
        Judged("news", "copy", True, False),
        Judged("news", "copy", True, True),
        Judged("mail", "name", False, True),
        Judged("mail", "name", False, False, True),
    ]
    cells = {line[:22].strip(): line[22:].split("  ") for line in table(claims).splitlines()[1:]}
    assert {k: [c.strip() for c in v if c.strip()] for k, v in cells.items()} == {
        "news": ["1 of 2", "0 of 2", "-", "-"],
        "mail": ["-", "-", "1 of 2", "1 of 2"],
        "copy": ["1 of 2", "0 of 2", "-", "-"],
        "name": ["-", "-", "1 of 2", "1 of 2"],
        "all": ["1 of 2", "0 of 2", "1 of 2", "1 of 2"],
    }


def test_every_answer_is_counted_and_its_claims_judged(tmp_path):
    row = {"register": "news", "passages": ["The tower stands in Bonn."]}
    claims = [{"span": [0, 26], "stated": True, "kind": "copy"}]
    one = {"question": "Where?", "answer": "The tower stands in Bonn.", "claims": claims}
    other = one | {"answer": "Seven boats sank near Kiel."}
    file, told = tmp_path / "own.jsonl", []
    file.write_text(json.dumps(row | {"answers": [one, other]}) + "\n", encoding="utf-8")
    found = list(judged(Guard(faithfulness=FakeFaithfulness()), file, advance=told.append))
    assert [claim.flagged for claim in found] == [False, True]
    assert told == [1, 1]


@pytest.mark.parametrize("text", ['{"question": "Who?"}', "[1]", "no JSON"])
def test_another_file_is_refused(tmp_path, capsys, text):
    file = tmp_path / "rows.jsonl"
    file.write_text(text + "\n", encoding="utf-8")
    with pytest.raises(SystemExit):
        main([str(file)])
    assert "no file of labelled answers" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "answers", "kinds"),
    [
        ("everyday", 54, {"stated": 217, "wrong fact": 41, "added": 24}),
        ("assistant", 50, {"stated": 226, "wrong fact": 42, "added": 30}),
        ("claimed", 31, {"stated": 136, "contradicted": 101, "left open": 73}),
        ("technical", 30, {"stated": 236, "wrong fact": 91, "added": 60}),
    ],
)
def test_answers_have_claims_of_each_kind(file, answers, kinds):
    text = (FOLDER / f"{file}.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    claims = [c for row in rows for a in row["answers"] for c in a["claims"]]
    assert len(rows) == answers
    assert {k: sum(c["kind"] == k for c in claims) for k in kinds} == kinds
    assert all(c["stated"] is (c["kind"] == "stated") for c in claims)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "most", "least"),
    [
        ("everyday", 23, 39),  # 20 of 217, 41 of 65
        ("assistant", 42, 41),  # 39 of 226, 44 of 72
        ("claimed", 16, 67),  # 13 of 136, 72 of 174
        ("ingested", 24, 130),  # 21 of 160, 133 of 160
        ("technical", 55, 84),  # 51 of 236, 88 of 151
    ],
)
def test_answers_are_judged_no_worse_than_they_were(file, most, least):
    pytest.importorskip("torch")
    found = list(judged(Guard.offline(), FOLDER / f"{file}.jsonl"))
    flagged = [sum(c.flagged for c in found if c.stated is stated) for stated in (True, False)]
    assert flagged[0] <= most
    assert flagged[1] >= least


@pytest.mark.slow
def test_the_shipped_guard_is_no_worse_than_it_was():
    pytest.importorskip("torch")
    found = list(judged(Guard.offline(), FILE))
    flagged = [sum(c.flagged for c in found if c.stated is stated) for stated in (True, False)]
    # 30 and 93 at the shipped cut of .28; a lower cut flags fewer of both, and another processor
    # may move each by a few
    assert flagged[0] <= 33
    assert flagged[1] >= 90


def test_a_file_of_other_answers_is_refused_before_a_model_is_loaded(tmp_path, capsys):
    (tmp_path / "qa.jsonl").write_text('{"question": "Who?", "passages": [], "answers": ["A"]}')
    with pytest.raises(SystemExit):
        main([str(tmp_path / "qa.jsonl")])
    assert "is no file of labelled answers" in capsys.readouterr().err


def test_other_models_judge_and_one_that_is_not_there_is_refused(monkeypatch, capsys):
    with pytest.raises(SystemExit):
        main([str(FILE), "--faithfulness", "absent"])
    assert "no faithfulness model 'absent'" in capsys.readouterr().err
    model, used = FakeFaithfulness(), []

    def judged(guard, file, *, advance):
        used.append(guard.faithfulness)
        return [Judged("news", "copy", True, False)]

    monkeypatch.setattr("franq_bench.quality.registers.faithfulness_from", lambda where: model)
    monkeypatch.setattr("franq_bench.quality.registers.judged", judged)
    main([str(FILE), "--faithfulness", "folder"])
    assert used == [model]
    assert "0 of 1" in capsys.readouterr().out
