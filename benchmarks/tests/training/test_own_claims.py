"""Own claims for the blend: those that readers agree on, with the passages that were shown."""

import json

from franq_bench.calibrator.build import Question
from franq_bench.data.read_claims import digest_of
from franq_bench.training import own_claims
from franq_bench.training.calibrate import kind
from franq_guard.records import Generation, Passage, Trace

PASSAGES = (Passage("Oslo is in Norway.", title="Oslo"), Passage("Fish."))


def test_claims_are_found_by_their_text_with_the_label_of_the_readers(tmp_path, monkeypatch):
    said = {"Oslo is in Norway.": ["S"], "It is in Peru.": ["C", "C"], "Fish swim.": ["N", "S"]}
    rows = [
        {"id": f"q-1~gold/{9 - i}", "digest": digest_of(text), "truth": ["U"], "faith": faith}
        for i, (text, faith) in enumerate(said.items())
    ]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    asked = [Question(f"q-1~{kind}", "Where?", ("Norway",), PASSAGES) for kind in ("gold", "half")]
    answer = Generation("Oslo is in Norway. It is in Peru. Fish swim. Nobody read this.")
    folds = []

    def answers(questions, folder, fold):
        folds.append(fold)
        assert [q.id for q in questions] == ["q-1~gold"]  # nobody read an answer to the other
        return [Trace(q.text, q.passages, answer) for q in questions]

    monkeypatch.setattr(own_claims, "asked", lambda *_, **__: asked)
    monkeypatch.setattr(own_claims, "answers", answers)
    found = own_claims.own_claims(tmp_path, tmp_path, tmp_path / "labels.jsonl")
    assert folds == ["fitting"]
    assert [(h.example.hypothesis, h.example.label) for h in found] == [
        ("Oslo is in Norway.", 0),
        ("It is in Peru.", 2),
    ]
    assert found[0].texts == ("Oslo is in Norway.", "Fish.")
    assert kind(own_claims.DATASET) == "own"
