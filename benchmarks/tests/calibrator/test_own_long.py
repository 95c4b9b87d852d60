"""Long answers of the bundled model: two retrievals a question, read claims, signals by hand."""

import gzip
import json
import math

import pytest

import franq_guard
from franq_bench.calibrator import measured, own_long
from franq_bench.calibrator.build import Question
from franq_bench.data.files import LONG, SHORT
from franq_bench.data.folds import Folds
from franq_bench.data.read_claims import Label, digest_of
from franq_guard import Guard
from franq_guard.language_model.base import Prompt
from franq_guard.records import Generation, Passage, Trace
from franq_guard.uncertainty.statistics import Statistics

GOLD = "Oslo is the capital of Norway. It has 700,000 people. It lies on a fjord. Ships call."


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Six questions in each file, all of the fitting fold."""
    others = [{"text": f"Fish {i}.", "title": "Fish", "is_gold": False} for i in range(4)]
    for name in (*SHORT, *LONG):
        with gzip.open(tmp_path / name, "wt", encoding="utf-8") as file:
            for i in range(6):
                gold = {"text": GOLD, "title": "Oslo", "is_gold": True}
                hint = {"text": "Oslo!", "title": "", "is_gold": False, "has_answer": True}
                passages = [*others[:2], gold, hint, others[2]]
                row = {"id": f"{name[7:9]}-{i}", "question": "Where?", "answers": ["Oslo"],
                       "gold_kind": "annotated", "passages": passages}  # fmt: skip
                file.write(json.dumps(row) + "\n")
    folds = type("All", (), {"of": lambda self, row: "fitting"})()
    monkeypatch.setattr(Folds, "read", lambda _: folds)
    return tmp_path


def test_each_question_is_asked_with_its_gold_passage_and_once_more_with_less(folder):
    found = own_long.asked(folder, "fitting", limit=5, seed=0)
    assert len(found) == 2 * 5 * 3
    for first, second in zip(found[::2], found[1::2], strict=True):
        name, kind = second.id.split("~")
        assert first.id == f"{name}~gold"
        shown = {"gold": GOLD in [p.text for p in first.passages]}
        parts = [p.text for p in second.passages if p.title == "Oslo"]
        assert shown["gold"]
        assert kind in ("half", "absent")
        assert bool(parts) == (kind == "half")
        assert all(part in GOLD and part != GOLD for part in parts)
        assert all("Oslo!" not in [p.text for p in q.passages] for q in (first, second))
    assert {q.id.split("~")[1] for q in found} == set(own_long.RETRIEVALS)
    assert own_long.asked(folder, "fitting", limit=5, seed=0) == found
    assert own_long.asked(folder, "test", limit=5, seed=0) == []


def test_half_a_passage_of_four_sentences_is_two_of_them(folder):
    first, second = (
        "Oslo is the capital of Norway. It has 700,000 people.",
        "It lies on a fjord. Ships call.",
    )
    found = own_long.asked(folder, "fitting", limit=6, seed=1)
    halves = {
        p.text for q in found if q.id.endswith("half") for p in q.passages if p.title == "Oslo"
    }
    assert halves == {first, second}


def test_a_reader_sees_the_claims_and_the_gold_passage():
    question = Question("q-1~absent", "Where?", ("Oslo",), (Passage("Fish.", title="Sea"),))
    trace = Trace("Where?", question.passages, Generation("Oslo is in Norway. Is it?"))
    [row] = own_long.to_read([question], [trace], {"q-1": GOLD})
    assert row["claims"] == {"q-1~absent/0": "Oslo is in Norway."}
    assert row["gold_passage"] == GOLD
    assert row["passages"] == ["Sea: Fish."]


@pytest.mark.parametrize(
    ("options", "folds"), [([], ["fitting", "test"]), (["--fold", "training"], ["training"])]
)
def test_answers_are_made_for_the_measured_folds_unless_another_is_named(
    options, folds, folder, monkeypatch
):
    def answers(questions, out, fold, part):
        assert (len(questions), part) == (36 if fold == "fitting" else 0, "1-1")
        return [Trace(q.text, q.passages, Generation("Oslo is in Norway.")) for q in questions]

    monkeypatch.setattr(own_long, "answers", answers)
    own_long.main(["--data", str(folder), "answer", "--out", str(folder), *options])
    assert sorted(path.name for path in folder.glob("to_read-*")) == [
        f"to_read-{fold}-1-1.jsonl" for fold in folds
    ]


def test_log_probabilities_of_a_claim_by_hand():
    import numpy as np

    statistics = Statistics(
        logprobs=np.array([-0.5, -1.5, -9.0]), parametric=np.array([-9.0, -2.0, -4.0]),
        claims=((0, 1),), parametric_claims=((1, 2),),
    )  # fmt: skip
    # with the passages (-.5 - 1.5) / 2 = -1, lowest -1.5; without (-2 - 4) / 2 = -3, lowest -4
    assert own_long._per_token(statistics, 0) == {
        "mean-logprob": -1.0, "lowest-logprob": -1.5, "mean-logprob-without": -3.0,
        "lowest-logprob-without": -4.0, "mean-logprob-gain": 2.0,
    }  # fmt: skip


def test_only_settled_claims_with_the_text_that_was_read_are_measured():
    text = "Oslo is in Norway. Fish is sold there."
    guard = Guard.offline()
    model = guard.language_model
    prompt = model.render(Prompt("", "Where?"))
    [generation] = model.score([prompt], [Generation(text)])
    trace = Trace("Where?", (Passage("Oslo is in Norway."),), generation, id="q-1~gold")
    question = Question("q-1~gold", "Where?", ("Oslo",), trace.passages)
    digest = digest_of("Oslo is in Norway.")
    read = {
        ("q-1~gold", digest): Label(digest, ("T", "T"), ("S", "S")),
        ("q-1~half", digest_of("Fish is sold there.")): Label("", ("F", "F"), ("N", "N")),
    }
    [row] = own_long.scores([question], [trace], read, "test", guard, lambda *_: None)
    assert (row.id, row.dataset, row.group, row.is_true) == ("q-1~gold/0", "q", "q-1", True)
    assert row.scores["faithfulness"] > 0.5
    assert row.scores["true-by-gold-alias"] == row.scores["gold-faithful"] == 1
    assert row.scores["perplexity"] == pytest.approx(math.exp(row.scores["mean-logprob"]))
    unsettled = {("q-1~gold", digest): Label(digest, ("T", "F"), ("S", "S"))}
    assert own_long.scores([question], [trace], unsettled, "test", guard, lambda *_: None) == []


def test_claims_that_the_answers_no_longer_hold_are_counted(folder, monkeypatch, capsys):
    """Other rules for claims, or another processor, give other texts than those that were read."""
    monkeypatch.setattr(own_long, "answers", lambda questions, *_: [
        Trace(q.text, q.passages, Generation("Oslo is in Norway.")) for q in questions
    ])  # fmt: skip
    texts = ("Oslo is in Norway.", "Norway has Oslo.")
    read = [{"id": f"sq-0~gold/{i}", "digest": digest_of(text), "truth": ["T"], "faith": ["S"]}
            for i, text in enumerate(texts)]  # fmt: skip
    labels = folder / "labels.jsonl"
    labels.write_text("\n".join(map(json.dumps, read)))
    own_long.main(["--data", str(folder), "score", "--answers", str(folder), "--labels",
                   str(labels), "--out", str(folder / "out")])  # fmt: skip
    assert "1 of 2 settled claims are there, 1 of them true" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["answer", "--out", "x", "--part", "3/2"], "'3/2' is not such as 2/3"),
        (["answer", "--out", "x", "--part", "all"], "'all' is not such as 2/3"),
        (["answer", "--out", "x", "--fold", "train"], "invalid choice: 'train'"),
        (["score", "--answers", "x", "--labels", "none", "--out", "x"], "there is no file none"),
    ],
)
def test_a_wrong_call_is_told(arguments, said, tmp_path, capsys):
    with pytest.raises(SystemExit):
        own_long.main(["--data", str(tmp_path), *arguments])
    assert said in capsys.readouterr().err


def test_rows_say_what_they_were_measured_with(tmp_path):
    guard = Guard.offline()
    measured.write(tmp_path, guard)
    assert measured.read(tmp_path) == {
        "faithfulness": guard.faithfulness.fingerprint,
        "claims": guard.claims.fingerprint,
    }
    said = measured.settings_section({"seed": 0}, {"claims": tmp_path, "others": tmp_path / "none"})
    assert "| seed | 0 |" in said
    assert f"| claims measured with: claims | {guard.claims.fingerprint} |" in said
    assert "smollm2" in said
    assert "| others measured with | not recorded |" in said
    assert said.count("not recorded") == 1
    of_report = said.partition("Versions that made this report")[2]
    assert f"| franq-guard | {franq_guard.__version__} |" in of_report


def test_what_a_folder_does_not_say_of_its_measurement_is_not_recorded(tmp_path):
    """Folders of earlier measurements name two fingerprints alone."""
    (tmp_path / measured.FILE).write_text('{"faithfulness": "small-1", "claims": "rules/9"}')
    said = measured.settings_section({}, {"claims": tmp_path})
    assert "| claims measured with: faithfulness | small-1 |" in said
    assert "| claims measured with: versions | not recorded |" in said
