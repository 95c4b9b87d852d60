import gzip
import json

import pytest

from franq_bench.data.labelled_answers import read_labelled


def test_the_claims_of_one_response_are_one_answer(rows, written):
    answers = read_labelled([written(rows)])
    assert len(answers) == 8
    first = answers[0]
    assert (first.id, first.dataset, first.target) == (rows[0]["id"], "made", "factuality")
    assert [claim.is_true for claim in first.claims] == [True, False]
    assert [claim.is_faithful for claim in first.claims] == [None, None]
    text = first.trace.generation.text
    # "Norway sells fish. Norway sells old maps.": the second sentence begins at 19.
    assert [claim.claim.spans for claim in first.claims] == [((0, 17),), ((19, 40),)]
    assert text[19:40] == "Norway sells old maps"
    assert first.writer == "scripted"


def test_models_that_answer_alike_are_two_answers(written, claim_row):
    rows = [claim_row(0, "Norway sells fish", "true", id=m, model=m) for m in ("a", "b")]
    assert [answer.writer for answer in read_labelled([written(rows)])] == ["a", "b"]


def test_evidence_is_taken_in_turns_and_each_text_once(written, claim_row):
    lists = [["one", "two", "three"], ["four", "one"]]
    rows = [
        claim_row(0, claim, "true", passages=[{"text": text} for text in texts])
        for claim, texts in zip(("Norway sells fish", "sells old maps"), lists, strict=True)
    ]
    [answer] = read_labelled([written(rows)], passages=3)
    # first of each claim: one, four; second of each: two, one again
    assert [passage.text for passage in answer.trace.passages] == ["one", "four", "two"]


@pytest.mark.parametrize(
    ("kind", "label", "shown"), [("factuality", "true", []), ("faithfulness", "neutral", ["Note"])]
)
def test_a_fact_checkers_note_is_never_shown(written, kind, label, shown, claim_row):
    row = claim_row(0, "Norway sells fish", label, kind=kind, passages=[], reference="Note")
    [answer] = read_labelled([written([row])])
    assert [passage.text for passage in answer.trace.passages] == shown


@pytest.mark.parametrize(
    ("label", "is_true"), [("entailment", True), ("neutral", False), ("contradiction", False)]
)
def test_faithfulness_is_entailment_against_the_rest(written, label, is_true, claim_row):
    row = claim_row(0, "Norway sells fish", label, kind="faithfulness")
    [answer] = read_labelled([written([row])])
    assert answer.target == "faithfulness"
    assert [(c.is_true, c.is_faithful) for c in answer.claims] == [(is_true, is_true)]


def test_claims_whose_words_are_not_there_are_counted(written, claim_row):
    rows = [claim_row(0, "Norway sells fish", "true"), claim_row(0, "Cows eat grass", "true")]
    [answer] = read_labelled([written(rows)])
    assert len(answer.claims) == 1
    assert answer.unaligned == 1


def trace_row(**claim):
    return {
        "id": "t",
        "question": "What is sold?",
        "passages": ["Norway sells fish."],
        "answer": "Norway sells fish. It sells maps.",
        "claims": [{"text": "Norway sells fish.", "spans": [[0, 18]], **claim}, {"text": "maps"}],
    }


def test_trace_rows_are_read_alike(written):
    row = trace_row(is_true=True, is_faithful=False) | {"contrast": "bare", "prompt": "full"}
    [answer] = read_labelled([written([row], "sold.jsonl")])
    assert (answer.id, answer.dataset, answer.target) == ("t", "sold", "factuality")
    [claim] = answer.claims
    assert (claim.is_true, claim.is_faithful) == (True, False)
    assert answer.trace.generation.prompt == "full"
    assert answer.trace.contrast_prompt == "bare"


def test_trace_rows_with_faithfulness_alone_have_it_as_target(written):
    [answer] = read_labelled([written([trace_row(is_faithful=True)])])
    assert answer.target == "faithfulness"
    assert [claim.is_true for claim in answer.claims] == [True]


def test_compressed_files(rows, tmp_path):
    file = tmp_path / "claims.jsonl.gz"
    with gzip.open(file, "wt") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)
    assert len(read_labelled([file])) == 8


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"label": "maybe"}, "line 1: no label 'maybe' of the kind 'factuality'"),
        ({"label_kind": "taste"}, "no label 'true' of the kind 'taste'"),
        ({"response": ""}, "'response' must be a non-empty string"),
        ({"claim": None}, "'claim' must be a non-empty string"),
        ({"passages": [3]}, "a passage must be"),
    ],
)
def test_a_broken_row_is_named(written, change, complaint, claim_row):
    with pytest.raises(ValueError, match=complaint):
        read_labelled([written([claim_row(0, "Norway sells fish", "true") | change])])


def test_two_targets_in_one_data_set(written, claim_row):
    rows = [
        claim_row(0, "Norway sells fish", "true"),
        claim_row(1, "Portugal sells fish", "neutral", kind="faithfulness"),
    ]
    with pytest.raises(ValueError, match="labels of factuality and of faithfulness"):
        read_labelled([written(rows)])


def test_nothing_labelled(written):
    with pytest.raises(ValueError, match="no labelled claim"):
        read_labelled([written([trace_row()])])


def test_an_id_twice(written):
    file = written([trace_row(is_true=True)])
    with pytest.raises(ValueError, match="'t' is there twice"):
        read_labelled([file, file])


def test_a_line_that_is_no_json(tmp_path):
    file = tmp_path / "broken.jsonl"
    file.write_text("\n{")
    with pytest.raises(ValueError, match=r"broken\.jsonl, line 2: "):
        read_labelled([file])
