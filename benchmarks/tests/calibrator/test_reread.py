"""Another faithfulness model's readings in the place of the rows' own."""

import json

import pytest

from franq_bench.calibrator import reread
from franq_bench.calibrator.build import Question
from franq_bench.data.read_claims import Label, digest_of
from franq_bench.tables.scores import Score
from franq_guard import Guard
from franq_guard.calibration import Calibrator
from franq_guard.faithfulness.small.model import SmallFaithfulness
from franq_guard.records import Generation, Passage, Trace

TEXT = "Oslo is in Norway. Fish is sold there. Whales sing."
ORDER = [
    ("q-1~gold", "Oslo is in Norway.", ("T", "T")),
    ("q-1~gold", "Fish is sold there.", ("T", "F")),  # not settled
    ("q-1~half", "Whales sing.", ("F", "F")),  # of another answer
]
READ = {(answer, digest_of(t)): Label("", truth, ("S", "S")) for answer, t, truth in ORDER}


@pytest.fixture(scope="module")
def guard():
    return Guard(faithfulness=SmallFaithfulness.bundled(), franq=Calibrator.evidence())


def test_settled_claims_are_read_without_a_language_model(guard):
    passages = (Passage("Oslo is in Norway."), Passage("Oslo is in Sweden."))
    trace = Trace("Where?", passages, Generation(TEXT), id="q-1~gold")
    question = Question("q-1~gold", "Where?", ("Oslo",), passages)
    seen = []
    [[row]] = reread.read_again([question], [trace], READ, guard, lambda *at: seen.append(at))
    assert row.keys() == {"id", *reread.KEYS}
    assert row["id"] == "q-1~gold/0"
    checked = guard.check("Where?", passages, TEXT).verdicts[0]
    assert row["faithfulness"] == pytest.approx(checked.p_faithful, abs=0.01)
    rows = guard.faithfulness.nli_passages([passages], ["Oslo is in Norway."])[0]
    assert row["max-nli"] == pytest.approx(rows[:, 0].max(), abs=0.01)
    for key in ("contradiction", "entailment"):
        assert row[key] == pytest.approx(checked.raw[key], abs=0.01)
    assert seen == [(0, 1), (1, 1)]


def test_readings_take_the_place_of_the_rows_own_and_nothing_else(tmp_path, capsys):
    rows = [
        Score(f"q-1~gold/{i}", "q", "test", True, {"faithfulness": 0.1, "pmi": 2.0}, group="q-1")
        for i in range(3)
    ]
    for fold, i in (("fitting", 2), ("test", 0)):
        values = {"id": f"q-1~gold/{i}", "faithfulness": 0.9 - i / 10, "contradiction": 0.2,
                  "entailment": None, "max-nli": 0.7}  # fmt: skip
        (tmp_path / f"readings-{fold}.jsonl").write_text(json.dumps(values) + "\n")
    with pytest.raises(FileNotFoundError, match=r"with measured\.json"):
        reread.with_readings(rows, tmp_path)
    (tmp_path / "measured.json").write_text("{}")
    found = reread.with_readings(rows, tmp_path)
    assert [row.id for row in found] == ["q-1~gold/0", "q-1~gold/2"]  # one was not read
    assert "1 of 3 claims have no reading in" in capsys.readouterr().err
    assert reread.with_readings(rows[::2], tmp_path) == found
    assert capsys.readouterr().err == ""
    assert found[0].scores == {"faithfulness": 0.9, "pmi": 2.0, "contradiction": 0.2,
                               "entailment": None, "max-nli": 0.7}  # fmt: skip
    assert found[1].scores["faithfulness"] == pytest.approx(0.7)
    with pytest.raises(FileNotFoundError, match=r"reread makes them"):
        reread.with_readings(rows, tmp_path / "none")


def test_what_was_read_is_not_read_again(tmp_path, monkeypatch):
    passages = (Passage("Oslo is in Norway."),)
    asked = [Question(f"q-{i}~gold", "Where?", ("Oslo",), passages) for i in (1, 2)]
    labels = tmp_path / "labels.jsonl"
    lines = [{"id": f"{q.id}/0", "digest": digest_of("Oslo is in Norway."), "truth": ["T"],
              "faith": ["S"]} for q in asked]  # fmt: skip
    labels.write_text("\n".join(map(json.dumps, lines)))
    monkeypatch.setattr(reread, "asked", lambda *_, **__: asked)
    monkeypatch.setattr(reread, "answers", lambda questions, *_: [
        Trace("Where?", passages, Generation(TEXT), id=q.id) for q in questions
    ])  # fmt: skip
    out, read = tmp_path / "out", []

    def again(questions, traces, *_):
        assert len(questions) == len(traces)
        read.append([q.id for q in questions])
        return ([{"id": f"{q.id}/0"}] for q in questions[:1])  # one, then it is stopped

    monkeypatch.setattr(reread, "read_again", again)
    arguments = ["--data", str(tmp_path), "--answers", str(tmp_path), "--labels", str(labels),
                 "--faithfulness", "small", "--fold", "test", "--out", str(out)]  # fmt: skip
    reread.main(arguments)
    reread.main(arguments)
    assert read == [["q-1~gold", "q-2~gold"], ["q-2~gold"]]
    rows = (out / "readings-test.jsonl").read_text().splitlines()
    assert [json.loads(row)["id"] for row in rows] == ["q-1~gold/0", "q-2~gold/0"]
    known = json.loads((out / "measured.json").read_text())
    assert known["faithfulness"].startswith("small-")
    (out / "measured.json").write_text(json.dumps(known | {"claims": "rules/0"}))
    with pytest.raises(SystemExit):  # what other rules made is not gone on with
        reread.main(arguments)


def test_a_wrong_call_is_told(tmp_path, capsys):
    for arguments, said in (
        (["--data", "none"], "is not a folder with the data files"),
        (["--data", str(tmp_path), "--labels", "none"], "there is no file none"),
        (["--data", str(tmp_path), "--labels", __file__], "no faithfulness model 'smal'"),
    ):
        with pytest.raises(SystemExit):
            reread.main([*arguments, "--answers", "x", "--faithfulness", "smal", "--out", "x"])
        assert said in capsys.readouterr().err
